/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the names that mappings have on Android, and those that nearly are
 * such names, to the row each belongs in: one line a rule, one a near-miss.
 *
 * Plain data on <memledger/...> types, for KUnit and for tests on the host.
 */
#ifndef _MEMLEDGER_CLASSIFY_CASES_H
#define _MEMLEDGER_CLASSIFY_CASES_H

#include <memledger/classify.h>

/* Bits of memledger_classify_case.profiles, and their order. */
#define A10	0x1
#define A11	0x2
#define A16	0x4
#define A17	0x8
#define TO_11	(A10 | A11)
#define TO_16	(A10 | A11 | A16)
#define FROM_11	(A11 | A16 | A17)
#define FROM_16	(A16 | A17)
#define ALL	(A10 | A11 | A16 | A17)

static const char *const memledger_classify_case_profiles[] = {
	"android10", "android11", "android16", "android17",
};

#define MEMLEDGER_CLASSIFY_CASE_BELOW	3

/**
 * struct memledger_classify_case - a mapping and where it is counted
 * @desc: what the case is about
 * @profiles: bit mask of the profiles it holds in
 * @name: as in struct memledger_mapping, but NUL-terminated
 * @deleted: as there
 * @gap: pages between the mapping and the one below it
 * @category: expected
 * @subcategory: expected
 * @swappable: expected
 * @below: what is mapped below it, lowest first, up to a @below.name of NULL
 */
struct memledger_classify_case {
	const char *desc;
	u32 profiles;
	const char *name;
	bool deleted;
	u8 gap;
	u8 category;
	u8 subcategory;
	bool swappable;
	struct {
		const char *name;
		bool deleted;
		u8 gap;
	} below[MEMLEDGER_CLASSIFY_CASE_BELOW];
};

/* CASE: clean pages stay where they are; SWAP: they count as swappable. */
#define CASE(_desc, _profiles, _name, _category, _sub, ...)		\
	{								\
		.desc = _desc,						\
		.profiles = _profiles,					\
		.name = _name,						\
		.category = MEMLEDGER_CAT_##_category,			\
		.subcategory = MEMLEDGER_SUB_##_sub,			\
		__VA_ARGS__						\
	}
#define SWAP(...)	CASE(__VA_ARGS__, .swappable = true)

