// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mappings of a process in; those of each row, put together by name,
 * permissions and rule, out, with the reasons why they are there.
 */
#include <strings.h>

#include "explain.h"
#include "json.h"
#include "listing.h"
#include "notes.h"

/* What is being explained. */
struct explanation {
	const struct memledger_report *report;
	const struct memledger_vmas *vmas;
	u32 top;
};

/* What the groups of a row are printed with. */
struct groups_data {
	const struct memledger_profile *profile;
	const char *note;	/* the one printed last: once is enough */
};

/**
 * memledger_explain_parse_row - look up a row
 * @text: its ABI name, or its label in small or capital letters
 * @category: which row it is
 *
 * Return: whether it is one.
 */
bool memledger_explain_parse_row(const char *text,
				 enum memledger_category *category)
{
	unsigned int i;

	for (i = 0; i < NR_MEMLEDGER_CATEGORIES; i++) {
		if (!strcasecmp(text, memledger_category_names[i]) ||
		    !strcasecmp(text, memledger_category_labels[i])) {
			*category = i;
			return true;
		}
	}
	return false;
}

/* A group's class: its rule and its permissions. */
static u32 group_class(const struct memledger_profile *profile,
		       const struct memledger_vma *vma)
{
	u32 rule = vma->verdict.rule - profile->rules;

	return memledger_vma_perm_bits(vma->perms) |
	       rule << MEMLEDGER_VMA_PERM_BITS;
}

static const struct memledger_rule *
group_rule(const struct memledger_profile *profile,
	   const struct memledger_name *group)
{
	return &profile->rules[group->class >> MEMLEDGER_VMA_PERM_BITS];
}

static int find_groups(struct memledger_names *groups,
		       const struct explanation *explanation,
		       enum memledger_category category)
{
	const struct memledger_vmas *vmas = explanation->vmas;
	size_t i;

	for (i = 0; i < vmas->nr; i++) {
		const struct memledger_vma *vma = &vmas->vma[i];

		if (vma->verdict.category != category)
			continue;
		if (memledger_names_add(groups, vma->name, strlen(vma->name),
					group_class(explanation->report->profile,
						    vma),
					&vma->usage, vma->verdict.swappable))
			return -ENOMEM;
	}
	memledger_names_sort(groups);
	return 0;
}

static const char *group_label(const struct memledger_name *group)
{
	return group->len ? group->text : "no name";
}

/* The profiles that have the rule are neighbours, and there is one at least. */
static void print_profiles(FILE *out, const struct memledger_rule *rule)
{
	const char *first = NULL, *last = "";
	unsigned int i;

	for (i = 0; i < nr_memledger_profiles; i++) {
		if (!(rule->profiles & memledger_profiles[i].bit))
			continue;
		if (!first)
			first = memledger_profiles[i].name;
		last = memledger_profiles[i].name;
	}
	if (!first || !strcmp(first, last))
		fprintf(out, "%s only", last);
	else
		fprintf(out, "%s to %s", first, last);
}

static const char *subcategory_label(const struct memledger_profile *profile,
				     const struct memledger_rule *rule)
{
	if (rule->subcategory == MEMLEDGER_SUB_NONE)
		return NULL;
	if (rule->subcategory == MEMLEDGER_SUB_APP_JIT)
		return profile->app_jit_label;
	return memledger_subcategory_labels[rule->subcategory];
}

static void print_tail(FILE *out, const struct memledger_name *group,
		       void *data)
{
	struct groups_data *groups = data;
	const struct memledger_rule *rule = group_rule(groups->profile, group);
	const char *sub = subcategory_label(groups->profile, rule);
	const char *note = memledger_note_of_name(group->text, rule);
	char perms[5];

	memledger_vma_perm_text(group->class, perms);
	fprintf(out, "%-5s %s (", perms, rule->name);
	print_profiles(out, rule);
	fprintf(out, ")%s%s", sub ? " " : "", sub ? sub : "");
	if (note && note != groups->note)
		fprintf(out, "\n    %s", note);
	groups->note = note;
}

