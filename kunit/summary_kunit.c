// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows in, the App Summary and the text of dumpsys meminfo out: summary.c and
 * table.c.
 */
#include <linux/seq_file.h>

#include <kunit/test.h>

#include "../module/lib/summary.c"
#include "../module/lib/table.c"

#define KB		1024ULL
#define TEXT_SIZE	8192

#define CAT(id)		category[MEMLEDGER_CAT_##id]
#define SUB(id)		subcategory[MEMLEDGER_SUB_##id]

static struct memledger_totals *totals_alloc(struct kunit *test)
{
	struct memledger_totals *totals;

	totals = kunit_kzalloc(test, sizeof(*totals), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, totals);
	return totals;
}

static const struct memledger_profile *profile(struct kunit *test,
					       const char *name)
{
	const struct memledger_profile *p = memledger_profile_find(name);

	KUNIT_ASSERT_NOT_NULL(test, p);
	return p;
}

static void expect_summary_eq(struct kunit *test, const char *what,
			      const struct memledger_totals *totals,
			      const struct memledger_profile *p,
			      const struct memledger_summary *want)
{
	struct memledger_summary have;

	memset(&have, 0xa5, sizeof(have));
	memledger_summary_compute(&have, totals, p);
#define X(field)							\
	KUNIT_EXPECT_EQ_MSG(test, have.field, want->field, "%s: %s",	\
			    what, #field);
	MEMLEDGER_SUMMARY_FIELDS(X)
#undef X
}

/* The 12th prime follows the 11th, and so on: no two numbers are alike. */
static u64 next_prime(u64 n)
{
	u64 d;

	do {
		n++;
		for (d = 2; d * d <= n; d++)
			if (!(n - div64_u64(n, d) * d))
				break;
	} while (d * d <= n);
	return n;
}

/* Every number of every row a different prime: a wrong term is seen. */
static void fill_primes(struct memledger_totals *totals)
{
	u64 *number = (u64 *)totals;
	u64 prime = 1;
	size_t i;

	for (i = 0; i < sizeof(*totals) / sizeof(*number); i++) {
		prime = next_prime(prime);
		number[i] = prime * KB;
	}
}

static s64 priv(const struct memledger_usage *row)
{
	return row->private_clean + row->private_dirty;
}

static void summary_formula_test(struct kunit *test)
{
	static const char *const names[] = {
		"android10", "android11", "android16", "android17",
	};
	struct memledger_totals *t = totals_alloc(test);
	struct memledger_summary want;
	unsigned int i;

	fill_primes(t);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		want.java_heap = t->CAT(DALVIK_HEAP).private_dirty +
				 priv(&t->CAT(ART_MMAP));
		want.native_heap = t->CAT(NATIVE_HEAP).private_dirty;
		want.code = priv(&t->CAT(SO_MMAP)) + priv(&t->CAT(JAR_MMAP)) +
			    priv(&t->CAT(APK_MMAP)) + priv(&t->CAT(TTF_MMAP)) +
			    priv(&t->CAT(DEX_MMAP)) + priv(&t->CAT(OAT_MMAP));
		want.code_rss = t->CAT(SO_MMAP).rss + t->CAT(JAR_MMAP).rss +
				t->CAT(APK_MMAP).rss + t->CAT(TTF_MMAP).rss +
				t->CAT(DEX_MMAP).rss + t->CAT(OAT_MMAP).rss;
		if (strcmp(names[i], "android10")) {
			want.code += priv(&t->SUB(ZYGOTE_JIT)) +
				     priv(&t->SUB(APP_JIT));
			want.code_rss += t->SUB(ZYGOTE_JIT).rss +
					 t->SUB(APP_JIT).rss;
		}
		want.stack = t->CAT(STACK).private_dirty;
		want.graphics = priv(&t->CAT(GFX_DEV)) +
				priv(&t->CAT(EGL_MTRACK)) +
				priv(&t->CAT(GL_MTRACK));
		want.private_other = priv(&t->total) - want.java_heap -
				     want.native_heap - want.code -
				     want.stack - want.graphics;
		want.total_pss = t->total.pss_floor + t->total.swap_pss_floor;
		want.system = want.total_pss - priv(&t->total);
		want.total_rss = t->total.rss;
		want.total_swap = t->total.swap;
		want.total_swap_pss = t->total.swap_pss_floor;
		want.java_heap_rss = t->CAT(DALVIK_HEAP).rss +
				     t->CAT(ART_MMAP).rss;
		want.native_heap_rss = t->CAT(NATIVE_HEAP).rss;
		want.stack_rss = t->CAT(STACK).rss;
		want.graphics_rss = t->CAT(GFX_DEV).rss +
				    t->CAT(EGL_MTRACK).rss +
				    t->CAT(GL_MTRACK).rss;
		want.unknown_rss = want.total_rss - want.java_heap_rss -
				   want.native_heap_rss - want.code_rss -
				   want.stack_rss - want.graphics_rss;
		expect_summary_eq(test, names[i], t, profile(test, names[i]),
				  &want);
	}
}