static const struct memledger_classify_case memledger_classify_cases[] = {
	/* native heap */
	CASE("brk heap", ALL, "[heap]", NATIVE_HEAP, NONE),
	CASE("brk heap is a prefix", ALL, "[heap]x", NATIVE_HEAP, NONE),
	CASE("brk heap without its bracket", ALL, "[heap", OTHER_MMAP, NONE),
	CASE("brk heap in capitals", ALL, "[HEAP]", OTHER_MMAP, NONE),
	CASE("brk heap not at the start", ALL, " [heap]", OTHER_MMAP, NONE),
	CASE("libc_malloc", ALL, "[anon:libc_malloc]", NATIVE_HEAP, NONE),
	CASE("libc_malloc is a prefix", ALL, "[anon:libc_malloc]x", NATIVE_HEAP, NONE),
	CASE("libc_malloc without its bracket", ALL, "[anon:libc_malloc", UNKNOWN, NONE),
	CASE("libc_malloc with more inside", ALL, "[anon:libc_malloc_x]", UNKNOWN, NONE),
	CASE("libc_malloc in capitals", ALL, "[anon:LIBC_MALLOC]", UNKNOWN, NONE),
	CASE("scudo on 10", A10, "[anon:scudo:primary]", UNKNOWN, NONE),
	CASE("scudo primary", FROM_11, "[anon:scudo:primary]", NATIVE_HEAP, NONE),
	CASE("scudo secondary", FROM_11, "[anon:scudo:secondary]", NATIVE_HEAP, NONE),
	CASE("scudo is open at its end", FROM_11, "[anon:scudo:", NATIVE_HEAP, NONE),
	CASE("scudo without a colon", ALL, "[anon:scudo]", UNKNOWN, NONE),
	CASE("scudo with a capital", ALL, "[anon:Scudo:primary]", UNKNOWN, NONE),
	CASE("GWP-ASan on 10", A10, "[anon:GWP-ASan Guard Page]", UNKNOWN, NONE),
	CASE("GWP-ASan", FROM_11, "[anon:GWP-ASan Guard Page]", NATIVE_HEAP, NONE),
	CASE("GWP-ASan is open at its end", FROM_11, "[anon:GWP-ASanX]", NATIVE_HEAP, NONE),
	CASE("GWP-ASan cut short", ALL, "[anon:GWP-ASa]", UNKNOWN, NONE),
	CASE("GWP-ASan in small letters", ALL, "[anon:gwp-asan]", UNKNOWN, NONE),

	/* stacks */
	CASE("main stack", ALL, "[stack]", STACK, NONE),
	CASE("thread stack of old kernels", ALL, "[stack:1234]", STACK, NONE),
	CASE("stack is open at its end", ALL, "[stack", STACK, NONE),
	CASE("stack cut short", ALL, "[stac]", OTHER_MMAP, NONE),
	CASE("stack with a capital", ALL, "[Stack]", OTHER_MMAP, NONE),
	CASE("pthread stack", ALL, "[anon:stack_and_tls:4711]", STACK, NONE),
	CASE("pthread stack without a colon", ALL, "[anon:stack_and_tls]", UNKNOWN, NONE),
	CASE("signal stack", ALL, "[anon:thread signal stack]", UNKNOWN, NONE),

	/* .so */
	SWAP(".so", ALL, "/system/lib64/libc.so", SO_MMAP, NONE),
	SWAP(".so and nothing else", ALL, ".so", SO_MMAP, NONE),
	SWAP(".so inside an .apk by name", ALL, "/data/base.apk!/lib/libx.so", SO_MMAP, NONE),
	SWAP(".so under /dev", ALL, "/dev/x.so", SO_MMAP, NONE),
	SWAP(".so in a memfd", ALL, "/memfd:x.so", SO_MMAP, NONE),
	SWAP(".so named kgsl-3d0", ALL, "/data/kgsl-3d0.so", SO_MMAP, NONE),
	SWAP(".so comes before [anon:", ALL, "[anon:x.so", SO_MMAP, NONE),
	CASE(".so comes after [heap]", ALL, "[heap].so", NATIVE_HEAP, NONE),
	CASE(".so comes after [stack", ALL, "[stack.so", STACK, NONE),
	CASE(".so with a version", ALL, "/usr/lib/libfoo.so.6", OTHER_MMAP, NONE),
	CASE(".so in capitals", ALL, "/system/lib64/libc.SO", OTHER_MMAP, NONE),
	CASE(".so and a blank", ALL, "/system/lib64/libc.so ", OTHER_MMAP, NONE),
	CASE("so without a dot", ALL, "/system/lib64/libcso", OTHER_MMAP, NONE),
	CASE("linker", ALL, "/system/bin/linker64", OTHER_MMAP, NONE),
	CASE("named bss", ALL, "[anon:.bss]", UNKNOWN, NONE),
	CASE("compat ELF label", ALL, "[anon:/x/libfoo.so (compat loaded)]", UNKNOWN, NONE),

	/* .jar .apk .ttf */
	SWAP(".jar", ALL, "/system/framework/framework.jar", JAR_MMAP, NONE),
	SWAP(".jar and nothing else", ALL, ".jar", JAR_MMAP, NONE),
	SWAP(".jar in an apex", ALL, "/apex/com.android.art/javalib/core-oj.jar", JAR_MMAP, NONE),
	CASE(".jar in capitals", ALL, "/x.JAR", OTHER_MMAP, NONE),
	CASE(".jar and more", ALL, "/x.jar2", OTHER_MMAP, NONE),
	SWAP(".apk", ALL, "/data/app/x/base.apk", APK_MMAP, NONE),
	SWAP(".apk and nothing else", ALL, ".apk", APK_MMAP, NONE),
	CASE(".apk in capitals", ALL, "/x.APK", OTHER_MMAP, NONE),
	CASE(".apk and more", ALL, "/x.apks", OTHER_MMAP, NONE),
	SWAP(".ttf", ALL, "/system/fonts/Roboto-Regular.ttf", TTF_MMAP, NONE),
	SWAP(".ttf and nothing else", ALL, ".ttf", TTF_MMAP, NONE),
	CASE(".ttf in capitals", ALL, "/x.TTF", OTHER_MMAP, NONE),
	CASE(".ttc", ALL, "/system/fonts/NotoSansCJK-Regular.ttc", OTHER_MMAP, NONE),
	CASE(".otf", ALL, "/system/fonts/x.otf", OTHER_MMAP, NONE),

	/* .dex */
	SWAP(".odex", ALL, "/data/app/x/oat/arm64/base.odex", DEX_MMAP, APP_DEX),
	SWAP(".odex and nothing else", ALL, ".odex", DEX_MMAP, APP_DEX),
	SWAP(".odex of the boot class path", ALL, "/system/boot.odex", DEX_MMAP, APP_DEX),
	CASE(".odex and more", ALL, "/x.odex2", OTHER_MMAP, NONE),
	SWAP(".dex", ALL, "/data/x/classes.dex", DEX_MMAP, APP_DEX),
	SWAP(".dex of five bytes", ALL, "a.dex", DEX_MMAP, APP_DEX),
	CASE(".dex of four bytes", ALL, ".dex", OTHER_MMAP, NONE),
	CASE(".dex of four bytes and a mark", ALL, ".dex (deleted)", OTHER_MMAP, NONE),
	SWAP(".dex before another suffix", ALL, "/x.dex.prof", DEX_MMAP, APP_DEX),
	SWAP(".dex before more letters", ALL, "/foo.dexter", DEX_MMAP, APP_DEX),
	SWAP(".dex in a directory", ALL, "/x.dex/file", DEX_MMAP, APP_DEX),
	SWAP(".dex of an .apk", ALL, "/data/dalvik-cache/arm64/system@app@Launcher.apk@classes.dex",
	     DEX_MMAP, APP_DEX),
	SWAP(".dex extracted into memory", ALL,
	     "[anon:dalvik-classes.dex extracted in memory from /data/app/base.apk]",
	     DEX_MMAP, APP_DEX),
	SWAP(".dex comes before .vdex", ALL, "/x.dex.vdex", DEX_MMAP, APP_DEX),
	SWAP(".dex comes before .oat", ALL, "/x.dex.oat", DEX_MMAP, APP_DEX),
	SWAP(".dex comes before /dev/ashmem", ALL, "/dev/ashmem/x.dex", DEX_MMAP, APP_DEX),
	SWAP(".dex comes before kgsl", ALL, "/dev/kgsl-3d0.dex", DEX_MMAP, APP_DEX),
	SWAP(".dex comes after .so", ALL, "/x.dex/lib.so", SO_MMAP, NONE),
	SWAP(".dex comes after .jar", ALL, "/x.dex.jar", JAR_MMAP, NONE),
	SWAP(".dex comes after .apk", ALL, "/x.dex.apk", APK_MMAP, NONE),
	SWAP(".dex comes after .ttf", ALL, "/x.dex.ttf", TTF_MMAP, NONE),
	CASE(".dex in capitals", ALL, "/x.DEX", OTHER_MMAP, NONE),
	CASE("dex without a dot", ALL, "/xdex", OTHER_MMAP, NONE),
	CASE("DEX data", ALL, "[anon:dalvik-DEX data]", DALVIK_OTHER, GC),

	/* .vdex */
	SWAP(".vdex of an app", ALL, "/data/app/x/oat/arm64/base.vdex", DEX_MMAP, APP_VDEX),
	SWAP(".vdex and nothing else", ALL, ".vdex", DEX_MMAP, APP_VDEX),
	SWAP(".vdex with /boot", ALL, "/system/framework/boot.vdex", DEX_MMAP, BOOT_VDEX),
	SWAP(".vdex with @boot", ALL, "/data/dalvik-cache/system@framework@boot.vdex",
	     DEX_MMAP, BOOT_VDEX),
	SWAP(".vdex under a directory /boot...", ALL, "/data/boots/x.vdex", DEX_MMAP, BOOT_VDEX),
	SWAP(".vdex with boot inside a word", ALL, "/data/reboot/x.vdex", DEX_MMAP, APP_VDEX),
	SWAP(".vdex with a capital Boot", ALL, "/system/Boot.vdex", DEX_MMAP, APP_VDEX),
	SWAP(".vdex with /apex on 10", A10, "/apex/com.android.art/core.vdex", DEX_MMAP, APP_VDEX),
	SWAP(".vdex with /apex", FROM_11, "/apex/com.android.art/core.vdex", DEX_MMAP, BOOT_VDEX),
	SWAP(".vdex with /apex not at the start", FROM_11, "/data/apex/x.vdex",
	     DEX_MMAP, BOOT_VDEX),
	SWAP(".vdex with apex inside a word", ALL, "/data/xapex/x.vdex", DEX_MMAP, APP_VDEX),
	SWAP(".vdex with @apex", ALL, "/data/x@apex@y.vdex", DEX_MMAP, APP_VDEX),
	CASE(".vdex and more", ALL, "/x.vdex2", OTHER_MMAP, NONE),
	CASE(".vdex in capitals", ALL, "/x.VDEX", OTHER_MMAP, NONE),

	/* .oat */
	SWAP(".oat", ALL, "/system/framework/arm64/boot.oat", OAT_MMAP, NONE),
	SWAP(".oat and nothing else", ALL, ".oat", OAT_MMAP, NONE),
	CASE(".oat and more", ALL, "/x.oats", OTHER_MMAP, NONE),
	CASE(".oat] is not as .art]", ALL, "/x.oat]", OTHER_MMAP, NONE),
	CASE(".oat in capitals", ALL, "/x.OAT", OTHER_MMAP, NONE),

	/* .art */
	SWAP(".art of an app", ALL, "/data/app/x/base.art", ART_MMAP, APP_ART),
	SWAP(".art and nothing else", ALL, ".art", ART_MMAP, APP_ART),
	SWAP(".art with /boot", ALL, "/system/framework/arm64/boot-framework.art",
	     ART_MMAP, BOOT_ART),
	SWAP(".art with @boot", ALL, "/data/dalvik-cache/system@framework@boot.art",
	     ART_MMAP, BOOT_ART),
	SWAP(".art with boot inside a word", ALL, "/data/reboot.art", ART_MMAP, APP_ART),
	SWAP(".art with /apex on 10", A10, "/apex/com.android.art/core.art", ART_MMAP, APP_ART),
	SWAP(".art with /apex", FROM_11, "/apex/com.android.art/core.art", ART_MMAP, BOOT_ART),
	SWAP(".art with /apex@ on 10", A10, "/data/dalvik-cache/apex@x@core.art",
	     ART_MMAP, APP_ART),
	SWAP(".art with /apex@", FROM_11, "/data/dalvik-cache/apex@x@core.art",
	     ART_MMAP, BOOT_ART),
	SWAP(".art with apex inside a word", ALL, "/data/xapex.art", ART_MMAP, APP_ART),
	SWAP(".art] and nothing else", ALL, ".art]", ART_MMAP, APP_ART),
	SWAP(".art] of an app", ALL, "[anon:dalvik-/data/app/base.art]", ART_MMAP, APP_ART),
	SWAP(".art] with /boot", ALL, "[anon:dalvik-/system/framework/boot.art]",
	     ART_MMAP, BOOT_ART),
	SWAP(".art] with @boot", ALL, "[anon:dalvik-/data/system@boot.art]", ART_MMAP, BOOT_ART),
	SWAP(".art] with /apex on 10", A10, "[anon:dalvik-/apex/x/core.art]", ART_MMAP, APP_ART),
	SWAP(".art] with /apex", FROM_11, "[anon:dalvik-/apex/x/core.art]", ART_MMAP, BOOT_ART),
	CASE(".art and more", ALL, "/x.art.gz", OTHER_MMAP, NONE),
	CASE(".art in capitals", ALL, "/x.ART", OTHER_MMAP, NONE),
	CASE(".art]]", ALL, "/x.art]]", OTHER_MMAP, NONE),
	CASE("boot image reservation", ALL, "[anon:dalvik-Boot image reservation]",
	     DALVIK_OTHER, GC),

	/* graphics */
	CASE("kgsl", ALL, "/dev/kgsl-3d0", GFX_DEV, NONE),
	CASE("kgsl is open at its end", ALL, "/dev/kgsl-3d0x", GFX_DEV, NONE),
	CASE("kgsl of 6.6 on 11", TO_11, "/kgsl-3d0", OTHER_MMAP, NONE),
	CASE("kgsl of 6.6", FROM_16, "/kgsl-3d0", GFX_DEV, NONE),
	CASE("kgsl elsewhere in /dev on 11", TO_11, "/dev/x/kgsl-3d0", OTHER_DEV, NONE),
	CASE("kgsl elsewhere in /dev", FROM_16, "/dev/x/kgsl-3d0", GFX_DEV, NONE),
	CASE("kgsl before ashmem on 11", TO_11, "/dev/ashmem/kgsl-3d0", ASHMEM, NONE),
	CASE("kgsl before ashmem", FROM_16, "/dev/ashmem/kgsl-3d0", GFX_DEV, NONE),
	CASE("kgsl before memfd on 11", TO_11, "/memfd:kgsl-3d0", OTHER_MMAP, NONE),
	CASE("kgsl before memfd", FROM_16, "/memfd:kgsl-3d0", GFX_DEV, NONE),
	CASE("kgsl before anon on 11", TO_11, "[anon:kgsl-3d0]", UNKNOWN, NONE),
	CASE("kgsl before anon", FROM_16, "[anon:kgsl-3d0]", GFX_DEV, NONE),
	CASE("kgsl before dalvik on 11", TO_11, "[anon:dalvik-kgsl-3d0]", DALVIK_OTHER, GC),
	CASE("kgsl before dalvik", FROM_16, "[anon:dalvik-kgsl-3d0]", GFX_DEV, NONE),
	CASE("kgsl after [heap]", ALL, "[heap]kgsl-3d0", NATIVE_HEAP, NONE),
	CASE("kgsl of another number", ALL, "/dev/kgsl-3d1", OTHER_DEV, NONE),
	CASE("kgsl control", ALL, "/dev/kgsl-control", OTHER_DEV, NONE),
	CASE("kgsl in capitals", ALL, "/dev/KGSL-3D0", OTHER_DEV, NONE),
	CASE("mali", ALL, "/dev/mali0", OTHER_DEV, NONE),
	CASE("powervr", ALL, "/dev/pvrsrvkm", OTHER_DEV, NONE),
	CASE("drm", ALL, "/dev/dri/renderD128", OTHER_DEV, NONE),
	CASE("dma-buf", ALL, "/dmabuf:", OTHER_MMAP, NONE),
	CASE("named dma-buf", ALL, "/dmabuf:system-uncached", OTHER_MMAP, NONE),
	CASE("dma-buf by inode", ALL, "anon_inode:dmabuf", OTHER_MMAP, NONE),

	/* the rest of /dev */
	CASE("cursor", ALL, "/dev/ashmem/CursorWindow: /data/x.db", CURSOR, NONE),
	CASE("cursor is open at its end", ALL, "/dev/ashmem/CursorWindowX", CURSOR, NONE),
	CASE("cursor in small letters", ALL, "/dev/ashmem/cursorwindow", ASHMEM, NONE),
	CASE("cursor cut short", ALL, "/dev/ashmem/CursorWindo", ASHMEM, NONE),
	CASE("cursor without ashmem", ALL, "/dev/CursorWindow", OTHER_DEV, NONE),
	CASE("ashmem zygote JIT on 10", A10, "/dev/ashmem/jit-zygote-cache", ASHMEM, NONE),
	CASE("ashmem zygote JIT", FROM_11, "/dev/ashmem/jit-zygote-cache",
	     DALVIK_OTHER, ZYGOTE_JIT),
	CASE("ashmem zygote JIT is open", FROM_11, "/dev/ashmem/jit-zygote-cachex",
	     DALVIK_OTHER, ZYGOTE_JIT),
	CASE("ashmem JIT of an app", ALL, "/dev/ashmem/jit-cache", ASHMEM, NONE),
	CASE("ashmem", ALL, "/dev/ashmem/MemoryHeapBase", ASHMEM, NONE),
	CASE("ashmem itself", ALL, "/dev/ashmem", ASHMEM, NONE),
	CASE("ashmem with a boot id", ALL, "/dev/ashmem3f1c-9a", ASHMEM, NONE),
	CASE("ashmem dalvik of Android 9", ALL, "/dev/ashmem/dalvik-main space", ASHMEM, NONE),
	CASE("ashmem libc of Android 4", ALL, "/dev/ashmem/libc malloc", ASHMEM, NONE),
	CASE("ashmem cut short", ALL, "/dev/ashme", OTHER_DEV, NONE),
	CASE("ashmem in capitals", ALL, "/dev/ASHMEM/x", OTHER_DEV, NONE),
	CASE("properties", ALL, "/dev/__properties__/u:object_r:x:s0", OTHER_DEV, NONE),
	CASE("binder", ALL, "/dev/binderfs/hwbinder", OTHER_DEV, NONE),
	CASE("dma heap", ALL, "/dev/dma_heap/system", OTHER_DEV, NONE),
	CASE("shared anonymous memory", ALL, "/dev/zero", OTHER_DEV, NONE, .deleted = true),
	CASE("/dev/", ALL, "/dev/", OTHER_DEV, NONE),
	CASE("/dev without its slash", ALL, "/dev", OTHER_MMAP, NONE),
	CASE("/devices", ALL, "/devices/x", OTHER_MMAP, NONE),
	CASE("/dev not at the start", ALL, "/mnt/dev/x", OTHER_MMAP, NONE),

	/* memfd */
	CASE("memfd JIT on 10", A10, "/memfd:jit-cache", OTHER_MMAP, NONE, .deleted = true),
	CASE("memfd JIT", FROM_11, "/memfd:jit-cache", DALVIK_OTHER, APP_JIT, .deleted = true),
	CASE("memfd JIT is open at its end", FROM_11, "/memfd:jit-cachexyz (deleted)",
	     DALVIK_OTHER, APP_JIT),
	CASE("memfd JIT cut short", TO_16, "/memfd:jit-cach", OTHER_MMAP, NONE),
	CASE("memfd JIT cut short on 17", A17, "/memfd:jit-cach", MEMFD, NONE),
	CASE("memfd JIT in capitals", TO_16, "/memfd:JIT-cache", OTHER_MMAP, NONE),
	CASE("memfd JIT in capitals on 17", A17, "/memfd:JIT-cache", MEMFD, NONE),
	CASE("memfd zygote JIT on 10", A10, "/memfd:jit-zygote-cache", OTHER_MMAP, NONE,
	     .deleted = true),
	CASE("memfd zygote JIT", FROM_11, "/memfd:jit-zygote-cache", DALVIK_OTHER, ZYGOTE_JIT,
	     .deleted = true),
	CASE("memfd zygote JIT is open", FROM_11, "/memfd:jit-zygote-cache2",
	     DALVIK_OTHER, ZYGOTE_JIT),
	CASE("memfd zygote JIT cut short", TO_16, "/memfd:jit-zygote", OTHER_MMAP, NONE),
	CASE("memfd zygote JIT cut short on 17", A17, "/memfd:jit-zygote", MEMFD, NONE),
	CASE("memfd", TO_16, "/memfd:x", OTHER_MMAP, NONE, .deleted = true),
	CASE("memfd on 17", A17, "/memfd:x", MEMFD, NONE, .deleted = true),
	CASE("memfd without a name", TO_16, "/memfd:", OTHER_MMAP, NONE),
	CASE("memfd without a name on 17", A17, "/memfd:", MEMFD, NONE),
	CASE("memfd cursor", TO_16, "/memfd:CursorWindow: x", OTHER_MMAP, NONE),
	CASE("memfd cursor on 17", A17, "/memfd:CursorWindow: x", CURSOR, NONE),
	CASE("memfd cursor in small letters on 17", A17, "/memfd:cursorwindow", MEMFD, NONE),
	CASE("memfd named as dalvik", TO_16, "/memfd:dalvik-main space", OTHER_MMAP, NONE),
	CASE("memfd named as dalvik on 17", A17, "/memfd:dalvik-main space", MEMFD, NONE),
	CASE("memfd without its colon", ALL, "/memfd", OTHER_MMAP, NONE),
	CASE("memfd without its slash", ALL, "memfd:x", OTHER_MMAP, NONE),
	CASE("named shmem", ALL, "[anon_shmem:dalvik-jit-code-cache]", OTHER_MMAP, NONE),

	/* other anonymous names */
	CASE("anon, no name", ALL, "[anon:]", UNKNOWN, NONE),
	CASE("anon, open", ALL, "[anon:", UNKNOWN, NONE),
	CASE("anon without its colon", ALL, "[anon]", OTHER_MMAP, NONE),
	CASE("anon with a capital", ALL, "[Anon:x]", OTHER_MMAP, NONE),
	CASE("v8", ALL, "[anon:v8]", UNKNOWN, NONE),
	CASE("partition_alloc", ALL, "[anon:partition_alloc]", UNKNOWN, NONE),
	CASE("linker_alloc", ALL, "[anon:linker_alloc]", UNKNOWN, NONE),
	CASE("bionic_alloc", ALL, "[anon:bionic_alloc_small_objects]", UNKNOWN, NONE),
	CASE("bionic TLS", ALL, "[anon:bionic TLS]", UNKNOWN, NONE),
	CASE("CFI shadow", ALL, "[anon:cfi shadow]", UNKNOWN, NONE),
	CASE("glibc", ALL, "[anon: glibc: loader malloc]", UNKNOWN, NONE),
	CASE("a file's name", ALL, "[anon:/data/app/x/base.apk]", UNKNOWN, NONE),

	/* dalvik */
	CASE("dalvik without its hyphen", ALL, "[anon:dalvik]", UNKNOWN, NONE),
	CASE("dalvik with a capital", ALL, "[anon:Dalvik-main space]", UNKNOWN, NONE),
	CASE("dalvik, no more", ALL, "[anon:dalvik-", DALVIK_OTHER, GC),
	CASE("dalvik, empty", ALL, "[anon:dalvik-]", DALVIK_OTHER, GC),
	CASE("LinearAlloc", ALL, "[anon:dalvik-LinearAlloc]", DALVIK_OTHER, LINEAR_ALLOC),
	CASE("LinearAlloc is open", ALL, "[anon:dalvik-LinearAllocX]", DALVIK_OTHER, LINEAR_ALLOC),
	CASE("LinearAlloc in small letters", ALL, "[anon:dalvik-linearalloc]", DALVIK_OTHER, GC),
	CASE("LinearAlloc not at the start", ALL, "[anon:dalvik-low LinearAlloc]",
	     DALVIK_OTHER, GC),
	CASE("alloc space", ALL, "[anon:dalvik-alloc space]", DALVIK_HEAP, HEAP),
	CASE("alloc space is open", ALL, "[anon:dalvik-alloc space 1]", DALVIK_HEAP, HEAP),
	CASE("allocspace without its blank", ALL,
	     "[anon:dalvik-allocspace main rosalloc space mark-bitmap 0]", DALVIK_OTHER, GC),
	CASE("main space", ALL, "[anon:dalvik-main space]", DALVIK_HEAP, HEAP),
	CASE("main space 1", ALL, "[anon:dalvik-main space 1]", DALVIK_HEAP, HEAP),
	CASE("main space (region space)", ALL, "[anon:dalvik-main space (region space)]",
	     DALVIK_HEAP, HEAP),
	CASE("main space without its blank", ALL, "[anon:dalvik-main-space]", DALVIK_OTHER, GC),
	CASE("main space cut short", ALL, "[anon:dalvik-main spac]", DALVIK_OTHER, GC),
	CASE("large object space", ALL, "[anon:dalvik-large object space allocation]",
	     DALVIK_HEAP, LOS),
	CASE("free list large object space", ALL, "[anon:dalvik-free list large object space]",
	     DALVIK_HEAP, LOS),
	CASE("large object free list", ALL,
	     "[anon:dalvik-large object free list space allocation info map]", DALVIK_OTHER, GC),
	CASE("large live objects", ALL, "[anon:dalvik-large live objects]", DALVIK_OTHER, GC),
	CASE("free list cut short", ALL, "[anon:dalvik-free list]", DALVIK_OTHER, GC),
	CASE("non moving space", ALL, "[anon:dalvik-non moving space]", DALVIK_HEAP, NON_MOVING),
	CASE("non moving space is open", ALL, "[anon:dalvik-non moving space 1]",
	     DALVIK_HEAP, NON_MOVING),
	CASE("non-moving space", ALL, "[anon:dalvik-non-moving space]", DALVIK_OTHER, GC),
	CASE("zygote space", ALL, "[anon:dalvik-zygote space]", DALVIK_HEAP, ZYGOTE),
	CASE("zygote / non moving space", ALL, "[anon:dalvik-zygote / non moving space]",
	     DALVIK_OTHER, GC),
	CASE("zygote-space", ALL, "[anon:dalvik-zygote-space]", DALVIK_OTHER, GC),
	CASE("indirect ref table", ALL, "[anon:dalvik-indirect ref table]",
	     DALVIK_OTHER, INDIRECT_REF),
	CASE("indirect ref is open", ALL, "[anon:dalvik-indirect references]",
	     DALVIK_OTHER, INDIRECT_REF),
	CASE("local ref table", ALL, "[anon:dalvik-local ref table]", DALVIK_OTHER, GC),
	CASE("JIT code", ALL, "[anon:dalvik-jit-code-cache]", DALVIK_OTHER, APP_JIT),
	CASE("JIT data", ALL, "[anon:dalvik-data-code-cache]", DALVIK_OTHER, APP_JIT),
	CASE("JIT code is open", ALL, "[anon:dalvik-jit-code-cache 2]", DALVIK_OTHER, APP_JIT),
	CASE("zygote JIT code", ALL, "[anon:dalvik-zygote-jit-code-cache]", DALVIK_OTHER, GC),
	CASE("zygote JIT data", ALL, "[anon:dalvik-zygote-data-code-cache]", DALVIK_OTHER, GC),
	CASE("JIT code in capitals", ALL, "[anon:dalvik-JIT-code-cache]", DALVIK_OTHER, GC),
	CASE("CompilerMetadata", ALL, "[anon:dalvik-CompilerMetadata]",
	     DALVIK_OTHER, COMPILER_METADATA),
	CASE("CompilerMetadata is open", ALL, "[anon:dalvik-CompilerMetadata 1]",
	     DALVIK_OTHER, COMPILER_METADATA),
	CASE("compilermetadata", ALL, "[anon:dalvik-compilermetadata]", DALVIK_OTHER, GC),
	CASE("card table", ALL, "[anon:dalvik-card table]", DALVIK_OTHER, GC),
	CASE("read barrier table", ALL, "[anon:dalvik-read barrier table]", DALVIK_OTHER, GC),

	/* any other name */
	CASE("vdso", ALL, "[vdso]", OTHER_MMAP, NONE),
	CASE("vvar", ALL, "[vvar]", OTHER_MMAP, NONE),
	CASE("vsyscall", ALL, "[vsyscall]", OTHER_MMAP, NONE),
	CASE("page size compat", ALL, "[page size compat]", OTHER_MMAP, NONE),
	CASE("executable", ALL, "/system/bin/app_process64", OTHER_MMAP, NONE),
	CASE("SysV shared memory", ALL, "/SYSV00000000", OTHER_MMAP, NONE, .deleted = true),
	CASE("socket", ALL, "socket:[4711]", OTHER_MMAP, NONE),
	CASE("one byte", ALL, "a", OTHER_MMAP, NONE),
	CASE("root directory", ALL, "/", OTHER_MMAP, NONE),
	CASE("bracket", ALL, "[", OTHER_MMAP, NONE),
	CASE("format string", ALL, "/%s%n", OTHER_MMAP, NONE),
	CASE("not ASCII", ALL, "/data/\xe5\xad\x97", OTHER_MMAP, NONE),
	SWAP("not ASCII, .ttf", ALL, "/data/\xe5\xad\x97.ttf", TTF_MMAP, NONE),
	SWAP("escaped newline before .so", ALL, "/data/x\\012.so", SO_MMAP, NONE),
	CASE("escaped newline behind .so", ALL, "/data/x.so\\012", OTHER_MMAP, NONE),
	CASE("rule behind an escaped newline", ALL, "/x\\012[heap]", OTHER_MMAP, NONE),
	SWAP("bare newline before .so", ALL, "/data/x\n.so", SO_MMAP, NONE),

	/* deleted files */
	SWAP("deleted by the kernel's word", ALL, "/x.so", SO_MMAP, NONE, .deleted = true),
	SWAP("deleted by its text", ALL, "/x.so (deleted)", SO_MMAP, NONE),
	CASE("deleted twice by its text", ALL, "/x.so (deleted) (deleted)", OTHER_MMAP, NONE),
	CASE("deleted both ways", ALL, "/x.so (deleted)", OTHER_MMAP, NONE, .deleted = true),
	CASE("deleted without its blank", ALL, "/x.so(deleted)", OTHER_MMAP, NONE),
	CASE("deleted with a capital", ALL, "/x.so (Deleted)", OTHER_MMAP, NONE),
	CASE("deleted and more", ALL, "/x.so (deleted) ", OTHER_MMAP, NONE),
	CASE("deleted and no name", ALL, "(deleted)", OTHER_MMAP, NONE),
	SWAP("deleted .art]", ALL, "/x.art] (deleted)", ART_MMAP, APP_ART),
	SWAP("deleted .odex", ALL, "/x.odex (deleted)", DEX_MMAP, APP_DEX),

	/* MTE globals: "[anon:mt:FILE+HEX]" reads as FILE from 16 on */
	CASE("MTE on 11", TO_11, "[anon:mt:/x/libfoo.so+e000]", UNKNOWN, NONE),
	SWAP("MTE", FROM_16, "[anon:mt:/x/libfoo.so+e000]", SO_MMAP, NONE),
	SWAP("MTE at 0", FROM_16, "[anon:mt:/x/libfoo.so+0]", SO_MMAP, NONE),
	SWAP("MTE in capitals", FROM_16, "[anon:mt:/x/libfoo.so+E000]", SO_MMAP, NONE),
	SWAP("MTE cut at its front", FROM_16, "[anon:mt:...ests/libfoo.so+e000]", SO_MMAP, NONE),
	SWAP("MTE with more signs", FROM_16, "[anon:mt:/a+b/libc++.so+1f]", SO_MMAP, NONE),
	SWAP("MTE, hex and more", FROM_16, "[anon:mt:/x/libfoo.so+e0zz]", SO_MMAP, NONE),
	SWAP("MTE of a deleted file", FROM_16, "[anon:mt:/x/libfoo.so (deleted)+e000]",
	     SO_MMAP, NONE),
	CASE("MTE of a program", FROM_16, "[anon:mt:/system/bin/app_process64+108000]",
	     OTHER_MMAP, NONE),
	CASE("MTE of a sign", FROM_16, "[anon:mt:++f]", OTHER_MMAP, NONE),
	CASE("MTE of nothing", ALL, "[anon:mt:+f]", UNKNOWN, NONE),
	CASE("MTE without a sign", ALL, "[anon:mt:/x/libfoo.so]", UNKNOWN, NONE),
	CASE("MTE without a number", ALL, "[anon:mt:/x/libfoo.so+]", UNKNOWN, NONE),
	CASE("MTE with letters", ALL, "[anon:mt:/x/libfoo.so+xyz]", UNKNOWN, NONE),
	CASE("MTE, the last sign counts", ALL, "[anon:mt:/x/libfoo.so+e000+]", UNKNOWN, NONE),
	CASE("MTE without its bracket", ALL, "[anon:mt:/x/libfoo.so+e000", UNKNOWN, NONE),
	CASE("MTE behind its bracket", ALL, "[anon:mt:/x/libfoo.so+e000] (deleted)",
	     UNKNOWN, NONE),
	CASE("MTE with a capital", ALL, "[anon:Mt:/x/libfoo.so+e000]", UNKNOWN, NONE),
	CASE("MTE without its colon", ALL, "[anon:mt/x/libfoo.so+e000]", UNKNOWN, NONE),
	CASE("MTE not at the start", ALL, "anon:mt:/x/libfoo.so+e000]", OTHER_MMAP, NONE),
	CASE("MTE cut short", ALL, "[anon:mt:", UNKNOWN, NONE),
	CASE("MTE, empty", ALL, "[anon:mt:]", UNKNOWN, NONE),

	/* no name */
	CASE("first, no name", ALL, "", UNKNOWN, NONE),
	CASE("no name, far from address 0", ALL, "", UNKNOWN, NONE, .gap = 9),
	CASE("after .so", ALL, "", SO_MMAP, NONE, .below = { { "/x.so" } }),
	CASE("after a deleted .so", ALL, "", SO_MMAP, NONE, .below = { { "/x.so", true } }),
	CASE("after .so, deleted by text", ALL, "", SO_MMAP, NONE,
	     .below = { { "/x.so (deleted)" } }),
	CASE("after .so, a gap of a page", ALL, "", UNKNOWN, NONE,
	     .below = { { "/x.so" } }, .gap = 1),
	CASE("after .so, second in the chain", ALL, "", SO_MMAP, NONE,
	     .below = { { "/x.so" }, { "" } }),
	CASE("after .so, third in the chain", ALL, "", SO_MMAP, NONE,
	     .below = { { "/x.so" }, { "" }, { "" } }),
	CASE("after .so, chain with a gap above", ALL, "", UNKNOWN, NONE,
	     .below = { { "/x.so" }, { "" } }, .gap = 1),
	CASE("after .so, chain with a gap below", ALL, "", UNKNOWN, NONE,
	     .below = { { "/x.so" }, { "", .gap = 1 } }),
	CASE("after .so and a named bss", ALL, "", UNKNOWN, NONE,
	     .below = { { "/x.so" }, { "[anon:.bss]" } }),
	CASE("after .so and another file", ALL, "", UNKNOWN, NONE,
	     .below = { { "/x.so" }, { "/x.apk" } }),
	CASE("after a second .so", ALL, "", SO_MMAP, NONE,
	     .below = { { "/x.so" }, { "/x.apk" }, { "/y.so" } }),
	CASE("after .so with a version", ALL, "", UNKNOWN, NONE, .below = { { "/x.so.6" } }),
	CASE("after .apk", ALL, "", UNKNOWN, NONE, .below = { { "/x.apk" } }),
	CASE("after .odex", ALL, "", UNKNOWN, NONE, .below = { { "/x.odex" } }),
	CASE("after no name", ALL, "", UNKNOWN, NONE, .below = { { "" } }),
	CASE("after MTE .so on 11", TO_11, "", UNKNOWN, NONE,
	     .below = { { "[anon:mt:/x.so+1]" } }),
	CASE("after MTE .so", FROM_16, "", SO_MMAP, NONE, .below = { { "[anon:mt:/x.so+1]" } }),
	CASE("MTE of nothing after .so on 11", TO_11, "[anon:mt:+f]", UNKNOWN, NONE,
	     .below = { { "/x.so" } }),
	CASE("MTE of nothing after .so", FROM_16, "[anon:mt:+f]", SO_MMAP, NONE,
	     .below = { { "/x.so" } }),
	CASE("named, after .so", ALL, "[anon:x]", UNKNOWN, NONE, .below = { { "/x.so" } }),
	CASE("file, after .so", ALL, "/x", OTHER_MMAP, NONE, .below = { { "/x.so" } }),
};

