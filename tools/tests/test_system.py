# SPDX-License-Identifier: GPL-2.0-only
"""Host tests of all processes at once: memledger procrank, librank, showmap,
top, and meminfo without a process.
"""

import json
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import termios
import time
import fcntl

from common import (CATEGORIES, TOOL, expect, make_sysfs, record, report, run,
                    run_good, run_json, vma)

KB = 1024
PROCESS = ("vmas vss rss pss uss swap swap_pss pss_floor swap_pss_floor "
           "private_dirty shared_dirty private_clean shared_clean "
           "swappable_pss").split()
ROW = "rss pss uss swap swap_pss pss_floor swap_pss_floor".split()
MTRACK = ("egl_mtrack", "gl_mtrack", "other_mtrack")
HEAD = "# memledger 1 start_ns 5000000123 profile android16 page_size 4096 " \
    "pss_method page swap_pss %d anon_names 1\n"
END = "# end_ns 5000800000 walk_ns 700000 processes %d shared %d complete %d\n"


def process(pid, name, adj=None, comm=None, shares=None, complete=1, rows=(),
            **total):
    return dict(pid=pid, name=name, adj=adj, comm=comm or name, shares=shares,
                complete=complete, rows=dict(rows), total=total)


PROCESSES = (
    process(1, "/init", -1000, vss=9000 * KB, rss=3000 * KB + 512,
            pss=1999 * KB + 1023, uss=1000 * KB, pss_floor=1999 * KB, vmas=40,
            private_dirty=900 * KB, private_clean=100 * KB,
            rows={"native_heap": dict(rss=900 * KB, pss=900 * KB,
                                      uss=900 * KB, pss_floor=900 * KB),
                  "other_mmap": dict(rss=2100 * KB, pss=1099 * KB + 1023,
                                     uss=100 * KB, pss_floor=1099 * KB)}),
    process(70, "com.example.app", 0, comm="example.app", vss=99000 * KB,
            rss=50000 * KB, pss=45000 * KB, uss=40000 * KB, swap=3000 * KB,
            swap_pss=2000 * KB, pss_floor=45000 * KB,
            swap_pss_floor=2000 * KB, vmas=2000,
            rows={"native_heap": dict(rss=30000 * KB, pss=30000 * KB,
                                      uss=30000 * KB, swap=3000 * KB,
                                      swap_pss=2000 * KB,
                                      pss_floor=30000 * KB,
                                      swap_pss_floor=2000 * KB),
                  "dalvik_heap": dict(rss=20000 * KB, pss=15000 * KB,
                                      uss=10000 * KB, pss_floor=15000 * KB)}),
    process(300, "a cached one", 905, comm="cached\\012", vss=20000 * KB,
            rss=4000 * KB, pss=3000 * KB, uss=2000 * KB, pss_floor=3000 * KB,
            swap=10 * KB, swap_pss=10 * KB, swap_pss_floor=10 * KB, vmas=70,
            rows={"unknown": dict(rss=4000 * KB, pss=3000 * KB,
                                  uss=2000 * KB, swap=10 * KB,
                                  swap_pss=10 * KB, pss_floor=3000 * KB,
                                  swap_pss_floor=10 * KB)}),
    process(400, "", 905, comm="vforked", shares=300),
    process(5000, None, None, comm="gone", complete=0, vss=8 * KB, rss=4 * KB,
            pss=4 * KB, pss_floor=4 * KB, vmas=1,
            rows={"stack": dict(rss=4 * KB, pss=4 * KB, pss_floor=4 * KB)}),
)


def snapshot(processes=PROCESSES, swap_pss=1, mtrack=None, complete=None):
    """The module's file, and what it ends in."""
    columns = ["tgid", "shares", "complete"] + PROCESS + \
        ["%s.%s" % (category, field) for category in CATEGORIES
         for field in ROW] + ["comm"]
    lines = [" ".join(columns)]

    def cells(numbers, fields, known):
        return ["-" if not known or (not swap_pss and "swap_pss" in field)
                else "%d" % numbers.get(field, 0) for field in fields]

    for proc in processes:
        own = proc["shares"] is None
        words = ["%d" % proc["pid"], "-" if own else "%d" % proc["shares"],
                 "%d" % proc["complete"] if own else "-"]
        words += cells(proc["total"], PROCESS, own)
        for category in CATEGORIES:
            known = own and category != "memfd" and \
                (category not in MTRACK or mtrack is not None)
            numbers = proc["rows"].get(category, {})
            if mtrack and category in MTRACK:
                numbers = mtrack.get(proc["pid"], {}).get(category, {})
            words += cells(numbers, ROW, known)
        lines.append(" ".join(words + [proc["comm"]]))
    shared = sum(proc["shares"] is not None for proc in processes)
    if complete is None:
        complete = all(proc["complete"] for proc in processes)
    return HEAD % swap_pss + "\n".join(lines) + "\n" + \
        END % (len(processes), shared, complete)


MEMINFO = dict(
    MemTotal=2000000, MemFree=900000, Buffers=1000, Cached=300000,
    SwapCached=500, Active=200000, Inactive=150000, Unevictable=100,
    SwapTotal=262140, SwapFree=262140 - 4000, Mapped=120000, Shmem=20000,
    KReclaimable=30000, Slab=70000, SReclaimable=25000, SUnreclaim=45000,
    KernelStack=4000, PageTables=6000, SecPageTables=10, VmallocUsed=12000,
    Percpu=2000, Hugetlb=4096)

DMABUF = """# generation 1 timestamp_ns 5 walk_ns 6 complete 1 list 0
# buffer ino size holders exporter name
# holder ino tgid fds maps imports mapped_bytes smaps_rss smaps_pss pss comm
# exporter count size name
buffer 7 8388608 2 system -
holder 7 1 1 1 0 8388608 0 0 4194304 init
holder 7 70 1 0 1 0 0 0 4194304 app
buffer 8 2097152 1 udmabuf -
holder 8 70 1 1 0 2097152 0 0 2097152 app
buffer 9 1048576 1 system -
holder 9 70 1 0 0 0 0 0 1048576 app
buffer 10 4194304 1 kgsl -
holder 10 70 1 1 0 4194304 4194304 3145728 4194304 app
exporter 2 9437184 system
exporter 1 4194304 kgsl
exporter 1 2097152 udmabuf
"""


