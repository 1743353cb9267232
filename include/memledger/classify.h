/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a mapping's name, and what was mapped right below it, to the row that
 * Android's dumpsys meminfo counts it in. Rules are data (rules.c); this is
 * the engine's interface.
 */
#ifndef _MEMLEDGER_CLASSIFY_H
#define _MEMLEDGER_CLASSIFY_H

#include <memledger/category.h>
#include <memledger/unknown.h>

/**
 * enum memledger_match - how a rule looks at the name
 * @MEMLEDGER_MATCH_PREFIX: the name starts with the pattern
 * @MEMLEDGER_MATCH_SUFFIX: the name ends with it
 * @MEMLEDGER_MATCH_CONTAINS: the pattern is somewhere in the name
 * @MEMLEDGER_MATCH_NAMED: any name at all
 * @MEMLEDGER_MATCH_AFTER_SO: no name, and begins where a .so mapping ended
 * @MEMLEDGER_MATCH_UNNAMED: no name
 */
enum memledger_match {
	MEMLEDGER_MATCH_PREFIX,
	MEMLEDGER_MATCH_SUFFIX,
	MEMLEDGER_MATCH_CONTAINS,
	MEMLEDGER_MATCH_NAMED,
	MEMLEDGER_MATCH_AFTER_SO,
	MEMLEDGER_MATCH_UNNAMED,
};

/**
 * struct memledger_rule - one line of Android's classifier
 * @name: what the vmas file and explain call the rule; unique, and no blank
 *	in it
 * @pattern: bytes to look for; case matters
 * @len: length of @pattern
 * @last: its last byte: most names differ in it
 * @also: NULL, or bytes that must be somewhere in the name as well
 * @min_len: the name is at least so long
 * @match: enum memledger_match
 * @category: enum memledger_category
 * @subcategory: enum memledger_subcategory
 * @profiles: bit mask, by memledger_profile.bit, of the releases that have it
 * @swappable: whether clean pages count as swappable PSS
 */
struct memledger_rule {
	const char *name;
	const char *pattern;
	const char *also;
	u8 len;
	char last;
	u8 min_len;
	u8 match;
	u8 category;
	u8 subcategory;
	u8 profiles;
	bool swappable;
};

/* What else differs between Android releases. */
#define MEMLEDGER_PROFILE_MTE_GLOBALS	0x1	/* "[anon:mt:FILE+HEX]" reads as FILE */
#define MEMLEDGER_PROFILE_JIT_IS_CODE	0x2	/* App Summary counts the JIT caches as Code */

/**
 * struct memledger_profile - the rules of an Android release
 * @name: as in the profile file: android10, android11, android16, android17
 * @rules: in order; those with @bit in their profiles are this release's. The
 *	first match wins, and the last two together match anything
 * @nr_rules: how many
 * @bit: the release's bit in memledger_rule.profiles
 * @flags: MEMLEDGER_PROFILE_*
 * @categories: bit mask of the categories that this release has
 * @subcategories: bit mask of its sub-categories
 * @app_jit_label: the label of MEMLEDGER_SUB_APP_JIT in this release
 */
struct memledger_profile {
	const char *name;
	const struct memledger_rule *rules;
	u32 nr_rules;
	u32 bit;
	u32 flags;
	u32 categories;
	u32 subcategories;
	const char *app_jit_label;
};

/* What the kernel at hand cannot tell, as far as rows depend on it. */
#define MEMLEDGER_UNAVAILABLE_SWAP_PSS	0x1
#define MEMLEDGER_UNAVAILABLE_MTRACK	0x2	/* no GPU driver told us anything */
#define MEMLEDGER_UNAVAILABLE_ANON_NAMES 0x4	/* unnamed may be named in truth */
#define MEMLEDGER_UNAVAILABLE_IMPORTED	0x8	/* how imports are to be divided */

#define MEMLEDGER_DEFAULT_PROFILE	"android16"

extern const struct memledger_profile memledger_profiles[];
extern const unsigned int nr_memledger_profiles;

/**
 * struct memledger_mapping - what the rules look at
 * @start: first address
 * @end: first address behind it
 * @name: the name as /proc/PID/maps prints it, without its deleted mark where
 *	@deleted says so; not necessarily NUL-terminated
 * @len: length of @name; 0 is a mapping without a name
 * @prot: MEMLEDGER_PROT_*; tells unnamed memory apart
 * @deleted: the kernel's own word that the file is gone; text that merely ends
 *	in " (deleted)" is left for the classifier to strip, as Android does
 */