#define ROW(_pss, _rss, _pd, _sd, _pc, _sc)				\
	{								\
		.pss = (_pss) * KB << MEMLEDGER_PSS_SHIFT,		\
		.pss_floor = (_pss) * KB,				\
		.rss = (_rss) * KB,					\
		.private_dirty = (_pd) * KB,				\
		.shared_dirty = (_sd) * KB,				\
		.private_clean = (_pc) * KB,				\
		.shared_clean = (_sc) * KB,				\
	}

/* The rows of a real system_server, and what Android makes of them. */
static const struct memledger_totals system_server = {
	.total = ROW(108384, 250332, 57856, 30260, 32664, 129552),
	.CAT(UNKNOWN) = ROW(2472, 3708, 2420, 1288, 0, 0),
	.CAT(DALVIK_HEAP) = ROW(8405, 10112, 8308, 1804, 0, 0),
	.CAT(NATIVE_HEAP) = ROW(39050, 41492, 38900, 2592, 0, 0),
	.CAT(DALVIK_OTHER) = ROW(2882, 6384, 2256, 4128, 0, 0),
	.CAT(STACK) = ROW(32, 40, 32, 8, 0, 0),
	.CAT(ASHMEM) = ROW(1734, 2076, 1396, 680, 0, 0),
	.CAT(OTHER_DEV) = ROW(56, 204, 0, 172, 32, 0),
	.CAT(SO_MMAP) = ROW(11501, 48372, 824, 3572, 3604, 40372),
	.CAT(APK_MMAP) = ROW(2837, 40920, 0, 0, 388, 40532),
	.CAT(TTF_MMAP) = ROW(102, 356, 0, 0, 0, 356),
	.CAT(DEX_MMAP) = ROW(31551, 53580, 96, 0, 28328, 25156),
	.CAT(OAT_MMAP) = ROW(2885, 20676, 0, 56, 304, 20316),
	.CAT(ART_MMAP) = ROW(4510, 19684, 3600, 15864, 8, 212),
	.CAT(OTHER_MMAP) = ROW(367, 2728, 24, 96, 0, 2608),
};

static void summary_real_test(struct kunit *test)
{
	static const struct memledger_summary want = {
		.java_heap = 11916 * KB,
		.native_heap = 38900 * KB,
		.code = 33544 * KB,
		.stack = 32 * KB,
		.graphics = 0,
		.private_other = 6128 * KB,
		.system = 17864 * KB,
		.total_pss = 108384 * KB,
		.total_rss = 250332 * KB,
		.java_heap_rss = 29796 * KB,
		.native_heap_rss = 41492 * KB,
		.code_rss = 163904 * KB,
		.stack_rss = 40 * KB,
		.unknown_rss = 15100 * KB,
	};

	expect_summary_eq(test, "system_server", &system_server,
			  profile(test, "android16"), &want);
}