def write(directory, files):
    for path, text in files.items():
        path = os.path.join(directory, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if text is None:
            if os.path.exists(path):
                os.unlink(path)
            continue
        with open(path, "wb") as file:
            file.write(text.encode("latin-1"))


def make(directory, files=(), meminfo=(), **how):
    """A whole system; returns the options that lead to it."""
    sysfs = os.path.join(directory, "system")
    shutil.rmtree(sysfs, ignore_errors=True)
    numbers = dict(MEMINFO, **dict(meminfo))
    contents = {
        "kernel/memledger/abi": "1\n",
        "kernel/debug/memledger/snapshot": snapshot(**how),
        "kernel/debug/memledger/mappings": MAPPINGS,
        "kernel/debug/memledger/dmabuf": DMABUF,
        "kernel/memledger/gpu/mem_total": "!95",
        "kernel/memledger/gpu/total": "!95",
        "kernel/memledger/gpu/carveouts/static": "!95",
        "kernel/memledger/gpu/carveouts/reusable": "!95",
        "kernel/dma_heap/total_pools_kb": "123\n",
        "block/zram0/mm_stat": "5 3 1048576 0 0 0 0 0 0\n",
        "block/zram1/mm_stat": "5 3 2097152 0 0 0 0 0 0\n",
        "kernel/mm/ksm/pages_sharing": "10\n",
        "kernel/mm/ksm/pages_shared": "2\n",
        "kernel/mm/ksm/pages_unshared": "3\n",
        "kernel/mm/ksm/pages_volatile": "4\n",
        "proc/meminfo": "".join("%-15s %8d kB\n" % (name + ":", kb)
                                for name, kb in numbers.items()
                                if kb is not None),
    }
    for proc in PROCESSES:
        if proc["name"] is not None:
            contents["proc/%d/cmdline" % proc["pid"]] = \
                proc["name"] and proc["name"] + "\0--flag\0"
            contents["proc/%d/oom_score_adj" % proc["pid"]] = \
                "%d\n" % proc["adj"]
    contents.update(dict(files))
    write(sysfs, contents)
    return ("--sysfs", sysfs, "--proc", os.path.join(sysfs, "proc"))


def mapping(pid, name, perms="r-xp", deleted="-", **numbers):
    return "mapping %d %s %s %s %s\n" % (
        pid, " ".join("%d" % numbers.get(field, 0) for field in PROCESS),
        perms, deleted, name)


MAPPINGS = HEAD % 1 + "# process tgid shares complete comm\n" + \
    "# mapping tgid " + " ".join(PROCESS) + " perms deleted name\n" + \
    "process 1 - 1 init\n" + \
    mapping(1, "/lib/a b.so", vmas=1, vss=800 * KB, rss=400 * KB, pss=200 * KB,
            uss=0) + \
    mapping(1, "/lib/a b.so", "rw-p", vmas=1, vss=8 * KB, rss=8 * KB,
            pss=8 * KB, uss=8 * KB, swap=4 * KB, swap_pss=4 * KB) + \
    mapping(1, "[heap]", "rw-p", vmas=1, vss=900 * KB, rss=900 * KB,
            pss=900 * KB, uss=900 * KB) + \
    "process 70 - 1 example.app\n" + \
    mapping(70, "/lib/a b.so", vmas=1, vss=800 * KB, rss=500 * KB,
            pss=300 * KB, uss=100 * KB) + \
    mapping(70, "/lib/gone.so", deleted="deleted", vmas=1, vss=4 * KB,
            rss=4 * KB, pss=4 * KB, uss=4 * KB) + \
    mapping(70, "", "rw-p", vmas=3, vss=5000 * KB, rss=4000 * KB,
            pss=4000 * KB, uss=4000 * KB) + \
    mapping(70, "/dev/x\\012\x1b", "rw-s", vmas=1, vss=16 * KB) + \
    "process 300 70 - cached\n" + END % (3, 1, 1)


def same_text(name, got, want):
    """Without the path of the stand-in and the kernel's release."""
    report(got == want, name,
           [line for line in list(zip(got.split("\n"), want.split("\n")))
            if line[0] != line[1]][:5])


def source(where, path):
    return "Source: %s/kernel/debug/memledger/%s, kernel %s, page size " \
        "4096, profile android16, PSS by page\n" % (where[1], path,
                                                    os.uname().release)


PASS = "One pass over 5 processes, from 5.000000123 to 5.000800000 s after " \
    "boot, 700 us of work\n" \
    "1 of them has the memory of another, and is counted with it.\n" \
    "Incomplete: not everything could be seen; numbers are too small.\n"
USWAP = "Unavailable: uswap (the module does not tell swap that nobody " \
    "shares)\n"
WARNING = "memledger: not everything could be seen, so that the numbers are " \
    "too small: try again\n"


def run_warned(name, *args):
    """Output of a run that says that the pass was not complete."""
    done = run(*args)
    expect(name + ": says that it is not complete",
           (done.returncode, done.stderr.decode()), (0, WARNING))
    return done.stdout.decode()


# --- procrank --------------------------------------------------------------

# Sort order by option: pids, those without numbers of their own last.
ORDERS = (
    (("-p",), [70, 300, 1, 5000, 400]), ((), [70, 300, 1, 5000, 400]),
    (("-v",), [70, 300, 1, 5000, 400]), (("-r",), [70, 300, 1, 5000, 400]),
    (("-u",), [70, 300, 1, 5000, 400]), (("-s",), [70, 300, 1, 5000, 400]),
    (("-R",), [5000, 1, 300, 70, 400]), (("-s", "-R"), [1, 5000, 300, 70, 400]),
    (("-o",), [5000, 300, 70, 1, 400]), (("-o", "-R"), [1, 70, 300, 5000, 400]),
    (("--top", "2"), [70, 300]),
)

PROCRANK = """\
  PID       Vss      Rss      Pss      Uss     Swap    PSwap    USwap    ZSwap  cmdline
   70    99000K   50000K   45000K   40000K    3000K    2000K        -    1536K  com.example.app
  300    20000K    4000K    3000K    2000K      10K      10K        -       7K  a cached one
    1     9000K    3000K    1999K    1000K       0K       0K        -       0K  /init
 5000        8K       4K       4K       0K       0K       0K        -       0K  gone (incomplete)
  400         -        -        -        -        -        -        -        -  vforked (memory of 300)
                           ------   ------   ------   ------   ------   ------  ------
                           50003K   43000K    3010K    2010K        -    1543K  TOTAL

ZRAM: 3072K physical used for 4000K in swap (262140K total swap)
 RAM: 2000000K total, 900000K free, 1000K buffers, 300000K cached, 20000K shmem, 70000K slab

"""

PROCRANK_PLAIN = """\
  PID    oom       Vss      Rss      Pss      Uss  cmdline
 5000      -        8K       4K       4K       0K  gone (incomplete)
  300    905    20000K    4000K    3000K    2000K  a cached one
   70      0    99000K   50000K   45000K   40000K  com.example.app
    1  -1000     9000K    3000K    1999K    1000K  /init
  400    905         -        -        -        -  vforked (memory of 300)
                                  ------   ------  ------
                                  50003K   43000K  TOTAL

 RAM: 2000000K total, 900000K free, 1000K buffers, 300000K cached, 20000K shmem, 70000K slab

"""


def pids_of(text):
    pids = []
    for line in text.split("\n")[1:]:
        word = line.split()[0] if line.split() else ""
        if not word.isdigit():
            break
        pids.append(int(word))
    return pids


def test_procrank(directory):
    where = make(directory)
    same_text("procrank", run_warned("procrank", "procrank", *where),
              PROCRANK + source(where, "snapshot") + PASS + USWAP)
    for options, pids in ORDERS:
        text = run(*(("procrank",) + options + where)).stdout.decode()
        expect("procrank %s" % " ".join(options), pids_of(text), pids)

    where = make(directory, meminfo={"SwapTotal": 0, "SwapFree": 0})
    same_text("procrank -o without swap",
              run("procrank", "-o", *where).stdout.decode(),
              PROCRANK_PLAIN + source(where, "snapshot") + PASS)

    where = make(directory, swap_pss=0)
    lines = run("procrank", *where).stdout.decode().split("\n")
    expect("procrank: SwapPss unavailable", lines[1].split(),
           "70 99000K 50000K 45000K 40000K 3000K - - - com.example.app"
           .split())
    report("Unavailable: swap_pss" in lines, "procrank: says so", lines)

    where = make(directory, files={"block/zram0/mm_stat": None,
                                   "block/zram1/mm_stat": None})
    lines = run("procrank", *where).stdout.decode().split("\n")
    expect("procrank: no zram", (lines[0].split()[-2:], [
        line for line in lines if "ZRAM" in line]),
           (["USwap", "cmdline"],
            ["ZRAM: - physical used for 4000K in swap (262140K total swap)"]))


def test_json(directory):
    where = make(directory)
    data = json.loads(run("procrank", "--json", *where).stdout)
    expect("procrank --json: keys", sorted(data), sorted(
        "profile start_ns end_ns walk_ns complete unit source kernel page_size "
        "pss_method anon_names swap_pss total category processes".split()))
    expect("procrank --json: the pass",
           [data[key] for key in ("start_ns", "end_ns", "walk_ns", "complete",
                                  "unit", "swap_pss")],
           [5000000123, 5000800000, 700000, False, "bytes", True])
    categories = [c for c in CATEGORIES if c != "memfd"]
    for got, want in zip(sorted(data["processes"], key=lambda p: p["pid"]),
                         PROCESSES):
        known = want["shares"] is None
        total = {field: want["total"].get(field, 0) if known else None
                 for field in PROCESS}
        rows = {category: {field: want["rows"].get(category, {}).get(field, 0)
                           if known and category not in MTRACK else None
                           for field in ROW} for category in categories}
        comm = want["comm"].replace("\\012", "\n")
        expect("procrank --json: process %d" % want["pid"], got, {
            "pid": want["pid"], "comm": comm, "name": want["name"] or comm,
            "shares": want["shares"], "oom_score_adj": want["adj"],
            "complete": bool(want["complete"]), "total": total,
            "category": rows})
    expect("procrank --json: sums", (data["total"], data["category"]), (
        {field: sum(p["total"].get(field, 0) for p in PROCESSES)
         for field in PROCESS},
        {category: {field: sum(p["rows"].get(category, {}).get(field, 0)
                               for p in PROCESSES)
                    if category not in MTRACK else None for field in ROW}
         for category in categories}))

    where = make(directory, swap_pss=0)
    data = json.loads(run("procrank", "--json", *where).stdout)
    nulls = {key for key, value in data["processes"][0]["total"].items()
             if value is None}
    expect("procrank --json: SwapPss unavailable", nulls,
           {"swap_pss", "swap_pss_floor"})
    same_text("top --once --json is the same",
              run("top", "--once", "--json", *where).stdout.decode(),
              run("procrank", "--json", *where).stdout.decode())


# --- meminfo without a process ---------------------------------------------

BY_PROCESS = """\
Total %s by process:
%s
Total %s by OOM adjustment:
%s
Total %s by category:
%s
"""


def items(*pairs, indent=""):
    return "".join("%s%s: %s\n" % (indent, "{:>11,}K".format(kb), label)
                   for kb, label in pairs)


def blank_items(*labels):
    return "".join("%12s: %s\n" % ("-", label) for label in labels)


LABELS = {
    "unknown": "Unknown", "dalvik_heap": "Dalvik Heap",
    "native_heap": "Native Heap", "stack": "Stack",
    "other_mmap": "Other mmap",
}
ZERO_LABELS = ("Dalvik Other", "Cursor", "Ashmem", "Gfx dev", "Other dev",
               ".so mmap", ".jar mmap", ".apk mmap", ".ttf mmap", ".dex mmap",
               ".oat mmap", ".art mmap")
MTRACK_LABELS = ("EGL mtrack", "GL mtrack", "Other mtrack")


def dumpsys():
    rss = BY_PROCESS % (
        "RSS",
        items((50000, "com.example.app (pid 70)"),
              (4000, "a cached one (pid 300)"), (3000, "/init (pid 1)"),
              (4, "gone (pid 5000)")), "RSS",
        items((3000, "Native")) + items((3000, "/init (pid 1)"), indent="    ")
        + items((50000, "Foreground"))
        + items((50000, "com.example.app (pid 70)"), indent="    ")
        + items((4000, "Cached"))
        + items((4000, "a cached one (pid 300)"), indent="    ")
        + items((4, "(has exited, or no known adjustment)"))
        + items((4, "gone (pid 5000)"), indent="    "), "RSS",
        items((30900, "Native Heap"), (20000, "Dalvik Heap"),
              (4000, "Unknown"), (2100, "Other mmap"), (4, "Stack"))
        + items(*((0, label) for label in ZERO_LABELS))
        + blank_items(*MTRACK_LABELS))
    pss = BY_PROCESS % (
        "PSS",
        items((47000, "com.example.app (pid 70)"),
              (3010, "a cached one (pid 300)"), (1999, "/init (pid 1)"),
              (4, "gone (pid 5000)")), "PSS",
        items((1999, "Native")) + items((1999, "/init (pid 1)"), indent="    ")
        + items((47000, "Foreground"))
        + items((47000, "com.example.app (pid 70)"), indent="    ")
        + items((3010, "Cached"))
        + items((3010, "a cached one (pid 300)"), indent="    ")
        + items((4, "(has exited, or no known adjustment)"))
        + items((4, "gone (pid 5000)"), indent="    "), "PSS",
        items((30900, "Native Heap"), (15000, "Dalvik Heap"),
              (3000, "Unknown"), (1099, "Other mmap"), (4, "Stack"))
        + items(*((0, label) for label in ZERO_LABELS))
        + blank_items(*MTRACK_LABELS))
    return "Applications Memory Usage (in Kilobytes):\n\n" + rss + pss


RAM = """\
Total RAM: 2,000,000K
 Free RAM: 1,114,510K (    3,010K cached pss +   211,500K cached kernel +   900,000K free)
  DMA-BUF:    15,360K (   14,336K mapped +     1,024K unmapped)
DMA-BUF Heaps pool:       123K
      GPU:          - (         - dmabuf +          - private)
 Used RAM:   142,243K (   58,219K used pss +    84,024K kernel)
 Lost RAM:   742,185K
     ZRAM:     3,072K physical used for     4,000K in swap (  262,140K total swap)
      KSM:        40K saved from shared         8K;        12K unshared;        16K volatile
Unaccounted:   634,410K that is in none of the kernel's counters
"""


def ram_of(data):
    """The results, from the terms, once more and by other means."""
    term = {name: value["bytes"] or 0
            for name, value in data["ram"]["terms"].items()}
    known = {name for name, value in data["ram"]["terms"].items()
             if value["bytes"] is not None}
    reclaimable = term["kreclaimable" if "kreclaimable" in known else
                       "sreclaimable"]
    unmapped = term["dmabuf_size"] - term["dmabuf_mapped"] - \
        (term["dmabuf_in_shmem"] - term["dmabuf_mapped_in_shmem"])
    private = max(term["gpu_total"] - term["gfx_dev"], 0) \
        if "gpu_total" in known else term["gl_mtrack"]
    all_pss = term["pss"] - term["gl_mtrack"] + term["dmabuf_mapped"] - \
        term["dmabuf_in_pss"] - term["dmabuf_mapped_in_shmem"] - \
        (term["egl_mtrack"] if "dmabuf_size" in known else 0)
    cached = term["buffers"] + reclaimable + term["cached"] + \
        term["swap_cached"] - term["mapped"]
    kernel = term["shmem"] + term["sunreclaim"] + term["vmalloc_used"] + \
        term["page_tables"] + unmapped + private
    return {
        "total_ram": term["mem_total"],
        "free_ram": term["cached_pss"] + cached + term["mem_free"],
        "used_ram": all_pss - term["cached_pss"] + kernel,
        "lost_ram": term["mem_total"] - (all_pss - term["swap_pss"]) -
                    term["mem_free"] - cached - kernel - term["zram"],
        "all_pss": all_pss, "used_pss": all_pss - term["cached_pss"],
        "cached_kernel": cached, "used_kernel": kernel,
        "dmabuf_unmapped": unmapped if "dmabuf_size" in known else None,
        "gpu_private": private if known & {"gpu_total", "gl_mtrack"} else None,
        "unaccounted": term["mem_total"] - term["mem_free"] -
                       term["active"] - term["inactive"] -
                       term["unevictable"] - reclaimable -
                       term["sunreclaim"] - term["vmalloc_used"] -
                       term["page_tables"] - term["sec_page_tables"] -
                       term["percpu"] - term["hugetlb"] - term["zram"] -
                       term["dmabuf_size"] + term["dmabuf_in_shmem"] -
                       term["gpu_total"],
    }


TERMS = {
    "mem_total": 2000000, "pss": 52013, "swap_pss": 2010, "cached_pss": 3010,
    "zram": 3072, "dma_heap_pools": 123, "ksm_sharing": 40,
    "dmabuf_size": 15360, "dmabuf_mapped": 14336, "dmabuf_in_pss": 3072,
    "dmabuf_in_shmem": 2048, "dmabuf_mapped_in_shmem": 2048,
    "gpu_total": None, "gl_mtrack": None, "gfx_dev": 0,
    "carveouts_static": None, "carveouts_reusable": None,
}


def check_ram(name, data, terms):
    expect(name + ": terms",
           {term: data["ram"]["terms"][term]["bytes"] for term in terms},
           {term: kb if kb is None else kb * KB for term, kb in terms.items()})
    expect(name + ": results",
           {key: value for key, value in data["ram"].items()
            if key not in ("complete", "terms", "unavailable", "reasons")},
           ram_of(data))
    expect(name + ": null is unavailable, with its reason",
           ({term for term, value in data["ram"]["terms"].items()
             if value["bytes"] is None}, set(data["ram"]["reasons"])),
           (set(data["ram"]["unavailable"]), set(data["ram"]["unavailable"])))


def test_system(directory):
    where = make(directory)
    text = run_warned("system", "system", *where)
    same_text("system: processes, classes, categories",
              text.split("Total RAM:")[0], dumpsys())
    same_text("system: RAM", "Total RAM:" + text.split("Total RAM:")[1]
              .split("\nWhat that")[0], RAM)
    same_text("meminfo without a process is the same",
              run("meminfo", *where).stdout.decode(), text)
    data = json.loads(run("system", "--json", *where).stdout)
    check_ram("system", data, TERMS)
    for term, value in data["ram"]["terms"].items():
        line = [line for line in text.split("\n")
                if line.split()[:1] == [term]]
        report(len(line) == 1 and line[0].endswith("  " + value["source"]),
               "system: source of " + term, (line, value))
    expect("system --json: order", [p["pid"] for p in data["processes"]],
           [70, 300, 1, 5000, 400])

    # With a GPU driver and its tracepoint.
    egl, gl = 7000 * KB, 5000 * KB
    where = make(directory, files={
        "kernel/memledger/gpu/mem_total": "%d\n" % (20000 * KB),
        "kernel/memledger/gpu/total": "%d\n" % (6000 * KB)},
        mtrack={70: {"egl_mtrack": dict(rss=egl, pss=egl, pss_floor=egl),
                     "gl_mtrack": dict(rss=gl, pss=gl, pss_floor=gl)}})
    text = run("system", *where).stdout.decode()
    data = json.loads(run("system", "--json", *where).stdout)
    check_ram("system with a GPU", data, dict(
        TERMS, gpu_total=6000, gpu_mem_total=20000, egl_mtrack=7000,
        gl_mtrack=5000))
    report("      GPU:    20,000K (   14,000K dmabuf +     6,000K private)\n"
           in text, "system with a GPU: its line", text.split("\n"))

    # With a device tree that tells of carve-outs: part of no sum.
    where = make(directory, files={
        "kernel/memledger/gpu/carveouts/static": "%d\n" % (11264 * KB),
        "kernel/memledger/gpu/carveouts/reusable": "%d\n" % (16384 * KB)})
    text = run("system", *where).stdout.decode()
    data = json.loads(run("system", "--json", *where).stdout)
    check_ram("system with carve-outs", data, dict(
        TERMS, carveouts_static=11264, carveouts_reusable=16384))
    same_text("system with carve-outs: RAM", "Total RAM:" +
              text.split("Total RAM:")[1].split("\nWhat that")[0],
              RAM.replace("Unaccounted:",
                          "Carve-outs:    11,264K beside total RAM;    "
                          "16,384K inside, and in lost RAM where in use\n"
                          "Unaccounted:"))

    where = make(directory, files={"kernel/debug/memledger/dmabuf":
                                   DMABUF.replace("complete 1", "complete 0")})
    text = run("system", *where).stdout.decode()
    data = json.loads(run("system", "--json", *where).stdout)
    expect("system: not all DMA-BUFs",
           (data["ram"]["complete"],
            "Incomplete: not all DMA-BUFs could be seen.\n" in text),
           (False, True))

    # What an old kernel, or one without the drivers, does not have.
    where = make(directory, files={
        "kernel/debug/memledger/dmabuf": "!95",
        "kernel/dma_heap/total_pools_kb": None, "block/zram0/mm_stat": None,
        "block/zram1/mm_stat": None, "kernel/mm/ksm/pages_sharing": None,
        "proc/vmallocinfo": "0x1-0x2 8192 a+0x1 pages=1 vmalloc\n"
                            "0x3-0x4 8192 b+0x1 phys=1 ioremap\n"
                            "0x5-0x9 20480 c+0x1 pages=4 vmalloc\n"},
        meminfo={"KReclaimable": None, "SecPageTables": None,
                 "VmallocUsed": 0}, swap_pss=0)
    data = json.loads(run("system", "--json", *where).stdout)
    check_ram("system on an old kernel", data, {
        "dmabuf_size": None, "dma_heap_pools": None, "zram": None,
        "ksm_sharing": None, "kreclaimable": None, "vmalloc_used": 20,
        "swap_pss": None, "pss": 50003})
    lines = run("system", *where).stdout.decode().split("\n")
    expect("system on an old kernel: results of nothing",
           [line.split()[1] for line in lines
            if line.split()[:1] in (["dmabuf_unmapped"], ["gpu_private"])],
           ["-", "-"])
    report(data["ram"]["terms"]["vmalloc_used"]["source"]
           .endswith("/vmallocinfo pages"), "system: VmallocUsed from there",
           data["ram"]["terms"]["vmalloc_used"])


ADJUSTMENTS = (
    (-1000, "Native"), (-901, "Native"), (-900, "System"),
    (-800, "Persistent"), (-700, "Persistent Service"),
    (-1, "Persistent Service"), (0, "Foreground"), (99, "Foreground"),
    (100, "Visible"), (200, "Perceptible"), (224, "Perceptible"),
    (225, "Perceptible"), (249, "Perceptible"), (250, "Perceptible Medium"),
    (299, "Perceptible Medium"), (300, "Backup"), (400, "Heavy Weight"),
    (500, "A Services"), (600, "Home"), (700, "Previous"),
    (800, "B Services"), (900, "Cached"), (1000, "Cached"),
)


def test_adjustments(directory):
    for adj, label in ADJUSTMENTS:
        where = make(directory, files={"proc/70/oom_score_adj":
                                       "%d\n" % adj})
        text = run("system", *where).stdout.decode()
        block = text.split("Total PSS by OOM adjustment:\n")[1]
        lines = block.split("\n\n")[0].split("\n")
        at = [i for i, line in enumerate(lines) if "(pid 70)" in line][0]
        while lines[at].startswith("    ") and "(pid" in lines[at]:
            at -= 1
        expect("system: adjustment %d" % adj,
               lines[at].split(": ", 1)[1], label)


# --- librank ---------------------------------------------------------------

LIBRANK = """\
 RSStot       VSS      RSS      PSS      USS     Swap  Name/PID
   508K                                                /lib/a b.so
             800K     500K     300K     100K       0K    com.example.app [70]
             808K     408K     208K       8K       4K    /init [1]
     4K                                                /lib/gone.so (deleted)
               4K       4K       4K       4K       0K    com.example.app [70]
     0K                                                /dev/x\\134012\\033
              16K       0K       0K       0K       0K    com.example.app [70]

RSStot is the sum of PSS, as librank has it.

"""
MAPPINGS_PASS = \
    "One pass over 3 processes, from 5.000000123 to 5.000800000 s after " \
    "boot, 700 us of work\n" \
    "1 of them has the memory of another, and is counted with it.\n"


def names_of(text):
    """The lines that begin with a number, and what stands at their end."""
    return [line.split("K", 1)[1].strip() for line in text.split("\n")
            if line[:6].strip().isdigit() and line[6:7] == "K"]


def test_librank(directory):
    where = make(directory)
    same_text("librank", run_good("librank", *where),
              LIBRANK + source(where, "mappings") + MAPPINGS_PASS)
    cases = (
        (("-a",), ["[anon]", "[heap]", "/lib/a b.so", "/lib/gone.so (deleted)",
                   "/dev/x\\134012\\033"]),
        (("-P", "/lib/a"), ["/lib/a b.so"]), (("-P", "nowhere"), []),
        (("-m", "rw"), ["/lib/a b.so", "/dev/x\\134012\\033"]),
        (("-m", "rx", "--top", "1"), ["/lib/a b.so"]),
        (("-a", "-m", "rw", "--top", "2"), ["[anon]", "[heap]"]),
    )
    for options, names in cases:
        expect("librank %s" % " ".join(options),
               names_of(run_good("librank", *options, *where)), names)
    for options, pids in (((), [70, 1]), (("-v",), [1, 70]),
                          (("-s",), [1, 70]), (("-R",), [1, 70]),
                          (("-u", "-R"), [1, 70])):
        data = run_json("librank", *options, *where)
        expect("librank %s: processes" % " ".join(options),
               [p["pid"] for p in data["mappings"][0]["processes"]], pids)

    data = run_json("librank", "-a", *where)
    expect("librank --json", data["mappings"][2], {
        "name": "/lib/a b.so", "deleted": False, "vmas": 3,
        "vss": 1608 * KB, "rss": 908 * KB, "pss": 508 * KB, "uss": 108 * KB,
        "swap": 4 * KB, "swap_pss": 4 * KB, "processes": [
            {"pid": 70, "name": "com.example.app", "vmas": 1, "vss": 800 * KB,
             "rss": 500 * KB, "pss": 300 * KB, "uss": 100 * KB, "swap": 0,
             "swap_pss": 0},
            {"pid": 1, "name": "/init", "vmas": 2, "vss": 808 * KB,
             "rss": 408 * KB, "pss": 208 * KB, "uss": 8 * KB, "swap": 4 * KB,
             "swap_pss": 4 * KB}]})
    expect("librank --json: no name, and any name",
           [(m["name"], m["deleted"]) for m in data["mappings"]],
           [(None, False), ("[heap]", False), ("/lib/a b.so", False),
            ("/lib/gone.so", True), ("/dev/x\\012\x1b", False)])


# --- showmap ---------------------------------------------------------------

SMAPS = \
    vma(0x100000, 4, "/lib/x.so", perms="r-xp", Rss=16, Pss=8,
        Shared_Clean=16) + \
    vma(0x104000, 2, "/lib/x.so", perms="rw-p", Rss=8, Pss=8,
        Private_Dirty=8) + \
    vma(0x106000, 1, Rss=4, Pss=4, Private_Dirty=4) + \
    vma(0x107000, 1, Rss=4, Pss=4, Private_Dirty=4) + \
    vma(0x109000, 1, Rss=4, Pss=4, Private_Dirty=4, Swap=4, SwapPss=2) + \
    vma(0x200000, 1, "a.so", Rss=4, Pss=1, Shared_Dirty=4) + \
    vma(0x201000, 1, Rss=4, Pss=1, Shared_Dirty=4)

# size rss pss sc sd pc pd swap swap_pss count, object
SHOWMAP = [
    ("/lib/x.so", 32, 32, 24, 16, 0, 0, 16, 0, 0, 4),
    ("[anon]", 8, 8, 5, 0, 4, 0, 4, 4, 2, 2),
    ("a.so", 4, 4, 1, 0, 4, 0, 0, 0, 0, 1),
    ("TOTAL", 44, 44, 30, 16, 8, 0, 20, 4, 2, 7),
]


def objects_of(text):
    """The lines of a showmap without addresses."""
    rows = []
    for line in text.split("\n\n")[0].split("\n"):
        words = line.split(None, 16)
        if len(words) == 17 and all(w.isdigit() for w in words[:16]):
            numbers = [int(word) for word in words[:16]]
            rows.append(tuple([words[16]] + numbers[:9] + numbers[15:]))
    return rows


def test_showmap(directory):
    path = os.path.join(directory, "showmap.smaps")
    with open(path, "w", encoding="ascii") as file:
        file.write(SMAPS)
    text = run_good("showmap", path)
    expect("showmap", objects_of(text), SHOWMAP)
    same_text("showmap -f", run_good("showmap", "-f", path), text)
    same_text("showmap -", run_good("showmap", "-", text=SMAPS)
              .replace("standard input", path), text)
    expect("showmap -t", [row[0] for row in objects_of(
        run_good("showmap", "-t", path))], ["/lib/x.so", "[anon]", "TOTAL"])

    lines = run_good("showmap", "-a", path).split("\n")[3:10]
    expect("showmap -a: addresses and objects",
           [(line.split()[0], line.split()[1], line.split(None, 17)[17])
            for line in lines],
           [("100000", "104000", "/lib/x.so"), ("104000", "106000", "/lib/x.so"),
            ("106000", "107000", "/lib/x.so [bss]"),
            ("107000", "108000", "/lib/x.so [bss]"),
            ("109000", "10a000", "[anon]"), ("200000", "201000", "a.so"),
            ("201000", "202000", "[anon]")])
    lines = run_good("showmap", "-v", path).split("\n")[3:10]
    expect("showmap -v: permissions and objects",
           [(line.split()[15], line.split(None, 16)[16]) for line in lines],
           [("r-xp", "/lib/x.so"), ("rw-p", "/lib/x.so"),
            ("rw-p", "/lib/x.so [bss]"), ("rw-p", "/lib/x.so [bss]"),
            ("rw-p", "[anon]"), ("rw-p", "[anon]"), ("rw-p", "a.so")])

    data = run_json("showmap", path)
    expect("showmap --json",
           [(o["object"], o["size"], o["rss"], o["pss"], o["vmas"])
            for o in data["objects"]],
           [(row[0], row[1] * KB, row[2] * KB, row[3] * KB, row[10])
            for row in SHOWMAP[:-1]])
    expect("showmap --json: total", (data["total"]["rss"],
                                     data["total"]["vmas"]), (44 * KB, 7))

    # Of a running process, with a name that a terminal would not like.
    sysfs = os.path.join(directory, "showmap")
    make_sysfs(sysfs, 70, record(70))
    heading = "Range Perms Offset Device Inode Size Rss Pss Pss_Dirty " \
        "Shared_Clean Shared_Dirty Private_Clean Private_Dirty Anonymous " \
        "KSM LazyFree AnonHugePages ShmemPmdMapped FilePmdMapped " \
        "Shared_Hugetlb Private_Hugetlb Swap SwapPss Locked Category " \
        "Subcategory Rule Deleted Name\n"
    write(sysfs, {"kernel/debug/memledger/processes/70/vmas": heading +
                  "00001000-00003000 rw-p 00000000 00:00 5 8192 4096 2048 0 0 "
                  "4096 0 0 0 0 0 0 0 0 0 0 0 - 0 other_mmap - named - "
                  "/x\x1b\n# complete\n"})
    text = run_good("showmap", "70", "--sysfs", sysfs)
    report("/x\\033\n" in text and " - " in text and "SwapPss" not in text,
           "showmap of a process", text.split("\n"))
    for options, message in (
            (("showmap",), "showmap needs one PID, NAME, FILE or -"),
            (("showmap", "-f", path, "1"), "showmap needs one PID"),
            (("showmap", "1", "2"), "showmap takes no second process")):
        done = run(*options)
        report(done.returncode == 2 and message in done.stderr.decode(),
               " ".join(options[:2]) + ": usage", (done,))
    done = run("showmap", "-q", "/nowhere/at/all")
    expect("showmap -q says nothing", (done.returncode, done.stderr),
           (1, b""))


# --- top -------------------------------------------------------------------

def top_lines(*args):
    return run_good("top", *args).split("\n")


def test_other_namespace(directory):
    """Numbers of another proc are other processes: no name is better."""
    where = make(directory, processes=PROCESSES[:3])
    link = os.path.join(where[3], "1", "ns", "pid")
    os.makedirs(os.path.dirname(link))
    for target, names in (
            ("pid:[4026531836]", ["com.example.app", "a cached one", "/init"]),
            ("pid:[4026532000]", ["example.app", "cached\\012", "/init"])):
        if os.path.islink(link):
            os.unlink(link)
        os.symlink(target, link)
        text = run_good("procrank", *where)
        expect("procrank: names in " + target,
               [line.split("  ")[-1] for line in text.split("\n")[1:4]], names)
        foreign = target != "pid:[4026531836]"
        for command in ("procrank", "librank", "system"):
            text = run(command, *where).stdout.decode()
            expect("%s in %s says so" % (command, target),
                   ("Unavailable: names oom_score_adj" in text),
                   foreign)
        lines = top_lines("--once", *where)
        expect("top in " + target, lines[2].split()[-1],
               "comm" if foreign else "name")
        data = run_json("system", *where)
        expect("system --json in " + target,
               ([proc["oom_score_adj"] for proc in data["processes"]],
                data["ram"]["terms"]["cached_pss"]["bytes"]),
               ([None] * 3, None) if foreign else
               ([0, 905, -1000], 3010 * KB))


def test_top(directory):
    where = make(directory, processes=PROCESSES[:3])
    expect("top --once", top_lines("--once", *where), [
        "3 processes, PSS 49,999K, swap 3,010K; 700 us of work in 799 us",
        "at 5.000 s after boot, profile android16; kB, by PSS",
        "    PID          PSS          RSS          USS         Swap  name",
        "     70        45000        50000        40000         3000"
        "  com.example.app",
        "    300         3000         4000         2000           10"
        "  a cached one",
        "      1         1999         3000         1000            0  /init",
        "", ""])
    for options, heading, order, pids in (
            (("--by", "dalvik_heap"), "Dalvik Heap", "Dalvik Heap PSS",
             ["70", "1", "300"]),
            (("--by", "unknown", "-R"), "Unknown", "Unknown PSS, reversed",
             ["1", "70", "300"]),
            (("--by", "other_mmap", "-r"), "Other mmap", "Other mmap RSS",
             ["1", "70", "300"]),
            (("-v",), "VSS", "VSS", ["70", "300", "1"]),
            (("-s", "-R"), "Swap", "Swap, reversed", ["1", "300", "70"]),
            (("--top", "1"), "PSS", "PSS", ["70"])):
        lines = top_lines("--once", *options, *where)
        expect("top %s" % " ".join(options),
               (lines[1].split("kB, by ")[-1], lines[2][7:20].strip(),
                [line.split()[0] for line in lines[3:] if line]),
               (order, heading, pids))
    lines = top_lines("-b", "-n", "3", "-d", "0.01", *where)
    expect("top -b -n 3", [line.split()[0] for line in lines
                           if line].count("PID"), 3)
    for options, message in (
            (("--json",), "--json takes --once"),
            (("--by", "nothing"), "--by takes a category"),
            (("--by", "stack", "-v"), "VSS is not known by category"),
            (("-n", "0"), "-n and --top take"), (("-d", "0"), "-d takes"),
            (("--top", "x"), "--top take"), (("extra",), "takes no operand")):
        done = run("top", *options, *where)
        report(done.returncode == 2 and message in done.stderr.decode(),
               "top %s: usage" % " ".join(options), (done,))


def screen(master, process, until, seconds=20):
    """What a terminal got until a text was in it, or the process ended."""
    text, end = b"", time.monotonic() + seconds
    while until not in text and time.monotonic() < end:
        if select.select([master], [], [], 0.1)[0]:
            try:
                text += os.read(master, 65536)
            except OSError:
                break
        elif process.poll() is not None:
            break
    return text


def start_top(where, *options, width=60, height=6, ignored=()):
    def ignore():
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)

    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ,
                struct.pack("HHHH", height, width, 0, 0))
    before = termios.tcgetattr(slave)
    # pylint: disable-next=consider-using-with,subprocess-popen-preexec-fn
    process = subprocess.Popen((TOOL, "top", "-d", "1000") + options + where,
                               stdin=slave, stdout=slave,
                               stderr=subprocess.PIPE, preexec_fn=ignore)
    return master, slave, before, process


