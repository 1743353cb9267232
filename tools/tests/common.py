# SPDX-License-Identifier: GPL-2.0-only
"""What the host tests share: TAP, runs of the command, smaps texts, and a
stand-in for /sys/kernel/memledger.
"""

import json
import os
import struct
import subprocess
import sys

BUILD = os.path.abspath(sys.argv[1])
TOOL = os.path.join(BUILD, "memledger")
SAMPLES = os.environ.get("MEMLEDGER_SAMPLES") or ""
PROFILES = ("android10", "android11", "android16", "android17")
NINE = ("pss swappable_pss rss private_dirty shared_dirty private_clean "
        "shared_clean swap swap_pss").split()
CATEGORIES = (
    "unknown dalvik_heap native_heap dalvik_other stack cursor ashmem gfx_dev "
    "other_dev so_mmap jar_mmap apk_mmap ttf_mmap dex_mmap oat_mmap art_mmap "
    "other_mmap egl_mtrack gl_mtrack other_mtrack memfd").split()
SUBCATEGORIES = (
    "heap los zygote non_moving linear_alloc gc zygote_jit app_jit "
    "compiler_metadata indirect_ref boot_vdex app_dex app_vdex app_art "
    "boot_art").split()
LABELS = (
    "Dalvik Other,Stack,Cursor,Ashmem,Gfx dev,Other dev,.so mmap,.jar mmap,"
    ".apk mmap,.ttf mmap,.dex mmap,.oat mmap,.art mmap,Other mmap,EGL mtrack,"
    "GL mtrack,Other mtrack,Memfd").split(",")
SUB_LABELS = (
    ".Heap,.LOS,.Zygote,.NonMoving,.LinearAlloc,.GC,.ZygoteJIT,.AppJIT,"
    ".CompilerMetadata,.IndirectRef,.Boot vdex,.App dex,.App vdex,.App art,"
    ".Boot art").split(",")
CLASSES = (
    "linker libc_alloc libc_other webview allocators leak_tools hooks "
    "mapping_owner unnamed_data unnamed_code unnamed_readonly "
    "unnamed_reserve named_other").split()
GRAPHICS_FIELDS = (
    "gpumem_mapped gpumem_unmapped gpumem_unaccounted gpumem_secure "
    "gpumem_reclaimed usermem imported_size imported_mem egl_surface_count "
    "egl_image_count entries").split()
USAGES = (
    "any framebuffer renderbuffer arraybuffer elementarraybuffer "
    "vertexarraybuffer texture surface egl_surface gl cl cl_buffer_map "
    "cl_buffer_nomap cl_image_map cl_image_nomap cl_kernel_stack command 2d "
    "egl_image egl_shadow multisample kernel other").split()
MTRACK = ("egl_mtrack", "gl_mtrack", "other_mtrack")

results = {"count": 0, "failed": 0}


def report(good, name, why=()):
    results["count"] += 1
    results["failed"] += not good
    print("%sok %d - %s" % ("" if good else "not ", results["count"], name))
    if not good:
        for line in why:
            print("# " + str(line))


def skip(name, why):
    results["count"] += 1
    print("ok %d - %s # SKIP %s" % (results["count"], name, why))


def expect(name, got, want):
    report(got == want, name, ("got  %r" % (got,), "want %r" % (want,)))


def run(*args, text=b"", stdout=subprocess.PIPE):
    if isinstance(text, str):
        text = text.encode()
    return subprocess.run((TOOL,) + args, input=text, stdout=stdout,
                          stderr=subprocess.PIPE, check=False)


def run_good(*args, text=b""):
    """Output of a run that must succeed, and be silent about it."""
    done = run(*args, text=text)
    if done.returncode or done.stderr:
        report(False, "run " + " ".join(args),
               (done.returncode, done.stderr.decode(errors="replace")))
    return done.stdout.decode()


def run_json(*args, text=b""):
    return json.loads(run_good(*args, "--json", text=text))


# --- smaps texts -----------------------------------------------------------

FIELDS = ("Size Rss Pss Shared_Clean Shared_Dirty Private_Clean Private_Dirty "
          "Shared_Hugetlb Private_Hugetlb Swap SwapPss").split()


def vma(start, pages, name="", without=(), perms="rw-p", offset=0, inode=0,
        **kb):
    """One mapping as the kernel prints it; kB by field, the rest 0."""
    kb.setdefault("Size", 4 * pages)
    lines = ["%x-%x %s %08x 00:00 %d %s" %
             (start, start + 4096 * pages, perms, offset, inode,
              name and " " * 20 + name)]
    for field in FIELDS:
        if field not in without:
            lines.append("%-15s %8d kB" % (field + ":", kb.get(field, 0)))
    return "\n".join(lines) + "\n"


