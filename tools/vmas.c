// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text of the module's vmas file in, a list of mappings out.
 */
#include <stdlib.h>

#include "vmas.h"
#include "words.h"

static const char heading[] = "Range Perms Offset Device Inode"
#define X(field, label, shift) " " label
	MEMLEDGER_VMA_FIELDS(X)
#undef X
	" Category Subcategory Rule Deleted Name";

/* A line of the text, beyond what the list keeps of it. */
struct line {
	const char *rule;
	const char *name;
	bool deleted;
};

static const char perm_letters[] = "rwxs";

/**
 * memledger_vma_perm_bits - make a number of permissions
 * @perms: as "rw-p"
 *
 * Return: less than 1 << MEMLEDGER_VMA_PERM_BITS.
 */
u32 memledger_vma_perm_bits(const char *perms)
{
	u32 bits = 0;
	unsigned int i;

	for (i = 0; i < MEMLEDGER_VMA_PERM_BITS; i++)
		if (perms[i] == perm_letters[i])
			bits |= 1U << i;
	return bits;
}

/**
 * memledger_vma_perm_text - make permissions of a number
 * @bits: the number; higher bits are not looked at
 * @perms: gets them, NUL-terminated
 */
void memledger_vma_perm_text(u32 bits, char perms[5])
{
	unsigned int i;

	for (i = 0; i < MEMLEDGER_VMA_PERM_BITS; i++)
		perms[i] = bits & (1U << i) ? perm_letters[i] :
			   perm_letters[i] == 's' ? 'p' : '-';
	perms[i] = '\0';
}

/**
 * memledger_vmas_add - add a mapping to a list
 * @vmas: the list
 * @vma: the mapping; its name is the list's from now on
 *
 * Return: 0, or -1 if there is no memory.
 */
int memledger_vmas_add(struct memledger_vmas *vmas,
		       const struct memledger_vma *vma)
{
	/* Room for a power of two, doubled when that is taken. */
	if (!(vmas->nr & (vmas->nr - 1))) {
		size_t room = vmas->nr ? 2 * vmas->nr : 1;
		struct memledger_vma *more =
			realloc(vmas->vma, room * sizeof(*more));

		if (!more)
			return -1;
		vmas->vma = more;
	}
	vmas->vma[vmas->nr++] = *vma;
	return 0;
}

/**
 * memledger_vmas_free - free what a list holds
 * @vmas: empty afterwards
 */
void memledger_vmas_free(struct memledger_vmas *vmas)
{
	size_t i;

	for (i = 0; i < vmas->nr; i++)
		free(vmas->vma[i].name);
	free(vmas->vma);
	*vmas = (struct memledger_vmas){};
}

static bool parse_head(char **text, struct memledger_vma *vma)
{
	int len = 0;

	if (sscanf(*text, "%llx-%llx %4s %llx %*x:%*x %llu %n", &vma->start,
		   &vma->end, vma->perms, &vma->offset, &vma->inode,
		   &len) != 5 || !len)
		return false;
	*text += len;
	return true;
}

static bool parse_line(char *text, struct memledger_vma *vma,
		       struct line *line)
{
	bool good = parse_head(&text, vma);
	const char *deleted;
	u64 number = 0;

#define X(field, label, shift)						\
	good = good && memledger_words_optional(&text, &number);	\
	vma->usage.field = number << (shift);
	MEMLEDGER_VMA_FIELDS(X)
#undef X
	/* The rule says what the category and the sub-category are. */
	if (!good || !memledger_words_next(&text) ||
	    !memledger_words_next(&text))
		return false;
	line->rule = memledger_words_next(&text);
	deleted = memledger_words_next(&text);
	if (!line->rule || !deleted || !text)
		return false;
	line->deleted = !strcmp(deleted, "deleted");
	line->name = text;
	return line->deleted || !strcmp(deleted, "-");
}

/* Our own verdict, which has to be the module's. */
static bool classify(struct memledger_classifier *classifier,
		     struct memledger_vma *vma, const struct line *line)
{
	const struct memledger_mapping mapping = {
		.start = vma->start,
		.end = vma->end,
		.name = line->name,
		.len = strlen(line->name),
		.prot = memledger_vma_prot(vma),
		.deleted = line->deleted,
	};

	vma->verdict = memledger_classifier_next(classifier, &mapping);
	return !strcmp(vma->verdict.rule->name, line->rule);
}

/**
 * memledger_vmas_parse - read the module's vmas file
 * @vmas: an empty list; the caller frees it, also where this fails
 * @text: the file's, which is cut up
 * @profile: the rules by which the module placed the mappings
 * @error: what went wrong
 *
 * Return: 0, or -1 with @error set.
 */
int memledger_vmas_parse(struct memledger_vmas *vmas, char *text,
			 const struct memledger_profile *profile,
			 struct memledger_error *error)
{
	struct memledger_classifier classifier;
	char *next = memledger_words_line(&text);

	if (!next || strcmp(next, heading))
		return memledger_error_set(error,
					   "the module's vmas file has other columns than expected: use the tool that was built with the module");

	memledger_classifier_init(&classifier, profile);
	while ((next = memledger_words_line(&text)) && *next != '#') {
		struct memledger_vma vma = {};
		struct line line;

		if (!parse_line(next, &vma, &line))
			return memledger_error_set(error,
						   "the module's vmas file has a line that makes no sense: use the tool that was built with the module");
		if (!classify(&classifier, &vma, &line))
			return memledger_error_set(error,
						   "the module placed the mapping at %llx by rule %s, this tool by rule %s: use the tool that was built with the module, or try again if somebody else changed the module's profile",
						   vma.start, line.rule,
						   vma.verdict.rule->name);
		if (asprintf(&vma.name, "%s%s", line.name,
			     line.deleted ? " (deleted)" : "") < 0)
			return memledger_error_set(error, "no memory");
		if (memledger_vmas_add(vmas, &vma)) {
			free(vma.name);
			return memledger_error_set(error, "no memory");
		}
	}
	if (!next || *text)
		return memledger_error_set(error,
					   "the module's vmas file is cut off: try again");
	vmas->complete = !strcmp(next, "# complete");
	return 0;
}