/* Proportional swap is in the total, and all of it is billed to System. */
static void summary_swap_test(struct kunit *test)
{
	static const struct memledger_summary want = {
		.native_heap = 8 * KB,
		.system = 5 * KB,
		.total_pss = 13 * KB,
		.total_rss = 8 * KB,
		.total_swap = 20 * KB,
		.total_swap_pss = 5 * KB,
		.native_heap_rss = 8 * KB,
	};
	struct memledger_totals *t = totals_alloc(test);

	t->CAT(NATIVE_HEAP) = (struct memledger_usage)ROW(8, 8, 8, 0, 0, 0);
	t->CAT(NATIVE_HEAP).swap = 20 * KB;
	t->CAT(NATIVE_HEAP).swap_pss = (5 * KB << MEMLEDGER_PSS_SHIFT) + 99;
	t->CAT(NATIVE_HEAP).swap_pss_floor = 5 * KB;
	t->total = t->CAT(NATIVE_HEAP);
	expect_summary_eq(test, "swap", t, profile(test, "android16"), &want);
}

/* Rows that exceed their own total make what is left over negative. */
static void summary_negative_test(struct kunit *test)
{
	static const struct memledger_summary want = {
		.native_heap = 7 * KB,
		.stack = 6 * KB,
		.private_other = -(s64)(11 * KB),
		.system = -(s64)(1 * KB),
		.total_pss = 1 * KB,
		.total_rss = 3 * KB,
		.native_heap_rss = 7 * KB,
		.stack_rss = 6 * KB,
		.unknown_rss = -(s64)(10 * KB),
	};
	struct memledger_totals *t = totals_alloc(test);

	t->total = (struct memledger_usage)ROW(1, 3, 2, 0, 0, 0);
	t->CAT(NATIVE_HEAP) = (struct memledger_usage)ROW(7, 7, 7, 0, 0, 0);
	t->CAT(STACK) = (struct memledger_usage)ROW(6, 6, 6, 0, 0, 0);
	expect_summary_eq(test, "negative", t, profile(test, "android16"),
			  &want);
}

/* What memledger_table_print() prints; freed with the test. */
static char *print(struct kunit *test, const struct memledger_totals *totals,
		   const char *profile_name, unsigned int flags)
{
	struct seq_file m = { .size = TEXT_SIZE };

	m.buf = kunit_kzalloc(test, TEXT_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m.buf);
	memledger_table_print(&m, totals, profile(test, profile_name), 42,
			      "com.example", flags);
	KUNIT_ASSERT_FALSE(test, seq_has_overflowed(&m));
	m.buf[m.count] = '\0';
	return m.buf;
}

/* A long text line by line, so that a failure shows the line. */
static void expect_lines(struct kunit *test, char *have,
			 const char *const *want, unsigned int nr)
{
	unsigned int i;
	char *line;

	for (i = 0; i < nr; i++) {
		line = strsep(&have, "\n");
		KUNIT_ASSERT_NOT_NULL_MSG(test, line, "no \"%s\"", want[i]);
		KUNIT_EXPECT_STREQ(test, line, want[i]);
	}
	KUNIT_ASSERT_NOT_NULL(test, have);
	KUNIT_EXPECT_STREQ(test, have, "");
}

/* Small rows for the texts below: no swap, a driver's row, a JIT cache. */
static const struct memledger_totals small = {
	.total = ROW(1251, 2272, 1076, 116, 44, 1036),
	.CAT(NATIVE_HEAP) = ROW(100, 120, 96, 24, 0, 0),
	.CAT(DALVIK_OTHER) = ROW(61, 96, 48, 48, 0, 0),
	.CAT(SO_MMAP) = {
		.pss_floor = 180 * KB,
		.swappable_pss = 44 * KB,
		.rss = 1160 * KB,
		.private_dirty = 36 * KB,
		.shared_dirty = 44 * KB,
		.private_clean = 44 * KB,
		.shared_clean = 1036 * KB,
	},
	.CAT(EGL_MTRACK) = ROW(896, 896, 896, 0, 0, 0),
	.CAT(UNKNOWN) = {
		.pss_floor = 14 * KB,
		/* Nothing printed comes from these. */
		.pss = 15 * KB << MEMLEDGER_PSS_SHIFT,
		.vss = 999 * KB,
		.vmas = 99 * KB,
	},
	.SUB(APP_JIT) = ROW(61, 96, 48, 48, 0, 0),
};