LEAVE = b"\x1b[?1049l"


def test_terminal(directory):
    where = make(directory, processes=PROCESSES[:3])
    master, slave, before, process = start_top(where)
    text = screen(master, process, b"a cached one")
    lines = text.decode().split("\x1b[J")[-1].replace("\r", "").split("\n")
    report(text.startswith(b"\x1b[?1049h\x1b[?25l") and
           max(len(line) for line in lines) <= 60 and
           lines[3].split()[0] == "70" and lines[4].split()[0] == "300" and
           lines[2].split() == ["PID", "PSS", "RSS", "name"],
           "top fits the terminal", lines)
    report(not termios.tcgetattr(slave)[3] & (termios.ICANON | termios.ECHO),
           "top takes keys as they are pressed")
    for key, want in ((b"u", b"USS"), (b"R", b"/init"), (b"c", b"Unknown"),
                      (b" ", b"processes")):
        os.write(master, key)
        report(want in screen(master, process, want), "top: key %r" % key)
    # Another size of the window makes another picture.
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 200, 0, 0))
    process.send_signal(signal.SIGWINCH)
    report(b"Dalvik Heap" in screen(master, process, b"Dalvik Heap"),
           "top: a larger window")
    os.write(master, b"q")
    text = screen(master, process, LEAVE)
    expect("top: q ends it", (process.wait(20), LEAVE in text,
                              process.stderr.read()), (0, True, b""))
    expect("top: the terminal is as before", termios.tcgetattr(slave), before)
    os.close(master)
    os.close(slave)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        master, slave, before, process = start_top(where)
        screen(master, process, b"com.example")
        process.send_signal(number)
        text = screen(master, process, LEAVE)
        expect("top: signal %d" % number,
               (process.wait(20), LEAVE in text,
                termios.tcgetattr(slave) == before), (-number, True, True))
        os.close(master)
        os.close(slave)

    # What is ignored when it starts, as by nohup, does not end it.
    master, slave, before, process = start_top(where, width=80,
                                               ignored=(signal.SIGHUP,))
    screen(master, process, b"com.example")
    process.send_signal(signal.SIGHUP)
    os.write(master, b"R")
    again = b"reversed" in screen(master, process, b"reversed")
    os.write(master, b"q")
    screen(master, process, LEAVE)
    expect("top: an ignored signal", (again, process.wait(20)), (True, 0))
    os.close(master)
    os.close(slave)

    # Of a category VSS is not known, and so not shown as 0.
    master, slave, before, process = start_top(where, "-v", width=80)
    screen(master, process, b"by VSS")
    os.write(master, b"c")
    text = screen(master, process, b"/init").decode()
    report("by Unknown PSS" in text and "3000" in text.split("by Unknown")[1],
           "top: a category after VSS", (text,))
    os.write(master, b"q")
    screen(master, process, LEAVE)
    process.wait(20)
    os.close(master)
    os.close(slave)

    # The last of so many pictures stays behind, and fits.
    master, slave, before, process = start_top(where, "-n", "1")
    text = screen(master, process, b"cached one")
    process.wait(20)
    after = text.split(LEAVE)[-1]
    report(LEAVE in text and after.count(b"\n") <= 6 and
           b"com.example" in after and b"\x1b" not in after and
           termios.tcgetattr(slave) == before, "top -n 1 in a terminal", (text,))
    os.close(master)
    os.close(slave)

    # It stops as others do, with the terminal as it was.
    master, slave, before, process = start_top(where)
    screen(master, process, b"com.example")
    process.send_signal(signal.SIGTSTP)
    text = screen(master, process, LEAVE)
    os.waitpid(process.pid, os.WUNTRACED)
    stopped = termios.tcgetattr(slave) == before
    process.send_signal(signal.SIGCONT)
    text += screen(master, process, b"com.example")
    expect("top: stopped and continued",
           (stopped, LEAVE in text, text.endswith(LEAVE)),
           (True, True, False))
    os.write(master, b"q")
    screen(master, process, LEAVE)
    process.wait(20)
    os.close(master)
    os.close(slave)

    # What goes wrong on the way is said on the terminal that was there before.
    master, slave, before, process = start_top(where)
    screen(master, process, b"com.example")
    write(where[1], {"kernel/debug/memledger/snapshot": "!1"})
    os.write(master, b" ")
    text = screen(master, process, LEAVE)
    error = process.stderr.read().decode()
    report(process.wait(20) == 1 and "not permitted" in error and
           termios.tcgetattr(slave) == before, "top: an error on the way",
           (error, text))
    os.close(master)
    os.close(slave)


