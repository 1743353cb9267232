// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit's table of names and rows, once more on the host, where the address
 * sanitizer watches. Prints what is wrong; run.py makes a test of it.
 */
#include <stdlib.h>

#include "../../kunit/classify_cases.h"

static int run_case(const struct memledger_classify_case *c, const char *name)
{
	const struct memledger_profile *profile = memledger_profile_find(name);
	struct memledger_verdict verdict;
	size_t len = strlen(c->name);
	char *copy;

	if (!profile) {
		printf("there is no profile %s\n", name);
		return 1;
	}

	/* Without a NUL, so that a read behind its end is seen. */
	copy = malloc(len ? len : 1);
	if (!copy) {
		puts("no memory");
		return 1;
	}
	memcpy(copy, c->name, len);
	verdict = memledger_classify_case_run(c, profile, copy);
	free(copy);

	if (verdict.category == c->category &&
	    verdict.subcategory == c->subcategory &&
	    verdict.swappable == c->swappable)
		return 0;
	printf("%s: %s: by rule %s in %s, expected in %s\n", name, c->desc,
	       verdict.rule->name, memledger_category_names[verdict.category],
	       memledger_category_names[c->category]);
	return 1;
}

int main(void)
{
	const unsigned int nr_profiles =
		ARRAY_SIZE(memledger_classify_case_profiles);
	unsigned int i, j;
	int wrong = 0;

	for (i = 0; i < ARRAY_SIZE(memledger_classify_cases); i++)
		for (j = 0; j < nr_profiles; j++)
			if (memledger_classify_cases[i].profiles & (1U << j))
				wrong += run_case(&memledger_classify_cases[i],
						  memledger_classify_case_profiles[j]);
	return !!wrong;
}
