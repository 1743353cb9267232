// SPDX-License-Identifier: GPL-2.0-only
/*
 * A row, or a name and the rule that placed it, in; what to know of it out.
 * Adding a note is adding a line.
 */
#include "notes.h"

/**
 * struct note - a sentence or two about mappings
 * @rule: what the rule is called, NULL for any
 * @starts: what the name begins with, NULL for anything
 * @contains: what is somewhere in it, NULL for anything
 * @text: the note
 */
struct note {
	const char *rule;
	const char *starts;
	const char *contains;
	const char *text;
};

static const struct {
	u8 category;
	const char *text;
} row_notes[] = {
	{ MEMLEDGER_CAT_NATIVE_HEAP,
	  "Heap Size, Alloc and Free of dumpsys are the process's own allocator's; no mapping tells them.",
	},
	{ MEMLEDGER_CAT_DALVIK_HEAP,
	  "Heap Size, Alloc and Free of dumpsys are the runtime's own; no mapping tells them.",
	},
	{ MEMLEDGER_CAT_UNKNOWN,
	  "dumpsys shows no more than this row; see memledger unknown.",
	},
	{ MEMLEDGER_CAT_EGL_MTRACK,
	  "Never a mapping: buffers that the GPU driver imported, divided by the imported rule; see memledger gpu.",
	},
	{ MEMLEDGER_CAT_GL_MTRACK,
	  "Never a mapping: what the GPU driver allocated and the process does not map; see memledger gpu.",
	},
	{ MEMLEDGER_CAT_OTHER_MTRACK,
	  "Never a mapping: a driver fills this row.",
	},
	{ MEMLEDGER_CAT_MEMFD,
	  "There since the profile android17; before, these were in Other mmap.",
	},
};

