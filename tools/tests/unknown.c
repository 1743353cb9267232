// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit's cases of Unknown, once more on the host, where the address sanitizer
 * watches. Prints what is wrong; run.py makes a test of it.
 */
#include <stdlib.h>

#include "../../kunit/unknown_cases.h"

/* Without a NUL, so that a read behind its end is seen. */
static char *copy_name(const char *name)
{
	size_t len = strlen(name);
	char *copy = malloc(len ? len : 1);

	if (!copy)
		abort();
	memcpy(copy, name, len);
	return copy;
}

static int check_class(const struct memledger_unknown_case *c)
{
	char *name = copy_name(c->name);
	enum memledger_unknown_class class =
		memledger_unknown_classify(name, strlen(c->name), c->prot);

	free(name);
	if (class == c->class &&
	    memledger_unknown_needs_name(class) == !!*c->name)
		return 0;
	printf("\"%s\", 0x%x: in %s, expected in %s\n", c->name, c->prot,
	       memledger_unknown_names[class],
	       memledger_unknown_names[c->class]);
	return 1;
}

static int check_owner(const struct memledger_owner_case *c)
{
	char *name = copy_name(c->name);
	u64 addr = c->addr;
	bool found = memledger_unknown_owner(name, strlen(c->name), &addr);

	free(name);
	if (found == c->found && addr == c->addr)
		return 0;
	printf("\"%s\": %d, %llx, expected %d, %llx\n", c->name, found, addr,
	       c->found, c->addr);
	return 1;
}

static int check_names(void)
{
	struct memledger_names names = {};
	unsigned int i;
	int wrong = 0;

	for (i = 0; i < ARRAY_SIZE(memledger_names_cases); i++) {
		struct memledger_names_case c = memledger_names_cases[i];
		char *name = strdup(c.name);

		if (!name)
			abort();
		c.name = name;
		wrong += !!memledger_names_case_add(&names, &c);
		free(name);
	}
	memledger_names_sort(&names);
	if (names.nr != ARRAY_SIZE(memledger_names_results)) {
		printf("%u names, expected %zu\n", names.nr,
		       ARRAY_SIZE(memledger_names_results));
		wrong++;
	}
	for (i = 0; i < names.nr && i < ARRAY_SIZE(memledger_names_results);
	     i++) {
		if (memledger_names_case_is(&names.rows[i],
					    &memledger_names_results[i]))
			continue;
		printf("row %u is \"%s\", expected \"%s\"\n", i,
		       names.rows[i].text, memledger_names_results[i].row.name);
		wrong++;
	}
	memledger_names_free(&names);
	return wrong;
}

static int check_growth(void)
{
	struct memledger_names names = {};
	char text[32];
	int wrong = 0;
	unsigned int i;

	for (i = 0; i < 2 * MEMLEDGER_NAMES_CASE_MANY; i++) {
		const struct memledger_names_case c = {
			.name = text,
			.kb = 1,
		};

		snprintf(text, sizeof(text), "[anon:%u]",
			 i % MEMLEDGER_NAMES_CASE_MANY);
		wrong += !!memledger_names_case_add(&names, &c);
	}
	wrong += names.nr != MEMLEDGER_NAMES_CASE_MANY;
	for (i = 0; i < names.nr; i++)
		wrong += names.rows[i].usage.vmas != 2;
	if (wrong)
		printf("%u rows for %u names\n", names.nr,
		       MEMLEDGER_NAMES_CASE_MANY);
	memledger_names_free(&names);
	return wrong;
}

int main(void)
{
	unsigned int i;
	int wrong = 0;

	for (i = 0; i < ARRAY_SIZE(memledger_unknown_cases); i++)
		wrong += check_class(&memledger_unknown_cases[i]);
	for (i = 0; i < ARRAY_SIZE(memledger_owner_cases); i++)
		wrong += check_owner(&memledger_owner_cases[i]);
	wrong += check_names();
	wrong += check_growth();
	return !!wrong;
}