#undef A10
#undef A11
#undef A16
#undef A17
#undef TO_11
#undef TO_16
#undef FROM_11
#undef FROM_16
#undef ALL
#undef CASE
#undef SWAP

#define MEMLEDGER_CLASSIFY_CASE_PAGE	4096

/**
 * memledger_classify_case_run() - classify what is below, then the mapping
 * @c: the case
 * @profile: whose rules; one of those in @c->profiles
 * @name: @c->name, or a copy of it; need not be NUL-terminated
 *
 * The lowest mapping begins at address 0, which is also what a classifier
 * that has seen nothing might take for the end of the previous one.
 *
 * Return: the verdict on the mapping itself.
 */
static inline struct memledger_verdict
memledger_classify_case_run(const struct memledger_classify_case *c,
			    const struct memledger_profile *profile,
			    const char *name)
{
	struct memledger_classifier classifier;
	struct memledger_mapping mapping = { .end = 0 };
	unsigned int i;

	memledger_classifier_init(&classifier, profile);
	for (i = 0; i < MEMLEDGER_CLASSIFY_CASE_BELOW && c->below[i].name; i++) {
		mapping.start = mapping.end +
			c->below[i].gap * MEMLEDGER_CLASSIFY_CASE_PAGE;
		mapping.end = mapping.start + 3 * MEMLEDGER_CLASSIFY_CASE_PAGE;
		mapping.name = c->below[i].name;
		mapping.len = strlen(c->below[i].name);
		mapping.deleted = c->below[i].deleted;
		memledger_classifier_next(&classifier, &mapping);
	}
	mapping.start = mapping.end + c->gap * MEMLEDGER_CLASSIFY_CASE_PAGE;
	mapping.end = mapping.start + MEMLEDGER_CLASSIFY_CASE_PAGE;
	mapping.name = name;
	mapping.len = strlen(c->name);
	mapping.deleted = c->deleted;
	return memledger_classifier_next(&classifier, &mapping);
}

#endif