# A name for each category, and for each sub-category.
NAMES = {
    "unknown": "[anon:.bss]", "dalvik_heap": None,
    "native_heap": "[anon:scudo:primary]", "dalvik_other": None,
    "stack": "[stack]", "cursor": "/dev/ashmem/CursorWindow: /x.db",
    "ashmem": "/dev/ashmem/x", "gfx_dev": "/dev/kgsl-3d0",
    "other_dev": "/dev/binder", "so_mmap": "/lib/a b.so",
    "jar_mmap": "/x.jar", "apk_mmap": "/x.apk", "ttf_mmap": "/x.ttf",
    "oat_mmap": "/x.oat", "other_mmap": "[vdso]", "memfd": "/memfd:x",
}
SUB_NAMES = {
    "heap": "[anon:dalvik-main space]",
    "los": "[anon:dalvik-large object space]",
    "zygote": "[anon:dalvik-zygote space]",
    "non_moving": "[anon:dalvik-non moving space]",
    "linear_alloc": "[anon:dalvik-LinearAlloc]",
    "gc": "[anon:dalvik-card table]",
    "zygote_jit": "/memfd:jit-zygote-cache (deleted)",
    "app_jit": "[anon:dalvik-jit-code-cache]",
    "compiler_metadata": "[anon:dalvik-CompilerMetadata]",
    "indirect_ref": "[anon:dalvik-indirect ref table]",
    "boot_vdex": "/system/framework/boot.vdex", "app_dex": "/x/base.odex",
    "app_vdex": "/x/base.vdex", "app_art": "/x/base.art",
    "boot_art": "/system/framework/boot.art",
}


def everything(swap_pss):
    """A text with a mapping in each row, no two numbers of it alike."""
    text, number = "", 1000
    names = [name for name in NAMES.values() if name]
    for i, name in enumerate(names + list(SUB_NAMES.values())):
        kb = {}
        for field in FIELDS[1:]:
            number += 7
            kb[field] = number
        kb["SwapPss"] *= swap_pss
        # More than what is private, as in any text of a kernel.
        kb["Pss"] += kb["Private_Clean"] + kb["Private_Dirty"]
        text += vma(0x100000000 + i * 0x100000, 16, name, **kb)
    return text


# --- a stand-in for the module's files -------------------------------------

USAGE_WORDS = 15
TOTALS = struct.Struct("=%dQ" % (USAGE_WORDS * (
    1 + len(CATEGORIES) + len(SUBCATEGORIES) + len(CLASSES))))
# Then what the GPU driver says, and other drivers' devices, RSS and PSS.
GRAPHICS = struct.Struct("=%dQ" % (len(GRAPHICS_FIELDS) + len(USAGES) + 2))
HEAD = struct.Struct("=IIIHHHHHHIiQQQQII16s16s")
MAGIC = 0x4c4d454d


def record(pid, comm=b"app", profile=b"android16", unavailable=3, complete=1,
           magic=MAGIC, version=1, size=None, categories=len(CATEGORIES),
           classes=len(CLASSES), generation=(7, 7), heap_pss=0, unknown=(),
           rows=(), usages=len(USAGES), rule=1, graphics=(), usage=(),
           device=(0, 0)):
    """A record of so many bytes of native heap, of classes of Unknown, of
    rows, and of graphics.
    """
    words = [0] * (TOTALS.size // 8)

    def add(row, number):
        """PSS in fixed point, RSS, the floor of PSS, and a mapping."""
        at = row * USAGE_WORDS
        words[at] += number << 12
        words[at + 2] += number
        words[at + 9] += number
        words[at + 12] += 1

    for row in (0, 1 + CATEGORIES.index("native_heap")):
        add(row, heap_pss)
    for name, pss in dict(unknown).items():
        for row in (0, 1 + CATEGORIES.index("unknown"),
                    1 + len(CATEGORIES) + len(SUBCATEGORIES) +
                    CLASSES.index(name)):
            add(row, pss)
    for name, pss in dict(rows).items():
        for row in (0, 1 + CATEGORIES.index(name)):
            add(row, pss)
    numbers = [dict(graphics).get(name, 0) for name in GRAPHICS_FIELDS] + \
        [dict(usage).get(name, 0) for name in USAGES] + \
        [device[0], device[1] << 12]
    whole = HEAD.size + TOTALS.size + GRAPHICS.size + 8
    return HEAD.pack(magic, version, size or whole, categories,
                     len(SUBCATEGORIES), classes, usages, rule, 0, 4096, pid,
                     generation[0],
                     12000000034, 5, 6, complete, unavailable, comm, profile) \
        + TOTALS.pack(*words) + GRAPHICS.pack(*numbers) + \
        struct.pack("=Q", generation[1])


def make_sysfs(directory, pid, data, abi="1\n",
               profiles="android10 android11 [android16] android17\n"):
    module = os.path.join(directory, "kernel", "memledger")
    process = os.path.join(module, "processes", str(pid))
    os.makedirs(process, exist_ok=True)
    for path, content in (("abi", abi), ("profile", profiles), ("track", ""),
                          ("untrack", "")):
        with open(os.path.join(module, path), "w", encoding="ascii") as file:
            file.write(content)
    for path, content in (("record", data), ("refresh", b"")):
        with open(os.path.join(process, path), "wb") as file:
            file.write(content)
    return module


def make_details(directory, pid, files):
    """The process's directory in debugfs."""
    process = os.path.join(directory, "kernel", "debug", "memledger",
                           "processes", str(pid))
    os.makedirs(process, exist_ok=True)
    for path, content in files.items():
        if isinstance(content, str):
            content = content.encode()
        with open(os.path.join(process, path), "wb") as file:
            file.write(content)
    return process


def read(*path):
    with open(os.path.join(*path), encoding="latin-1") as file:
        return file.read()
