// SPDX-License-Identifier: GPL-2.0-only
/*
 * VMAs in, names out: vma_name.c, with names that are odd or do not fit.
 */
#include <linux/err.h>
#include <linux/file.h>
#include <linux/mm.h>

#include <kunit/test.h>

#include "../module/vma_name.c"

#define BUF_SIZE	256

struct escape_case {
	const char *desc;
	size_t size;		/* of the buffer; the name ends where it does */
	const char *name;
	const char *want;	/* NULL: does not fit */
};

static const struct escape_case escape_cases[] = {
	{ "no newline", 16, "/abc", "/abc" },
	{ "no newline, no room to spare", 5, "/abc", "/abc" },
	{ "one newline", 16, "/a\nbc", "/a\\012bc" },
	{ "newline first", 16, "\nabc", "\\012abc" },
	{ "newline last", 16, "/abc\n", "/abc\\012" },
	{ "newlines only", 16, "\n\n\n", "\\012\\012\\012" },
	{ "one newline, no room to spare", 9, "/a\nbc", "/a\\012bc" },
	{ "one newline, a byte short", 8, "/a\nbc", NULL },
	{ "newlines only, no room to spare", 13, "\n\n\n", "\\012\\012\\012" },
	{ "newlines only, a byte short", 12, "\n\n\n", NULL },
	{ "no other byte is escaped", 32, "/\t\\ \x1b\x7f\xff\"%s",
	  "/\t\\ \x1b\x7f\xff\"%s" },
	{ "a backslash is not told apart", 32, "/\\012\n", "/\\012\\012" },
};