/* The first that fits is the one that is shown. */
static const struct note notes[] = {
	/* The kernel's names differ from those that Android's rules know. */
	{ NULL, "[anon_shmem:dalvik-jit-code-cache", NULL,
	  "ART's JIT code in shared memory. Android's rule asks for [anon:dalvik-jit-code-cache, so it drops this to Other mmap, and its App Summary to Private Other instead of Code.",
	},
	{ NULL, "[anon_shmem:dalvik-", NULL,
	  "ART's memory, but shared. Android's rules ask for [anon:dalvik-, so it is in no Dalvik row.",
	},
	{ NULL, "[anon_shmem:", NULL,
	  "Shared memory with a name. Android's rules know only names in [anon:.",
	},
	{ NULL, "/dev/zero", "(deleted)",
	  "Shared memory without a name (MAP_SHARED | MAP_ANONYMOUS): the kernel calls it /dev/zero, and so Android counts it as a device.",
	},
	{ NULL, "[anon: glibc:", NULL,
	  "glibc's malloc, which names its memory where glibc.mem.decorate_maps is set. Android knows bionic's names only; bionic's malloc is in Native Heap.",
	},
	{ NULL, "[anon:.bss]", NULL,
	  "A library's zeroed data, named by the linker. Android counts only a mapping without a name, right behind a .so, as .so mmap; one with this name is Unknown.",
	},
	{ "after:.so", NULL, NULL,
	  "No name, and begins where a .so ended: counted as that library's zeroed data, as Android does, whatever it is.",
	},
	{ NULL, "[anon:mt:", NULL,
	  "A library's tagged globals (MTE): counted as that file since the profile android16, in Unknown before.",
	},
	{ NULL, "/SYSV", "(deleted)",
	  "System V shared memory, which the kernel gives the name of a deleted file.",
	},

	/* Rules that ask for something a little different. */
	{ "prefix:[anon:dalvik-", "[anon:dalvik-zygote-jit-", NULL,
	  "The zygote's JIT cache under this name matches no rule for JIT caches: Android counts it in .GC.",
	},
	{ "prefix:[anon:dalvik-", "[anon:dalvik-zygote-data-code-cache", NULL,
	  "The zygote's JIT cache under this name matches no rule for JIT caches: Android counts it in .GC.",
	},
	{ "prefix:[anon:dalvik-", "[anon:dalvik-local ref table", NULL,
	  "JNI's local references: the rule for .IndirectRef asks for \"indirect ref\", so Android counts them in .GC.",
	},
	{ "prefix:[anon:dalvik-", "[anon:dalvik-allocspace", NULL,
	  "A bitmap of the heap. The rule for the heap itself asks for \"alloc space\", with a blank.",
	},
	{ "prefix:[anon:dalvik-", "[anon:dalvik-large ", NULL,
	  "About large objects, not the objects: those are called \"large object space\".",
	},
	{ "contains:.dex", "[anon:dalvik-", NULL,
	  "Code that was unpacked to memory: \".dex\" in the name counts before any rule for dalvik.",
	},
	{ "prefix:[anon:", "[anon:scudo", NULL,
	  "The rule for the native heap asks for \"[anon:scudo:\", with its colon.",
	},
	{ "prefix:[anon:", "[anon:libc_malloc", NULL,
	  "The rule for the native heap asks for \"[anon:libc_malloc]\", with its bracket.",
	},
	{ "named", NULL, ".so.",
	  "A library with a version behind .so: Android's rule asks for a name that ends in .so.",
	},

	/* Graphics. */
	{ NULL, "/dev/mali", NULL,
	  "A GPU's memory; see memledger gpu. Only Qualcomm's kgsl-3d0 is Gfx dev to Android.",
	},
	{ NULL, "/dev/dri/", NULL,
	  "A GPU's memory; see memledger gpu. Only Qualcomm's kgsl-3d0 is Gfx dev to Android.",
	},
	{ NULL, "/dev/pvrsrvkm", NULL,
	  "A GPU's memory; see memledger gpu. Only Qualcomm's kgsl-3d0 is Gfx dev to Android.",
	},
	{ "contains:kgsl-3d0", "/kgsl-3d0", NULL,
	  "The GPU's memory, as kernels since 6.6 call it; before the profile android16 this was in Other mmap.",
	},
	{ NULL, "/dmabuf", NULL,
	  "A graphics or camera buffer; see memledger dmabuf. What a driver reports of it is in the mtrack rows of dumpsys.",
	},

	/* Rows that other releases have. */
	{ "named", "/memfd:", NULL,
	  "In a row of its own, Memfd, since the profile android17.",
	},
	{ "suffix:.apk", NULL, NULL,
	  "Libraries that are loaded right out of an APK are here, too.",
	},

	/* What says nothing by itself. */
	{ NULL, "[anon:mappingowner", NULL,
	  "The name says who called mmap: see memledger unknown --by owner.",
	},
	{ "unnamed", NULL, NULL,
	  "No name: nothing but its mapper can say what it is; see memledger unknown --by owner.",
	},
	{ NULL, "[vsyscall]", NULL,
	  "The same page for every process, and in none's page tables.",
	},
	{ "named", NULL, "(deleted)",
	  "Android leaves the mark of a deleted file out before it looks at the name.",
	},
};

/**
 * memledger_note_of_row - say what to know of a row
 * @category: the row
 *
 * Return: a note, or NULL.
 */
const char *memledger_note_of_row(enum memledger_category category)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(row_notes); i++)
		if (row_notes[i].category == category)
			return row_notes[i].text;
	return NULL;
}

/**
 * memledger_note_of_name - say how Android would put it, where that surprises
 * @name: of a mapping; empty where it has none
 * @rule: that placed it
 *
 * Return: a note, or NULL.
 */
const char *memledger_note_of_name(const char *name,
				   const struct memledger_rule *rule)
{
	const struct note *note;

	for (note = notes; note < notes + ARRAY_SIZE(notes); note++)
		if ((!note->rule || !strcmp(note->rule, rule->name)) &&
		    (!note->starts ||
		     !strncmp(name, note->starts, strlen(note->starts))) &&
		    (!note->contains || strstr(name, note->contains)))
			return note->text;
	return NULL;
}
