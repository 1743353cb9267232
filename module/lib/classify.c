// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine of the rules: a mapping's name, and the mapping right below it,
 * in; the row of dumpsys meminfo it is counted in, out.
 */
#include <memledger/classify.h>

#define DELETED_MARK	" (deleted)"
#define MTE_PREFIX	"[anon:mt:"

/* A name, or a part of one; the bytes are the caller's. */
struct text {
	const char *bytes;
	size_t len;
};

static bool text_starts(struct text text, const char *with)
{
	size_t len = strlen(with);

	return text.len >= len && !memcmp(text.bytes, with, len);
}

static bool text_ends(struct text text, const char *with)
{
	size_t len = strlen(with);

	return text.len >= len &&
	       !memcmp(text.bytes + text.len - len, with, len);
}

static bool text_contains(struct text text, const char *what)
{
	const char *end = text.bytes + text.len;
	size_t len = strlen(what);
	const char *at = text.bytes;

	while ((size_t)(end - at) >= len) {
		at = memchr(at, *what, end - at - len + 1);
		if (!at)
			return false;
		if (!memcmp(at, what, len))
			return true;
		at++;
	}
	return false;
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
	       (c >= 'A' && c <= 'F');
}

/*
 * Where memory tagging covers a library's globals, the loader copies them to
 * anonymous memory and names it "[anon:mt:" FILE "+" OFFSET "]": count it as
 * FILE. Anything not quite of this form stays as it is.
 */
static struct text text_without_mte(struct text text)
{
	size_t skip = sizeof(MTE_PREFIX) - 1;
	size_t plus;

	if (!text_starts(text, MTE_PREFIX) || !text_ends(text, "]"))
		return text;

	/* A number is there if it begins; Android scans no further. */
	plus = text.len - 1;
	while (plus > skip && text.bytes[plus] != '+')
		plus--;
	if (text.bytes[plus] != '+' || !is_hex(text.bytes[plus + 1]))
		return text;

	return (struct text){ text.bytes + skip, plus - skip };
}

/* Once: of a deleted file called "x (deleted)" the rest is its name. */
static struct text text_without_mark(struct text text, bool deleted)
{
	if (!deleted && text_ends(text, DELETED_MARK))
		text.len -= sizeof(DELETED_MARK) - 1;
	return text;
}

/*
 * The name that the rules see. It may turn out empty; Android's rules take
 * that for a mapping without a name, and so do ours.
 */
static struct text visible_text(const struct memledger_profile *profile,
				struct text text, bool deleted)
{
	if (profile->flags & MEMLEDGER_PROFILE_MTE_GLOBALS)
		text = text_without_mte(text);
	return text_without_mark(text, deleted);
}

static bool pattern_is_at(const struct memledger_rule *rule, const char *at)
{
	return at[rule->len - 1] == rule->last &&
	       !memcmp(at, rule->pattern, rule->len);
}

static bool ends_in_pattern(const struct memledger_rule *rule,
			    struct text text)
{
	return text.len >= rule->len &&
	       pattern_is_at(rule, text.bytes + text.len - rule->len);
}

static bool pattern_matches(const struct memledger_rule *rule,
			    struct text text, bool after_so)
{
	switch (rule->match) {
	case MEMLEDGER_MATCH_PREFIX:
		return text.len >= rule->len && pattern_is_at(rule, text.bytes);
	case MEMLEDGER_MATCH_SUFFIX:
		return ends_in_pattern(rule, text);
	case MEMLEDGER_MATCH_CONTAINS:
		return text_contains(text, rule->pattern);
	case MEMLEDGER_MATCH_NAMED:
		return text.len;
	case MEMLEDGER_MATCH_AFTER_SO:
		return !text.len && after_so;
	default:
		return !text.len;
	}
}

/* What is cheap comes first: names may be long, and the rules are many. */
static bool rule_matches(const struct memledger_rule *rule, struct text text,
			 bool after_so)
{
	return text.len >= rule->min_len &&
	       pattern_matches(rule, text, after_so) &&
	       (!rule->also || text_contains(text, rule->also));
}

/* The first of a release's rules from @rule on; its last ones match anything. */
static const struct memledger_rule *
first_match(const struct memledger_profile *profile,
	    const struct memledger_rule *rule, struct text text, bool after_so)
{
	while (!(rule->profiles & profile->bit) ||
	       !rule_matches(rule, text, after_so))
		rule++;
	return rule;
}