static void print_members(FILE *out, bool *first,
			  const struct memledger_name *group, void *data)
{
	struct groups_data *groups = data;
	const struct memledger_rule *rule = group_rule(groups->profile, group);
	const char *sub = NULL;
	const char *comma = "";
	unsigned int i;
	char perms[5];

	if (rule->subcategory != MEMLEDGER_SUB_NONE)
		sub = memledger_subcategory_names[rule->subcategory];
	memledger_vma_perm_text(group->class, perms);
	memledger_json_string(out, first, "perms", perms);
	memledger_json_string(out, first, "rule", rule->name);
	memledger_json_key(out, first, "profiles");
	putc('[', out);
	for (i = 0; i < nr_memledger_profiles; i++) {
		if (!(rule->profiles & memledger_profiles[i].bit))
			continue;
		fprintf(out, "%s\"%s\"", comma, memledger_profiles[i].name);
		comma = ",";
	}
	putc(']', out);
	memledger_json_string(out, first, "subcategory", sub);
	memledger_json_string(out, first, "note",
			      memledger_note_of_name(group->text, rule));
}

/* A row as text, or as a member of the object of all rows. */
static void print_row(FILE *out, bool *first_row,
		      const struct explanation *explanation,
		      enum memledger_category category,
		      const struct memledger_names *groups, bool json)
{
	const struct memledger_report *report = explanation->report;
	u32 unavailable = report->unavailable;
	struct groups_data data = { .profile = report->profile };
	const struct memledger_listing listing = {
		.names = groups,
		.top = explanation->top,
		.swap_pss = !(unavailable & MEMLEDGER_UNAVAILABLE_SWAP_PSS),
		.key = "name",
		.count = "vmas",
		.heading = "Perms Rule (profiles that have it)",
		.label = group_label,
		.tail = print_tail,
		.members = print_members,
		.data = &data,
	};
	const char *note = memledger_note_of_row(category);
	const char *name = memledger_category_names[category];
	const char *label = memledger_category_labels[category];
	bool first = true;

	if (json) {
		memledger_json_key(out, first_row, name);
		putc('{', out);
		memledger_json_string(out, &first, "label", label);
		memledger_json_string(out, &first, "note", note);
		memledger_listing_print_json(out, &first, &listing);
		putc('}', out);
		return;
	}
	fprintf(out, "\n%s (%s)\n", label, name);
	if (note)
		fprintf(out, "    %s\n", note);
	if (groups->nr)
		memledger_listing_print(out, &listing);
	else
		fputs("    No mapping.\n", out);
}

static int print_rows(FILE *out, const struct explanation *explanation,
		      enum memledger_category category, bool json)
{
	bool all = category == MEMLEDGER_EXPLAIN_ALL;
	bool first = true;
	int ret = 0;
	unsigned int i;

	for (i = 0; i < NR_MEMLEDGER_CATEGORIES && !ret; i++) {
		struct memledger_names groups = {};

		if (!all && i != category)
			continue;
		ret = find_groups(&groups, explanation, i);
		if (!ret && (groups.nr || !all))
			print_row(out, &first, explanation, i, &groups, json);
		memledger_names_free(&groups);
	}
	return ret;
}

/**
 * memledger_explain_print - print what is in the rows, and why
 * @out: where to
 * @subject: the process; of a running one with the file vmas
 * @category: which row, or MEMLEDGER_EXPLAIN_ALL for those that have mappings
 * @top: how many groups of each row, 0 for all
 * @json: as JSON, in bytes, instead of text, in kB
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_explain_print(FILE *out, struct memledger_subject *subject,
			    enum memledger_category category, u32 top,
			    bool json, struct memledger_error *error)
{
	struct memledger_report *report = &subject->report;
	struct explanation explanation = {
		.report = report,
		.vmas = &subject->vmas,
		.top = top,
	};
	bool first = true;
	int ret;

	if (subject->details) {
		if (memledger_vmas_parse(&subject->vmas, subject->details,
					 report->profile, error))
			return -1;
		report->complete = subject->vmas.complete;
	}

	if (json) {
		putc('{', out);
		memledger_json_report(out, &first, report);
		memledger_json_key(out, &first, "category");
		putc('{', out);
	} else {
		memledger_listing_print_banner(out, "ROWS", report);
	}
	ret = print_rows(out, &explanation, category, json);
	if (json) {
		putc('}', out);
		memledger_json_unavailable(out, &first, report);
		fputs("}\n", out);
	} else {
		memledger_report_print_source(out, report);
	}
	return ret ? memledger_error_set(error, "no memory") : 0;
}