#define SUMMARY_OF_SMALL						\
	" ",								\
	" App Summary",							\
	"                       Pss(KB)                        Rss(KB)", \
	"                        ------                         ------", \
	"           Java Heap:        0                              0", \
	"         Native Heap:       96                            120", \
	"                Code:      128                           1256", \
	"               Stack:        0                              0", \
	"            Graphics:      896                            896", \
	"       Private Other:        0",				\
	"              System:      131",				\
	"             Unknown:                                       0", \
	" ",								\
	"           TOTAL PSS:     1251            TOTAL RSS:     2272      TOTAL SWAP (KB):        0"

static void table_default_test(struct kunit *test)
{
	static const char *const want[] = {
		"",
		"** MEMINFO in pid 42 [com.example] **",
		"                   Pss  Private  Private     Swap      Rss     Heap     Heap     Heap",
		"                 Total    Dirty    Clean    Dirty    Total     Size    Alloc     Free",
		"                ------   ------   ------   ------   ------   ------   ------   ------",
		"  Native Heap      100       96        0        0      120        0        0        0",
		"  Dalvik Heap        0        0        0        0        0        0        0        0",
		" Dalvik Other       61       48        0        0       96                           ",
		"     .so mmap      180       36       44        0     1160                           ",
		"   EGL mtrack      896      896        0        0      896                           ",
		"      Unknown       14        0        0        0        0                           ",
		"        TOTAL     1251     1076       44        0     2272        0        0        0",
		SUMMARY_OF_SMALL,
	};

	expect_lines(test, print(test, &small, "android16", 0), want,
		     ARRAY_SIZE(want));
}

static void table_full_test(struct kunit *test)
{
	static const char *const want[] = {
		"",
		"** MEMINFO in pid 42 [com.example] **",
		"                   Pss      Pss   Shared  Private   Shared  Private     Swap      Rss     Heap     Heap     Heap",
		"                 Total    Clean    Dirty    Dirty    Clean    Clean    Dirty    Total     Size    Alloc     Free",
		"                ------   ------   ------   ------   ------   ------   ------   ------   ------   ------   ------",
		"  Native Heap      100        0       24       96        0        0        0      120        0        0        0",
		"  Dalvik Heap        0        0        0        0        0        0        0        0        0        0        0",
		" Dalvik Other       61        0       48       48        0        0        0       96                           ",
		"     .so mmap      180       44       44       36     1036       44        0     1160                           ",
		"   EGL mtrack      896        0        0      896        0        0        0      896                           ",
		"      Unknown       14        0        0        0        0        0        0        0                           ",
		"        TOTAL     1251        0      116     1076     1036       44        0     2272        0        0        0",
		" ",
		" Dalvik Details",
		"      .AppJIT       61        0       48       48        0        0        0       96                           ",
		SUMMARY_OF_SMALL,
	};

	expect_lines(test,
		     print(test, &small, "android16",
			   MEMLEDGER_TABLE_FULL | MEMLEDGER_TABLE_DALVIK),
		     want, ARRAY_SIZE(want));
}

static void table_summary_only_test(struct kunit *test)
{
	static const char *const want[] = {
		"",
		"** MEMINFO in pid 42 [com.example] **",
		SUMMARY_OF_SMALL,
	};

	expect_lines(test,
		     print(test, &small, "android16",
			   MEMLEDGER_TABLE_SUMMARY_ONLY),
		     want, ARRAY_SIZE(want));
}

/* A copy of the line of that label, or NULL; freed with the test. */
static char *find_line(struct kunit *test, const char *text, const char *label)
{
	const size_t len = strlen(label);
	const char *end, *start;
	char *line;

	for (; *text; text = end + 1) {
		end = strchrnul(text, '\n');
		start = skip_spaces(text);
		if (strncmp(start, label, len) ||
		    (start[len] != ' ' && start[len] != '\n'))
			continue;
		line = kunit_kzalloc(test, end - text + 1, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, line);
		return memcpy(line, text, end - text);
	}
	return NULL;
}

struct presence_case {
	const char *desc;
	struct memledger_usage row;
	bool row_there;
	bool sub_there;
	const char *columns;	/* Pss ... Rss, if the row is there */
};