/**
 * memledger_profile_find - look up a profile by its name
 * @name: NUL-terminated
 *
 * Return: the profile, or NULL if none is called so.
 */
const struct memledger_profile *memledger_profile_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < nr_memledger_profiles; i++)
		if (!strcmp(memledger_profiles[i].name, name))
			return &memledger_profiles[i];
	return NULL;
}

/*
 * Whether every rule that leads to a row asks for a name of anonymous memory.
 * On a kernel without these such a row is not empty but unknown: what belongs
 * in it is counted as Unknown. @subcategory may be MEMLEDGER_SUB_NONE; else
 * @category does not matter.
 */
static bool row_needs_names(const struct memledger_profile *profile,
			    unsigned int category, unsigned int subcategory)
{
	static const char anon[] = "[anon:";
	bool needs = false;
	u32 i;

	for (i = 0; i < profile->nr_rules; i++) {
		const struct memledger_rule *rule = &profile->rules[i];

		if (!(rule->profiles & profile->bit) ||
		    (subcategory == MEMLEDGER_SUB_NONE ?
		     rule->category != category :
		     rule->subcategory != subcategory))
			continue;
		if (!rule->pattern ||
		    strncmp(rule->pattern, anon, sizeof(anon) - 1))
			return false;
		needs = true;
	}
	return needs;
}

/**
 * memledger_profile_has_category - tell a row of zeroes from one nobody fills
 * @profile: the release
 * @category: the row
 * @unavailable: MEMLEDGER_UNAVAILABLE_*
 *
 * Return: false where the release has no such row, or nothing that is at hand
 * could lead to it.
 */
bool memledger_profile_has_category(const struct memledger_profile *profile,
				    enum memledger_category category,
				    u32 unavailable)
{
	switch (category) {
	case MEMLEDGER_CAT_EGL_MTRACK:
		if (unavailable & MEMLEDGER_UNAVAILABLE_IMPORTED)
			return false;
		fallthrough;
	case MEMLEDGER_CAT_GL_MTRACK:
	case MEMLEDGER_CAT_OTHER_MTRACK:
		return !(unavailable & MEMLEDGER_UNAVAILABLE_MTRACK);
	default:
		break;
	}
	if (!(profile->categories & (1U << category)))
		return false;
	return !(unavailable & MEMLEDGER_UNAVAILABLE_ANON_NAMES) ||
	       !row_needs_names(profile, category, MEMLEDGER_SUB_NONE);
}

/**
 * memledger_profile_has_subcategory - the same for a row of the details
 * @profile: the release
 * @subcategory: the row
 * @unavailable: MEMLEDGER_UNAVAILABLE_*
 *
 * Return: false where the release has no such row, or nothing that is at hand
 * could lead to it.
 */
bool
memledger_profile_has_subcategory(const struct memledger_profile *profile,
				  enum memledger_subcategory subcategory,
				  u32 unavailable)
{
	if (!(profile->subcategories & (1U << subcategory)))
		return false;
	return !(unavailable & MEMLEDGER_UNAVAILABLE_ANON_NAMES) ||
	       !row_needs_names(profile, NR_MEMLEDGER_CATEGORIES, subcategory);
}

static struct memledger_verdict
verdict_of(const struct memledger_rule *rule,
	   enum memledger_unknown_class unknown)
{
	return (struct memledger_verdict){
		.rule = rule,
		.category = rule->category,
		.subcategory = rule->subcategory,
		.unknown = unknown,
		.swappable = rule->swappable,
		.row = memledger_row(rule->category, rule->subcategory,
				     unknown),
	};
}

/* What of Unknown @text is, if @rule leads there. */
static enum memledger_unknown_class
unknown_class(const struct memledger_rule *rule, struct text text,
	      unsigned int prot)
{
	return rule->category == MEMLEDGER_CAT_UNKNOWN ?
	       memledger_unknown_classify(text.bytes, text.len, prot) :
	       MEMLEDGER_UNKNOWN_NONE;
}

/**
 * memledger_classifier_init - get ready for the first mapping of a process
 * @classifier: what to set up
 * @profile: whose rules to follow; the last of them match anything
 */