# --- what is not there -----------------------------------------------------

def test_errors(directory):
    whole = snapshot()
    lines = whole.split("\n")
    texts = (
        ("!1", "not permitted"), ("!5", "Input/output error"),
        ("", "other columns"), ("nonsense\n", "other columns"),
        (whole.replace("android16", "android99"), "other columns"),
        (whole.replace(" comm\n", " name\n"), "other columns"),
        (whole.replace(" rss ", " Rss "), "other columns"),
        (whole.replace("stack.pss ", ""), "other columns"),
        (whole.replace("\n70 - 1", "\n70 - 1 x"), "makes no sense"),
        (whole.replace("\n70 - 1", "\n70 -5 1"), "makes no sense"),
        (whole.replace("\n70 - 1", "\n70 3 1"), "makes no sense"),
        (whole.replace("\n400 300", "\n400 -"), "makes no sense"),
        ("\n".join(lines[:4]) + "\n", "cut off"),
        ("\n".join(lines[:3]) + "\n" + "\n".join(lines[4:]), "cut off"),
        (whole + "more\n", "cut off"), (whole[:-1], "cut off"),
    )
    for i, (text, message) in enumerate(texts):
        where = make(directory,
                     files={"kernel/debug/memledger/snapshot": text})
        for command in ("procrank", "system", "top"):
            done = run(command, *where, *(("--once",) if command == "top"
                                          else ()))
            error = done.stderr.decode()
            report(done.returncode == 1 and message in error and
                   error.count("\n") == 1 and not done.stdout,
                   "%s: text %d" % (command, i), (error, done.stdout[:200]))
    # Columns that will come are no reason to give up.
    more = [line if line.startswith("#") or not line else
            line.replace(" ", " new " if line.startswith("tgid") else " x y ",
                         1) for line in lines]
    more = [line.replace("tgid new ", "tgid new other ") for line in more]
    where = make(directory, files={"kernel/debug/memledger/snapshot":
                                   "\n".join(more)})
    expect("procrank: columns that are not known",
           pids_of(run("procrank", *where).stdout.decode()),
           [70, 300, 1, 5000, 400])

    for i, (text, message) in enumerate((
            ("!1", "not permitted"), ("", "other columns"),
            (MAPPINGS.replace("deleted name", "name"), "other columns"),
            (MAPPINGS.replace("mapping 70", "mapping 71"), "makes no sense"),
            (MAPPINGS.replace("rw-s - ", "rw-s + "), "makes no sense"),
            (MAPPINGS.replace("process 70", "proc 70"), "makes no sense"),
            (MAPPINGS.replace(" rw-s ", " rw- "), "makes no sense"),
            (MAPPINGS[:-4], "cut off"), (MAPPINGS + "x\n", "cut off"),
            (MAPPINGS.replace("processes 3", "processes 4"), "cut off"))):
        where = make(directory,
                     files={"kernel/debug/memledger/mappings": text})
        done = run("librank", *where)
        error = done.stderr.decode()
        report(done.returncode == 1 and message in error and
               error.count("\n") == 1 and not done.stdout,
               "librank: text %d" % i, (error, done.stdout[:200]))

    where = make(directory, files={"kernel/debug/memledger/snapshot": None})
    done = run("procrank", *where)
    report(done.returncode == 1 and b"use the tool that was built" in
           done.stderr, "procrank: an older module", (done,))
    shutil.rmtree(os.path.join(where[1], "kernel", "debug"))
    done = run("procrank", *where)
    report(done.returncode == 1 and b"mount debugfs" in done.stderr,
           "procrank: no debugfs", (done,))
    where = make(directory, files={"proc/meminfo": None})
    done = run("system", *where)
    report(done.returncode == 1 and b"meminfo: No such file" in done.stderr,
           "system: no proc", (done,))
    for args, message in (
            (("meminfo", "-a"), "without a PID or NAME meminfo"),
            (("meminfo", "--profile", "android10"), "without a PID or NAME"),
            (("procrank", "-x"), "Try 'memledger help'"),
            (("procrank", "1"), "takes no operand"),
            (("--json", "procrank"), "options of this command stand behind"),
            (("librank", "-m", "rq"), "-m takes r, w and x"),
            (("showmap", "--profile", "x", "1"), "no such profile"),
            (("system", "-a"), "Try 'memledger help'")):
        done = run(*args)
        report(done.returncode == 2 and message in done.stderr.decode(),
               "%s: usage" % " ".join(args), (done,))
    for command in ("procrank", "top", "librank", "showmap", "system"):
        done = run(command, "-h")
        report(done.returncode == 0 and b"--proc DIR" in done.stdout,
               command + " -h", (done,))


def test_all(directory):
    test_procrank(directory)
    test_json(directory)
    test_system(directory)
    test_adjustments(directory)
    test_librank(directory)
    test_showmap(directory)
    test_other_namespace(directory)
    test_top(directory)
    test_terminal(directory)
    test_errors(directory)