struct memledger_mapping {
	u64 start;
	u64 end;
	const char *name;
	size_t len;
	unsigned int prot;
	bool deleted;
};

/**
 * memledger_row - the most detailed row that a mapping belongs in
 * @category: enum memledger_category
 * @subcategory: enum memledger_subcategory or MEMLEDGER_SUB_NONE
 * @unknown: enum memledger_unknown_class or MEMLEDGER_UNKNOWN_NONE
 *
 * Return: which of the rows in &struct memledger_totals it is.
 */
static inline u8 memledger_row(unsigned int category, unsigned int subcategory,
			       unsigned int unknown)
{
	const unsigned int first = 1;	/* the total comes before */

	if (subcategory != MEMLEDGER_SUB_NONE)
		return first + NR_MEMLEDGER_CATEGORIES + subcategory;
	if (unknown != MEMLEDGER_UNKNOWN_NONE)
		return first + NR_MEMLEDGER_CATEGORIES +
		       NR_MEMLEDGER_SUBCATEGORIES + unknown;
	return first + category;
}

/**
 * struct memledger_verdict - where a mapping is counted
 * @rule: the rule that placed it; NULL if its name alone does not tell, since
 *	it has none as the rules see it
 * @category: enum memledger_category
 * @subcategory: enum memledger_subcategory or MEMLEDGER_SUB_NONE
 * @unknown: enum memledger_unknown_class; MEMLEDGER_UNKNOWN_NONE where
 *	@category is not Unknown
 * @swappable: whether its clean pages count as swappable PSS
 * @row: memledger_row() of these
 */
struct memledger_verdict {
	const struct memledger_rule *rule;
	u8 category;
	u8 subcategory;
	u8 unknown;
	bool swappable;
	u8 row;
};

/**
 * struct memledger_classifier - carries what the next mapping needs to know
 * @profile: whose rules
 * @nameless: verdicts on mappings without a name: in the second row those right
 *	behind a .so mapping; by MEMLEDGER_PROT_*
 * @prev_end: where the previous mapping ended
 * @prev_category: what it was
 */
struct memledger_classifier {
	const struct memledger_profile *profile;
	struct memledger_verdict nameless[2][MEMLEDGER_PROT_ALL + 1];
	u64 prev_end;
	u8 prev_category;
};

const struct memledger_profile *memledger_profile_find(const char *name);
bool memledger_profile_has_category(const struct memledger_profile *profile,
				    enum memledger_category category,
				    u32 unavailable);
bool
memledger_profile_has_subcategory(const struct memledger_profile *profile,
				  enum memledger_subcategory subcategory,
				  u32 unavailable);
void memledger_classifier_init(struct memledger_classifier *classifier,
			       const struct memledger_profile *profile);
struct memledger_verdict
memledger_classify_name(const struct memledger_profile *profile,
			const char *name, size_t len, bool deleted);
bool memledger_classify_tail(const struct memledger_profile *profile,
			     const char *tail, size_t len, bool deleted,
			     struct memledger_verdict *verdict);
struct memledger_verdict
memledger_classifier_next(struct memledger_classifier *classifier,
			  const struct memledger_mapping *mapping);

/**
 * memledger_classifier_place - place the next mapping of a process
 * @classifier: set up for this process; learns of the mapping
 * @by_name: what memledger_classify_name() says, by the same profile
 * @start: first address; mappings come in ascending order
 * @end: first address behind it
 * @prot: MEMLEDGER_PROT_*
 *
 * Context: Any; takes no lock, allocates nothing.
 * Return: where it is counted; valid as long as @classifier and @by_name are.
 */
static inline const struct memledger_verdict *
memledger_classifier_place(struct memledger_classifier *classifier,
			   const struct memledger_verdict *by_name,
			   u64 start, u64 end, unsigned int prot)
{
	const struct memledger_verdict *verdict = by_name;

	if (!by_name->rule) {
		bool after_so = start == classifier->prev_end &&
				classifier->prev_category ==
				MEMLEDGER_CAT_SO_MMAP;

		verdict = &classifier->nameless[after_so][prot];
	}
	classifier->prev_end = end;
	classifier->prev_category = verdict->category;
	return verdict;
}

#endif