void memledger_classifier_init(struct memledger_classifier *classifier,
			       const struct memledger_profile *profile)
{
	const struct text none = { "", 0 };
	unsigned int after_so, prot;

	classifier->profile = profile;
	for (after_so = 0; after_so < 2; after_so++) {
		const struct memledger_rule *rule =
			first_match(profile, profile->rules, none, after_so);

		for (prot = 0; prot <= MEMLEDGER_PROT_ALL; prot++)
			classifier->nameless[after_so][prot] =
				verdict_of(rule,
					   unknown_class(rule, none, prot));
	}
	classifier->prev_end = 0;
	classifier->prev_category = MEMLEDGER_CAT_UNKNOWN;
}

/**
 * memledger_classify_name - place mappings by their name alone
 * @profile: whose rules to follow
 * @name: as in &struct memledger_mapping
 * @len: length of @name
 * @deleted: as in &struct memledger_mapping
 *
 * For callers that remember what they know of a name, for
 * memledger_classifier_place().
 *
 * Context: Any; takes no lock, allocates nothing.
 * Return: where all that are called so are counted; without a rule if that
 * depends on more than the name.
 */
struct memledger_verdict
memledger_classify_name(const struct memledger_profile *profile,
			const char *name, size_t len, bool deleted)
{
	struct text text = { name, len };
	const struct memledger_rule *rule;

	text = visible_text(profile, text, deleted);
	if (!text.len)
		return (struct memledger_verdict){};
	rule = first_match(profile, profile->rules, text, false);
	/* It has a name: the permissions are of no consequence. */
	return verdict_of(rule, unknown_class(rule, text, 0));
}

enum tail_match { TAIL_DIFFERS, TAIL_MATCHES, TAIL_IS_NOT_ENOUGH };

/* Whether @rule matches all absolute paths that end in @tail, or none. */
static enum tail_match tail_matches(const struct memledger_rule *rule,
				    struct text tail)
{
	switch (rule->match) {
	case MEMLEDGER_MATCH_PREFIX:
		return rule->pattern[0] == '/' ? TAIL_IS_NOT_ENOUGH :
						 TAIL_DIFFERS;
	case MEMLEDGER_MATCH_SUFFIX:
		if (tail.len >= rule->len &&
		    !ends_in_pattern(rule, tail))
			return TAIL_DIFFERS;
		fallthrough;
	case MEMLEDGER_MATCH_CONTAINS:
	case MEMLEDGER_MATCH_NAMED:
		return rule_matches(rule, tail, false) ? TAIL_MATCHES :
							 TAIL_IS_NOT_ENOUGH;
	default:
		return TAIL_DIFFERS;
	}
}

/**
 * memledger_classify_tail - place files by the last part of their paths
 * @profile: whose rules to follow
 * @tail: what follows the last slash of an absolute path; not necessarily
 *	NUL-terminated
 * @len: length of @tail
 * @deleted: as in &struct memledger_mapping
 * @verdict: gets what memledger_classify_name() says of the path
 *
 * To make a path is much of the work of finding out where a file is counted,
 * and most are libraries, whatever directory they are in.
 *
 * Context: Any; takes no lock, allocates nothing.
 * Return: false if that depends on the rest of the path, too; then @verdict is
 * as it was.
 */
bool memledger_classify_tail(const struct memledger_profile *profile,
			     const char *tail, size_t len, bool deleted,
			     struct memledger_verdict *verdict)
{
	const struct text text = text_without_mark((struct text){ tail, len },
						   deleted);
	const struct memledger_rule *rule = profile->rules;

	for (;; rule++) {
		if (!(rule->profiles & profile->bit))
			continue;
		switch (tail_matches(rule, text)) {
		case TAIL_DIFFERS:
			break;
		case TAIL_MATCHES:
			*verdict = verdict_of(rule, MEMLEDGER_UNKNOWN_NONE);
			return true;
		case TAIL_IS_NOT_ENOUGH:
			return false;
		}
	}
}

/**
 * memledger_classifier_next - place the next mapping of a process
 * @classifier: set up for this process; learns of @mapping
 * @mapping: what to place; mappings come in ascending order of address
 *
 * Context: Any; takes no lock, allocates nothing.
 * Return: where it is counted.
 */
struct memledger_verdict
memledger_classifier_next(struct memledger_classifier *classifier,
			  const struct memledger_mapping *mapping)
{
	const struct memledger_verdict by_name =
		memledger_classify_name(classifier->profile, mapping->name,
					mapping->len, mapping->deleted);

	return *memledger_classifier_place(classifier, &by_name, mapping->start,
					   mapping->end, mapping->prot);
}
