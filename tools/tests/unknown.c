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

static int check_path(const struct memledger_path_case *c)
{
	char path[8192];

	if (memledger_path_case_is(c, path))
		return 0;
	printf("a path of %zu bytes is not told with %zu\n", c->len, c->told);
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

/*
 * Names that somebody has made to be hard on the table: 65,530 whose FNV-1a has
 * the same low bits, as many of them as the largest table has slots. Without a
 * secret, such can be made for any hash.
 */
#define NR_HARD		65530
#define HARD_BITS	17
#define HARD_MASK	((1U << HARD_BITS) - 1)
#define FNV_PRIME	16777619U
#define TAIL_LEN	4

/* The last letters of a name: digits from the space on, 94 to each place. */
static void print_tail(char *tail, u32 nr)
{
	unsigned int i;

	for (i = 0; i < TAIL_LEN; i++, nr /= 94)
		tail[i] = (char)(' ' + nr % 94);
}

/* From each low part of a hash to a tail that makes it 0; some have none. */
static u32 *find_tails(void)
{
	u32 *tails = calloc(1U << HARD_BITS, sizeof(*tails));
	u32 inverse = 1, nr, found = 0;
	char tail[TAIL_LEN];

	if (!tails)
		abort();
	/* Each step doubles the number of low bits that are right. */
	while (inverse * FNV_PRIME != 1)
		inverse *= 2 - FNV_PRIME * inverse;
	for (nr = 1; nr < 20000000 && found <= HARD_MASK; nr++) {
		u32 hash = 0;
		int i;

		print_tail(tail, nr);
		for (i = TAIL_LEN - 1; i >= 0; i--)
			hash = (hash * inverse) ^ (u8)tail[i];
		if (!tails[hash & HARD_MASK]) {
			tails[hash & HARD_MASK] = nr;
			found++;
		}
	}
	return tails;
}

/* Name number @nr, or false if there is none. */
static bool make_hard(char *name, size_t size, const u32 *tails, u32 nr)
{
	u32 hash = 2166136261U;
	int i, len = snprintf(name, size, "[anon:%08x", nr);

	for (i = 0; i < len; i++)
		hash = (hash ^ (u8)name[i]) * FNV_PRIME;
	if (!tails[hash & HARD_MASK])
		return false;
	print_tail(name + len, tails[hash & HARD_MASK]);
	name[len + TAIL_LEN] = '\0';
	return true;
}

/* How many slots too many are looked at where each row is looked up once. */
static u64 count_misses(const struct memledger_names *names)
{
	u32 i, mask = names->nr_slots - 1;
	u64 misses = 0;

	for (i = 0; i < names->nr_slots; i++)
		if (names->slots[i])
			misses += (i - names->rows[names->slots[i] - 1].hash) &
				  mask;
	return misses;
}

static int check_hard_names(void)
{
	struct memledger_names names = {};
	u32 *tails = find_tails();
	char text[64];
	u64 misses;
	u32 nr;
	int wrong = 0;

	for (nr = 0; names.nr < NR_HARD; nr++) {
		const struct memledger_names_case c = { .name = text };

		if (make_hard(text, sizeof(text), tails, nr))
			wrong += !!memledger_names_case_add(&names, &c);
	}
	free(tails);
	/* Half of the slots being free, it is half a slot a row for most keys. */
	misses = count_misses(&names);
	if (misses > 2 * NR_HARD) {
		printf("%llu slots too many for %u names\n", misses, names.nr);
		wrong++;
	}
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
	for (i = 0; i < ARRAY_SIZE(memledger_path_cases); i++)
		wrong += check_path(&memledger_path_cases[i]);
	wrong += check_names();
	wrong += check_growth();
	wrong += check_hard_names();
	return !!wrong;
}