static const struct presence_case presence_cases[] = {
	{ "nothing", {}, false, false, NULL },
	{ "pss", { .pss_floor = KB }, true, true,
	  "        1        0        0        0        0" },
	{ "less than 1 kB of pss", { .pss = (KB << MEMLEDGER_PSS_SHIFT) - 1 },
	  false, false, NULL },
	{ "rss", { .rss = KB }, true, false,
	  "        0        0        0        0        1" },
	{ "private dirty", { .private_dirty = KB }, true, true,
	  "        0        1        0        0        0" },
	{ "private clean", { .private_clean = KB }, true, true,
	  "        0        0        1        0        0" },
	{ "shared dirty", { .shared_dirty = KB }, true, true,
	  "        0        0        0        0        0" },
	{ "shared clean", { .shared_clean = KB }, true, true,
	  "        0        0        0        0        0" },
	{ "swap", { .swap = KB }, true, true,
	  "        0        0        0        1        0" },
	{ "swappable pss", { .swappable_pss = KB }, false, false, NULL },
	{ "size and number", { .vss = KB, .vmas = KB }, false, false, NULL },
	{ "hugetlb", { .shared_hugetlb = KB, .private_hugetlb = KB },
	  false, false, NULL },
};

static void presence_desc(const struct presence_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(presence, presence_cases, presence_desc);

static void table_presence_test(struct kunit *test)
{
	const struct presence_case *c = test->param_value;
	struct memledger_totals *t = totals_alloc(test);
	char *text, *line;

	t->CAT(STACK) = c->row;
	t->SUB(LOS) = c->row;
	text = print(test, t, "android16", MEMLEDGER_TABLE_DALVIK);
	line = find_line(test, text, "Stack");
	KUNIT_EXPECT_EQ(test, !!line, c->row_there);
	if (line && c->columns) {
		/* "        Stack", then the columns, then the heap's. */
		KUNIT_ASSERT_GE(test, strlen(line), 13 + strlen(c->columns));
		line[13 + strlen(c->columns)] = '\0';
		KUNIT_EXPECT_STREQ(test, line + 13, c->columns);
	}
	KUNIT_EXPECT_EQ(test, !!find_line(test, text, ".LOS"), c->sub_there);

	/* Only -d has the details. */
	text = print(test, t, "android16", MEMLEDGER_TABLE_FULL);
	KUNIT_EXPECT_NULL(test, find_line(test, text, ".LOS"));
	KUNIT_EXPECT_NULL(test, find_line(test, text, "Dalvik Details"));
	text = print(test, t, "android16", MEMLEDGER_TABLE_SUMMARY_ONLY);
	KUNIT_EXPECT_NULL(test, find_line(test, text, "Stack"));
}

/* One VMA with SwapPss, and the swap column is of SwapPss everywhere. */
static void table_swap_pss_test(struct kunit *test)
{
	static const char *const want[] = {
		"",
		"** MEMINFO in pid 42 [com.example] **",
		"                   Pss  Private  Private  SwapPss      Rss     Heap     Heap     Heap",
		"                 Total    Dirty    Clean    Dirty    Total     Size    Alloc     Free",
		"                ------   ------   ------   ------   ------   ------   ------   ------",
		"  Native Heap       10       10        0        3       10        0        0        0",
		"  Dalvik Heap        0        0        0        0        0        0        0        0",
		"      Unknown        0        0        0        0        0                           ",
		"        TOTAL       13       10        0        3       10        0        0        0",
		" ",
		" App Summary",
		"                       Pss(KB)                        Rss(KB)",
		"                        ------                         ------",
		"           Java Heap:        0                              0",
		"         Native Heap:       10                             10",
		"                Code:        0                              0",
		"               Stack:        0                              0",
		"            Graphics:        0                              0",
		"       Private Other:        0",
		"              System:        3",
		"             Unknown:                                       0",
		" ",
		"           TOTAL PSS:       13            TOTAL RSS:       10       TOTAL SWAP PSS:        3",
	};
	struct memledger_totals *t = totals_alloc(test);

	t->CAT(NATIVE_HEAP) = (struct memledger_usage)ROW(10, 10, 10, 0, 0, 0);
	t->CAT(NATIVE_HEAP).swap = 8 * KB;
	t->CAT(NATIVE_HEAP).swap_pss_floor = 3 * KB;
	t->total = t->CAT(NATIVE_HEAP);
	/* Swap, but no share of it: nothing to print in this column. */
	t->CAT(STACK).swap = 4 * KB;
	t->total.swap += 4 * KB;
	expect_lines(test, print(test, t, "android16", 0), want,
		     ARRAY_SIZE(want));
}

/* Rows come in Android's order, whatever that of the enum is. */
static void table_order_test(struct kunit *test)
{
	static const char *const order[] = {
		"Native Heap", "Dalvik Heap", "Dalvik Other", "Stack",
		"Cursor", "Ashmem", "Gfx dev", "Other dev", ".so mmap",
		".jar mmap", ".apk mmap", ".ttf mmap", ".dex mmap",
		".oat mmap", ".art mmap", "Other mmap", "EGL mtrack",
		"GL mtrack", "Other mtrack", "Memfd", "Unknown", "TOTAL",
		" Dalvik Details",
		".Heap", ".LOS", ".Zygote", ".NonMoving", ".LinearAlloc",
		".GC", ".ZygoteJIT", ".AppJIT", ".CompilerMetadata",
		".IndirectRef", ".Boot vdex", ".App dex", ".App vdex",
		".App art", ".Boot art", " App Summary",
	};
	struct memledger_totals *t = totals_alloc(test);
	const char *p;
	unsigned int i;
	char *text;

	fill_primes(t);
	text = print(test, t, "android17", MEMLEDGER_TABLE_DALVIK);
	for (i = 0, p = text; i < ARRAY_SIZE(order); i++) {
		char label[24];
		const char *found;

		snprintf(label, sizeof(label), *order[i] == ' ' ?
			 "\n%s\n" : "\n%13s ", order[i]);
		found = strstr(p, label);
		KUNIT_ASSERT_NOT_NULL_MSG(test, found, "%s", order[i]);
		KUNIT_EXPECT_NULL_MSG(test, strstr(found + 1, label),
				      "%s twice", order[i]);
		p = found;
	}
}

static void table_labels_test(struct kunit *test)
{
	static const struct {
		const char *profile;
		const char *label;
		bool there;
	} cases[] = {
		{ "android10", ".JITCache", true },
		{ "android10", ".AppJIT", false },
		{ "android11", ".JITCache", false },
		{ "android11", ".AppJIT", true },
		{ "android16", ".AppJIT", true },
		{ "android17", ".AppJIT", true },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = print(test, &small, cases[i].profile,
				   MEMLEDGER_TABLE_DALVIK);

		KUNIT_EXPECT_EQ_MSG(test, !!find_line(test, text, cases[i].label),
				    cases[i].there, "%s of %s",
				    cases[i].label, cases[i].profile);
	}
}

static void table_negative_test(struct kunit *test)
{
	struct memledger_totals *t = totals_alloc(test);
	char *text;

	t->total = (struct memledger_usage)ROW(1, 3, 2, 0, 0, 0);
	t->CAT(NATIVE_HEAP) = (struct memledger_usage)ROW(7, 7, 7, 0, 0, 0);
	text = print(test, t, "android16", 0);
	KUNIT_EXPECT_STREQ(test, find_line(test, text, "Private Other:"),
			   "       Private Other:       -5");
	KUNIT_EXPECT_STREQ(test, find_line(test, text, "System:"),
			   "              System:       -1");
	KUNIT_EXPECT_STREQ(test, find_line(test, text, "Unknown:"),
			   "             Unknown:                                      -4");
}

static struct kunit_case summary_tests[] = {
	KUNIT_CASE(summary_formula_test),
	KUNIT_CASE(summary_real_test),
	KUNIT_CASE(summary_swap_test),
	KUNIT_CASE(summary_negative_test),
	KUNIT_CASE(table_default_test),
	KUNIT_CASE(table_full_test),
	KUNIT_CASE(table_summary_only_test),
	KUNIT_CASE_PARAM(table_presence_test, presence_gen_params),
	KUNIT_CASE(table_swap_pss_test),
	KUNIT_CASE(table_order_test),
	KUNIT_CASE(table_labels_test),
	KUNIT_CASE(table_negative_test),
	{}
};

static struct kunit_suite summary_suite = {
	.name = "memledger_summary",
	.test_cases = summary_tests,
};

kunit_test_suite(summary_suite);