static void escape_desc(const struct escape_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(escape, escape_cases, escape_desc);

static void escape_test(struct kunit *test)
{
	const struct escape_case *c = test->param_value;
	size_t len = strlen(c->name);
	const char *name;
	char *buf;

	/* Of just this size, so that KASAN sees a step too far. */
	buf = kunit_kzalloc(test, c->size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	/* As d_path() leaves it: NUL last, the text right before it. */
	name = buf + c->size - 1 - len;
	memcpy(buf + c->size - 1 - len, c->name, len);

	KUNIT_ASSERT_EQ(test, escape_newlines(buf, c->size, &name, &len),
			!!c->want);
	if (!c->want)
		return;
	KUNIT_EXPECT_EQ(test, len, strlen(c->want));
	KUNIT_EXPECT_STREQ(test, name, c->want);
}

/**
 * struct fixture - a VMA and its mm
 * @vma: one page, nameless
 * @mm: brk area and stack are elsewhere
 * @file: for file_test(): what @vma maps
 * @buf: for the name
 */
struct fixture {
	struct vm_area_struct *vma;
	struct mm_struct *mm;
	struct file *file;
	char *buf;
};

#define START	0x10000000UL
#define END	(START + PAGE_SIZE)
#define FAR	(START + 0x1000000UL)

static int fixture_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	if (!f)
		return -ENOMEM;
	f->vma = kunit_kzalloc(test, sizeof(*f->vma), GFP_KERNEL);
	f->mm = kunit_kzalloc(test, sizeof(*f->mm), GFP_KERNEL);
	f->buf = kunit_kzalloc(test, BUF_SIZE, GFP_KERNEL);
	if (!f->vma || !f->mm || !f->buf)
		return -ENOMEM;

	init_rwsem(&f->mm->mmap_lock);
	f->mm->start_brk = FAR;
	f->mm->brk = FAR + PAGE_SIZE;
	f->mm->start_stack = 2 * FAR;
	f->vma->vm_mm = f->mm;
	f->vma->vm_start = START;
	f->vma->vm_end = END;
	test->priv = f;
	return 0;
}

static void fixture_exit(struct kunit *test)
{
	struct fixture *f = test->priv;

	if (f && f->file)
		fput(f->file);
}

static void expect_name(struct kunit *test, const char *what, size_t size,
			const char *want, bool deleted)
{
	struct fixture *f = test->priv;
	struct memledger_vma out = { .deleted = !deleted };

	memset(f->buf, 'x', BUF_SIZE);
	down_read(&f->mm->mmap_lock);
	memledger_vma_name(f->vma, f->buf, size, &out);
	up_read(&f->mm->mmap_lock);

	KUNIT_ASSERT_NOT_NULL(test, out.name);
	KUNIT_EXPECT_STREQ_MSG(test, out.name, want, "%s", what);
	KUNIT_EXPECT_EQ_MSG(test, out.len, strlen(want), "%s", what);
	KUNIT_EXPECT_EQ_MSG(test, out.deleted, deleted, "%s", what);
	KUNIT_EXPECT_EQ_MSG(test, f->buf[size], 'x', "%s", what);
}

struct file_case {
	const char *desc;
	const char *file;
	size_t size;
	const char *want;
	bool deleted;
};

#define TOO_LONG	MEMLEDGER_NAME_TOO_LONG

/* Such files have no place in a file system: maps prints "/NAME (deleted)". */
static const struct file_case file_cases[] = {
	{ "plain", "memfd:x", 64, "/memfd:x", true },
	{ "blanks", "memfd: x ", 64, "/memfd: x ", true },
	{ "no name", "memfd:", 64, "/memfd:", true },
	{ "called deleted", "memfd:x (deleted)", 64, "/memfd:x (deleted)", true },
	{ "newline", "memfd:a\nb", 64, "/memfd:a\\012b", true },
	{ "not ASCII", "memfd:\xe5\xad\x97", 64, "/memfd:\xe5\xad\x97", true },
	/* 8 + 10 + NUL */
	{ "no room to spare", "memfd:x", 19, "/memfd:x", true },
	{ "a byte short", "memfd:x", 18, TOO_LONG, false },
	{ "far too short", "memfd:x", 1, TOO_LONG, false },
	/* What the mark took is room for what a newline takes: 10 + 3 + NUL */
	{ "newline, just fits", "memfd:a\nb", 21, "/memfd:a\\012b", true },
};

static void file_desc(const struct file_case *c, char *desc)
{
	strscpy(desc, c->desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(file, file_cases, file_desc);

static void file_test(struct kunit *test)
{
	const struct file_case *c = test->param_value;
	struct fixture *f = test->priv;

	f->file = memledger_shmem_file_setup(c->file, PAGE_SIZE);
	if (IS_ERR(f->file)) {
		f->file = NULL;
		KUNIT_FAIL(test, "no shmem file");
		return;
	}
	f->vma->vm_file = f->file;
	expect_name(test, c->desc, c->size, c->want, c->deleted);
	f->vma->vm_file = NULL;
}

static const char *vdso_name(struct vm_area_struct *vma)
{
	return "[vdso]";
}

static const char *no_name(struct vm_area_struct *vma)
{
	return NULL;
}

static const struct vm_operations_struct vdso_ops = { .name = vdso_name };
static const struct vm_operations_struct nameless_ops = { .name = no_name };

/* The kernel's own words: who comes first, and which addresses they mean. */
static void special_test(struct kunit *test)
{
	struct fixture *f = test->priv;

	expect_name(test, "nameless", 64, "", false);
	f->vma->vm_ops = &nameless_ops;
	expect_name(test, "operations without a name", 64, "", false);

	f->mm->start_stack = START + 8;
	expect_name(test, "stack", 64, "[stack]", false);
	f->mm->start_brk = START;
	f->mm->brk = END;
	expect_name(test, "heap comes before stack", 64, "[heap]", false);
	f->vma->vm_ops = &vdso_ops;
	expect_name(test, "operations come first", 64, "[vdso]", false);

	f->vma->vm_ops = NULL;
	f->mm->start_stack = END + 8;
	expect_name(test, "heap", 64, "[heap]", false);
	f->mm->start_brk = START - 2 * PAGE_SIZE;
	f->mm->brk = START - PAGE_SIZE;
	expect_name(test, "above the heap", 64, "", false);
	f->mm->start_brk = END + PAGE_SIZE;
	f->mm->brk = END + 2 * PAGE_SIZE;
	expect_name(test, "below heap and stack", 64, "", false);
}

#ifdef CONFIG_ANON_VMA_NAME
static void anon_name_test(struct kunit *test)
{
	static const char text[] = "dalvik-main space (region space)";
	struct fixture *f = test->priv;
	struct anon_vma_name *name;

	name = kunit_kzalloc(test, sizeof(*name) + sizeof(text), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, name);
	memcpy(name->name, text, sizeof(text));
	f->vma->anon_name = name;

	expect_name(test, "named", 64,
		    "[anon:dalvik-main space (region space)]", false);
	f->vma->vm_ops = &vdso_ops;
	expect_name(test, "operations come first", 64, "[vdso]", false);
	f->vma->vm_ops = NULL;
	f->mm->start_stack = START;
	expect_name(test, "stack comes first", 64, "[stack]", false);
	f->mm->start_brk = START;
	f->mm->brk = END;
	expect_name(test, "heap comes first", 64, "[heap]", false);
}
#endif

/**
 * struct slot_case - what the walk comes across, one after the other
 * @anon: name of anonymous memory, or NULL
 * @file: name of a shmem object, or NULL
 * @special: the kernel has a word for it
 * @named: what it is called, if that is told; NULL if it is called like one
 *	before
 * @like: index of the case whose slot it has
 */
struct slot_case {
	const char *anon;
	const char *file;
	bool special;
	const char *named;
	unsigned int like;
};

/* 79 bytes, the longest name that anonymous memory can have. */
#define LONGEST "0123456789012345678901234567890123456789012345678901234567890123456789012345678"

static const struct slot_case slot_cases[] = {
	[0] = { .named = NULL, .like = 0 },
	[1] = { .special = true, .named = "[vdso]", .like = 1 },
	[2] = { .special = true, .like = 1 },
	[3] = { .file = "memfd:a", .named = "/memfd:a", .like = 3 },
	[4] = { .file = "memfd:a", .like = 3 },
	[5] = { .file = "memfd:b", .named = "/memfd:b", .like = 5 },
	[6] = { .file = "memfd:a", .like = 3 },
	[7] = { .file = "memfd:x\ny", .named = "/memfd:x\\012y", .like = 7 },
	[8] = { .file = "memfd:x\ny", .like = 7 },
	[9] = { .like = 0 },
#ifdef CONFIG_ANON_VMA_NAME
	[10] = { .anon = "scudo:primary", .named = "[anon:scudo:primary]",
		 .like = 10 },
	[11] = { .anon = "scudo:primary", .like = 10 },
	[12] = { .anon = "scudo:secondary", .named = "[anon:scudo:secondary]",
		 .like = 12 },
	[13] = { .anon = "scudo:primary", .like = 10 },
	/* Nothing but its first bytes tells it from another one. */
	[14] = { .anon = "Scudo:primary-and-much-more",
		 .named = "[anon:Scudo:primary-and-much-more]", .like = 14 },
	[15] = { .anon = "scudo:primary-and-much-more",
		 .named = "[anon:scudo:primary-and-much-more]", .like = 15 },
	/* Not worth remembering. */
	[16] = { .anon = "", .named = "[anon:]", .like = 16 },
	[17] = { .anon = "x", .named = "[anon:x]", .like = 17 },
	[18] = { .anon = "", .named = "[anon:]", .like = 16 },
	[19] = { .anon = LONGEST, .named = "[anon:" LONGEST "]", .like = 19 },
	[20] = { .anon = LONGEST, .like = 19 },
	[21] = { .special = true, .anon = "x", .like = 1 },
	/* The text is the same, but not what is made of it. */
	[22] = { .anon = "[vdso]", .named = "[anon:[vdso]]", .like = 22 },
	[23] = { .special = true, .like = 1 },
#endif
};

static void set_anon_name(struct kunit *test, struct vm_area_struct *vma,
			  const char *text)
{
#ifdef CONFIG_ANON_VMA_NAME
	struct anon_vma_name *name = NULL;

	if (text) {
		name = kunit_kzalloc(test, sizeof(*name) + strlen(text) + 1,
				     GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, name);
		memcpy(name->name, text, strlen(text) + 1);
	}
	vma->anon_name = name;
#endif
}

/**
 * struct learnt - what was told of names
 * @slots: whose they are
 * @nr: how often it was told anything since that was last looked at
 * @slot: of the last name
 * @text: the last name
 * @deleted: of the last name
 * @tail: it was only a part
 * @enough: what is to be said of a part
 */
struct learnt {
	struct memledger_name_slots slots;
	unsigned int nr;
	unsigned int slot;
	char text[BUF_SIZE];
	bool deleted;
	bool tail;
	bool enough;
};

static bool note_name(struct memledger_name_slots *slots, unsigned int slot,
		      const char *name, size_t len, bool deleted, bool tail)
{
	struct learnt *learnt = container_of(slots, struct learnt, slots);

	learnt->nr++;
	learnt->slot = slot;
	snprintf(learnt->text, sizeof(learnt->text), "%.*s", (int)len, name);
	learnt->deleted = deleted;
	learnt->tail = tail;
	return learnt->enough;
}

/*
 * With slots in memory that holds anything, @fill, and what was told in the
 * beginning gone.
 */
static struct learnt *make_filled_slots(struct kunit *test, int fill)
{
	struct learnt *learnt = kunit_kzalloc(test, sizeof(*learnt),
					      GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, learnt);
	memset(&learnt->slots, fill, sizeof(learnt->slots));
	memledger_name_slots_init(&learnt->slots, note_name);
	KUNIT_EXPECT_EQ(test, learnt->nr, 1U);
	KUNIT_EXPECT_EQ(test, learnt->slot,
			(unsigned int)MEMLEDGER_NAMELESS_SLOT);
	KUNIT_EXPECT_STREQ(test, learnt->text, "");
	KUNIT_EXPECT_FALSE(test, learnt->tail);
	learnt->nr = 0;
	return learnt;
}

static struct learnt *make_slots(struct kunit *test)
{
	return make_filled_slots(test, 0xff);
}

static void find_slot(struct fixture *f, struct memledger_name_slots *slots,
		      struct memledger_vma *out)
{
	down_read(&f->mm->mmap_lock);
	slots->buf = f->buf;
	slots->size = BUF_SIZE;
	memledger_vma_slot(f->vma, slots, out);
	up_read(&f->mm->mmap_lock);
}

static struct file *make_shmem(struct kunit *test, const char *name)
{
	struct file *file = memledger_shmem_file_setup(name, PAGE_SIZE);

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	return file;
}

/* A name is told once, and every VMA that has it has the same slot. */
static void expect_slots(struct kunit *test, int fill)
{
	unsigned int slot[ARRAY_SIZE(slot_cases)], i;
	struct learnt *learnt = make_filled_slots(test, fill);
	struct fixture *f = test->priv;

	for (i = 0; i < ARRAY_SIZE(slot_cases); i++) {
		const struct slot_case *c = &slot_cases[i];
		struct memledger_vma out = {};
		struct file *file = NULL;

		if (c->file)
			file = make_shmem(test, c->file);
		f->vma->vm_file = file;
		f->vma->vm_ops = c->special ? &vdso_ops : NULL;
		set_anon_name(test, f->vma, c->anon);

		find_slot(f, &learnt->slots, &out);
		slot[i] = out.slot;
		KUNIT_EXPECT_LT(test, slot[i], MEMLEDGER_NAME_SLOTS);
		KUNIT_EXPECT_EQ_MSG(test, slot[i], slot[c->like], "case %u", i);
		KUNIT_EXPECT_NULL(test, out.name);
		KUNIT_EXPECT_EQ_MSG(test, learnt->nr, c->named ? 1U : 0U,
				    "case %u", i);
		KUNIT_EXPECT_EQ_MSG(test, out.len,
				    c->named ? strlen(c->named) : 0,
				    "case %u", i);
		if (c->named) {
			KUNIT_EXPECT_STREQ(test, learnt->text, c->named);
			KUNIT_EXPECT_EQ(test, learnt->slot, slot[i]);
			KUNIT_EXPECT_EQ(test, learnt->deleted, !!c->file);
			KUNIT_EXPECT_FALSE(test, learnt->tail);
		}
		learnt->nr = 0;
		f->vma->vm_file = NULL;
		if (file)
			fput(file);
	}
}

static void slot_test(struct kunit *test)
{
	expect_slots(test, 0xff);
	/* As memory is mostly: an empty name is no slot that was never used. */
	expect_slots(test, 0);
}

/*
 * The file of the VMA before is not looked at again, but its slot may be
 * another name's by now.
 */
static void same_file_test(struct kunit *test)
{
	struct learnt *learnt = make_slots(test);
	struct memledger_name_slots *slots = &learnt->slots;
	struct file *file = make_shmem(test, "memfd:a");
	struct fixture *f = test->priv;
	struct memledger_vma out = {}, again = {};

	f->vma->vm_file = file;
	find_slot(f, slots, &out);
	KUNIT_EXPECT_EQ(test, learnt->nr, 1U);
	KUNIT_EXPECT_PTR_EQ(test, slots->file, (const struct file *)file);
	memset(slots->texts, 0, sizeof(slots->texts));
	find_slot(f, slots, &again);
	KUNIT_EXPECT_EQ(test, again.slot, out.slot);
	KUNIT_EXPECT_EQ(test, again.len, (size_t)0);
	KUNIT_EXPECT_EQ(test, learnt->nr, 1U);

	/* A text that is learnt may be in the place of the file's name. */
	f->vma->vm_file = make_shmem(test, "memfd:b");
	find_slot(f, slots, &again);
	fput(f->vma->vm_file);
	KUNIT_EXPECT_EQ(test, learnt->nr, 2U);
	f->vma->vm_file = file;
	find_slot(f, slots, &again);
	KUNIT_EXPECT_EQ(test, learnt->nr, 3U);
	KUNIT_EXPECT_STREQ(test, learnt->text, "/memfd:a");
#ifdef CONFIG_ANON_VMA_NAME
	f->vma->vm_file = NULL;
	set_anon_name(test, f->vma, "c");
	find_slot(f, slots, &again);
	KUNIT_EXPECT_EQ(test, learnt->nr, 4U);
	KUNIT_EXPECT_NULL(test, slots->file);
	set_anon_name(test, f->vma, NULL);
#endif
	/* This one's slot is anybody's. */
	fput(file);
	file = make_shmem(test, "memfd:" LONGEST);
	f->vma->vm_file = file;
	find_slot(f, slots, &again);
	KUNIT_EXPECT_EQ(test, again.slot, (u16)MEMLEDGER_OTHER_SLOT);
	learnt->nr = 0;
	find_slot(f, slots, &again);
	KUNIT_EXPECT_EQ(test, learnt->nr, 0U);
	f->vma->vm_file = make_shmem(test, "memfd:other" LONGEST);
	find_slot(f, slots, &again);
	fput(f->vma->vm_file);
	KUNIT_EXPECT_EQ(test, again.slot, (u16)MEMLEDGER_OTHER_SLOT);
	f->vma->vm_file = file;
	find_slot(f, slots, &again);
	KUNIT_EXPECT_EQ(test, learnt->nr, 2U);
	KUNIT_EXPECT_STREQ(test, learnt->text, "/memfd:" LONGEST);
	f->vma->vm_file = NULL;
	fput(file);
}

/* What may become different about the file at an address. */
enum file_change {
	NO_CHANGE,
	OTHER_MOUNT,
	OTHER_DIRECTORY,
	OTHER_NAME,
	OTHER_INODE,
	OTHER_NUMBER,
	OTHER_GENERATION,
	IS_UNLINKED,
	NR_FILE_CHANGES,
};

/**
 * struct mapped_file - all that the name of a mapped file is made of
 * @sb: not shmem's
 * @mnt: two mounts
 * @parent: two directories
 * @inode: two inodes
 * @dentry: the file's
 * @file: the open file
 * @path: its path
 */
struct mapped_file {
	struct super_block sb;
	struct vfsmount mnt[2];
	struct dentry parent[2];
	struct inode inode[2];
	struct dentry dentry;
	struct file file;
	struct path path;
};

/* Since 6.16 it is const, so that only dcache.c writes it. */
static void set_last_name(struct dentry *dentry, struct qstr name)
{
	*(struct qstr *)&dentry->d_name = name;
}

static void change_file(struct mapped_file *m, enum file_change change)
{
	struct qstr name;

	switch (change) {
	case OTHER_MOUNT:
		m->path.mnt = &m->mnt[1];
		break;
	case OTHER_DIRECTORY:
		m->dentry.d_parent = &m->parent[1];
		break;
	case OTHER_NAME:
		name = m->dentry.d_name;
		name.hash_len++;
		set_last_name(&m->dentry, name);
		break;
	case OTHER_INODE:
		m->file.f_inode = &m->inode[1];
		break;
	case OTHER_NUMBER:
		m->inode[1].i_ino++;
		break;
	case OTHER_GENERATION:
		m->inode[1].i_generation++;
		break;
	case IS_UNLINKED:
		m->dentry.d_hash.pprev = NULL;
		break;
	default:
		break;
	}
}

static struct mapped_file *make_file(struct kunit *test)
{
	static struct hlist_bl_node *hashed;
	struct mapped_file *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, m);
	m->sb.s_root = &m->parent[0];
	for (i = 0; i < ARRAY_SIZE(m->mnt); i++) {
		m->mnt[i].mnt_sb = &m->sb;
		m->mnt[i].mnt_root = m->sb.s_root;
	}
	m->dentry.d_sb = &m->sb;
	m->dentry.d_parent = &m->parent[0];
	m->dentry.d_hash.pprev = &hashed;
	set_last_name(&m->dentry,
		      (struct qstr)QSTR_INIT("libc.so and more", 7));
	spin_lock_init(&m->dentry.d_lock);
	m->file.f_inode = &m->inode[0];
	m->path.mnt = &m->mnt[0];
	m->path.dentry = &m->dentry;
	return m;
}

/* A file is known again as long as nothing about its name is different. */
static void file_slot_test(struct kunit *test)
{
	struct memledger_name_slots *slots = &make_slots(test)->slots;
	struct mapped_file *m = make_file(test);
	unsigned int change, slot;
	bool known;

	slot = file_slot(slots, &m->path, &m->file, &known);
	KUNIT_EXPECT_FALSE(test, known);
	for (change = 0; change < NR_FILE_CHANGES; change++) {
		change_file(m, change);
		KUNIT_EXPECT_EQ(test, file_slot(slots, &m->path, &m->file,
						&known), slot);
		KUNIT_EXPECT_EQ_MSG(test, known, change == NO_CHANGE,
				    "change %u", change);
		KUNIT_EXPECT_EQ(test, file_slot(slots, &m->path, &m->file,
						&known), slot);
		KUNIT_EXPECT_TRUE_MSG(test, known, "change %u", change);
	}
}

static char *print_itself(struct dentry *dentry, char *buf, int size)
{
	return buf;
}

/* The last part of a path is told only where it is the last part of a path. */
static void tail_test(struct kunit *test)
{
	static const struct dentry_operations no_ops, self_ops = {
		.d_dname = print_itself,
	};
	struct learnt *learnt = make_slots(test);
	struct mapped_file *m = make_file(test);
	struct dentry *dentry = &m->dentry;
	size_t len = 0;

	dentry->d_op = &no_ops;
	learnt->enough = true;
	KUNIT_EXPECT_TRUE(test, learn_tail(&learnt->slots, 7, &m->path, &len));
	KUNIT_EXPECT_EQ(test, len, (size_t)7);
	KUNIT_EXPECT_STREQ(test, learnt->text, "libc.so");
	KUNIT_EXPECT_EQ(test, learnt->slot, 7U);
	KUNIT_EXPECT_TRUE(test, learnt->tail);
	KUNIT_EXPECT_FALSE(test, learnt->deleted);
	KUNIT_EXPECT_FALSE(test, spin_is_locked(&dentry->d_lock));

	change_file(m, IS_UNLINKED);
	learnt->enough = false;
	KUNIT_EXPECT_FALSE(test, learn_tail(&learnt->slots, 7, &m->path, &len));
	KUNIT_EXPECT_TRUE(test, learnt->deleted);
	KUNIT_EXPECT_EQ(test, learnt->nr, 2U);

	learnt->enough = true;
	m->mnt[0].mnt_root = dentry;
	KUNIT_EXPECT_FALSE(test, learn_tail(&learnt->slots, 7, &m->path, &len));
	m->mnt[0].mnt_root = &m->parent[1];
	KUNIT_EXPECT_FALSE(test, learn_tail(&learnt->slots, 7, &m->path, &len));
	m->mnt[0].mnt_root = m->sb.s_root;
	dentry->d_op = &self_ops;
	KUNIT_EXPECT_FALSE(test, learn_tail(&learnt->slots, 7, &m->path, &len));
	dentry->d_op = &no_ops;
	dentry->d_parent = dentry;
	KUNIT_EXPECT_FALSE(test, learn_tail(&learnt->slots, 7, &m->path, &len));
	KUNIT_EXPECT_EQ(test, learnt->nr, 2U);
}

static struct kunit_case vma_name_tests[] = {
	KUNIT_CASE(slot_test),
	KUNIT_CASE(same_file_test),
	KUNIT_CASE(file_slot_test),
	KUNIT_CASE(tail_test),
	KUNIT_CASE_PARAM(escape_test, escape_gen_params),
	KUNIT_CASE_PARAM(file_test, file_gen_params),
	KUNIT_CASE(special_test),
#ifdef CONFIG_ANON_VMA_NAME
	KUNIT_CASE(anon_name_test),
#endif
	{}
};

static struct kunit_suite vma_name_suite = {
	.name = "memledger_vma_name",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = vma_name_tests,
};

kunit_test_suite(vma_name_suite);
