# SPDX-License-Identifier: GPL-2.0-only
"""Host tests of what takes rows apart: memledger unknown and explain."""

import glob
import os
import struct
import subprocess
import time

from common import (CATEGORIES, CLASSES, MTRACK, NAMES, NINE, PROFILES, SAMPLES,
                    SUBCATEGORIES, SUB_NAMES, everything, expect, make_details,
                    make_sysfs, read, record, report, run, run_good, run_json,
                    skip, vma)

FIELDS = NINE + ["vmas"]
BRIEF = ["pss", "rss", "private_dirty", "swap_pss"]


def add_up(rows, fields):
    """Sum of each field, None where it is unavailable."""
    return {field: None if any(row[field] is None for row in rows) else
            sum(row[field] for row in rows) for field in fields}


def pick(row, fields):
    return {field: row[field] for field in fields}


def with_owner(name):
    """Classes that have an owner or lack a name."""
    return name == "mapping_owner" or name.startswith("unnamed_")


def check_sums(name, args, text=b""):
    """Classes, names and the category agree; owners and rows with theirs."""
    data = run_json("smaps", *args, text=text)
    category = pick(data["category"]["unknown"], FIELDS)
    by_class = run_json("unknown", *args, text=text)
    by_name = run_json("unknown", *args, "--by", "name", text=text)
    by_owner = run_json("unknown", *args, "--by", "owner", text=text)
    explained = run_json("explain", *args, text=text)
    classes = {row["class"]: pick(row, FIELDS) for row in by_class["rows"]}

    expect(name + ": the classes add up to Unknown",
           [add_up(classes.values(), FIELDS), pick(by_class["total"], FIELDS)],
           [category] * 2)
    expect(name + ": and are those of smaps", classes,
           {row: pick(usage, FIELDS)
            for row, usage in data["unknown"].items()})
    expect(name + ": the names add up to Unknown",
           [add_up(by_name["rows"], FIELDS), pick(by_name["total"], FIELDS)],
           [category] * 2)
    expect(name + ": the names of a class add up to it",
           {row: add_up([usage for usage in by_name["rows"]
                         if usage["class"] == row], FIELDS)
            for row in CLASSES if classes[row]["vmas"]},
           {row: classes[row] for row in CLASSES if classes[row]["vmas"]})
    owners = [dict(row, vmas=row["regions"]) for row in by_owner["rows"]]
    if owners:
        expect(name + ": the owners add up", add_up(owners, BRIEF),
               pick(by_owner["total"], BRIEF))
    expect(name + ": the owners add up to their classes",
           pick(dict(by_owner["total"], vmas=by_owner["total"]["regions"]),
                BRIEF + ["vmas"]),
           add_up([usage for row, usage in classes.items()
                   if with_owner(row)], BRIEF + ["vmas"]))
    for rows in (by_class["rows"], by_name["rows"], by_owner["rows"]):
        sizes = [row["pss"] for row in rows]
        if sizes != sorted(sizes, reverse=True):
            report(False, name + ": the largest first", sizes)
    expect(name + ": what is explained adds up to its row",
           {row: [add_up(part["rows"], FIELDS), pick(part["total"], FIELDS)]
            for row, part in explained["category"].items()},
           {row: [pick(usage, FIELDS)] * 2
            for row, usage in data["category"].items() if usage["vmas"]})


# A few mappings of each kind, two of a name, in the order of addresses.
PARTS = vma(0x10000, 2, "[anon:partition_alloc]", Rss=8, Pss=8,
            Private_Dirty=8) + \
    vma(0x20000, 4, Rss=16, Pss=12, Private_Dirty=12, Shared_Dirty=4, Swap=8,
        SwapPss=3) + \
    vma(0x30000, 3, perms="r-xp", Rss=4, Pss=4, Private_Clean=4) + \
    vma(0x40000, 1, "[anon:.bss]", Rss=4, Pss=1, Shared_Dirty=4) + \
    vma(0x50000, 9, perms="---p") + \
    vma(0x60000, 1, "[heap]", Rss=4, Pss=4, Private_Dirty=4) + \
    vma(0x70000, 5, "[anon:.bss]", Rss=20, Pss=20, Private_Dirty=20) + \
    vma(0x80000, 1, perms="r--p", Rss=4, Pss=4, Shared_Clean=4) + \
    vma(0x90000, 1, perms="rwxp", Rss=4, Pss=4, Private_Dirty=4) + \
    vma(0xa0000, 1, "[anon:x]", Rss=4)

BY_NAME = """
** UNKNOWN by name in standard input **
                            Pss      Pss      Rss  Private   Shared  Private   Shared     Swap  SwapPss@
item name                 Total    Clean    Total    Dirty    Dirty    Clean    Clean    Dirty    Dirty     vmas  Class
Total                        53        0       64       44        8        4        4        8        3        9
[anon:.bss]                  21        0       24       20        4        0        0        0        0        2  linker
no name, writable            12        0       16       12        4        0        0        8        3        1  unnamed_data
[anon:partition_alloc]        8        0        8        8        0        0        0        0        0        1  allocators
no name, executable           8        0        8        4        0        4        0        0        0        2  unnamed_code
no name, read-only            4        0        4        0        0        0        4        0        0        1  unnamed_readonly
[anon:x]                      0        0        4        0        0        0        0        0        0        1  named_other
no name, no access            0        0        0        0        0        0        0        0        0        1  unnamed_reserve
""".replace("@", " " * 9)

BY_CLASS_TOP = """
** UNKNOWN by class in standard input **
                       Pss      Pss      Rss  Private   Shared  Private   Shared     Swap  SwapPss@
item name            Total    Clean    Total    Dirty    Dirty    Clean    Clean    Dirty    Dirty     vmas  What it is
Total                   53        0       64       44        8        4        4        8        3        9
linker                  21        0       24       20        4        0        0        0        0        2  the dynamic loader: .bss and its tables
unnamed_data            12        0       16       12        4        0        0        8        3        1  no name, writable
(11 more)               20        0       24       12        0        4        4        0        0        6
""".replace("@", " " * 9)

EXPLAINED = """
** ROWS in standard input **

Native Heap (native_heap)
    Heap Size, Alloc and Free of dumpsys are the process's own allocator's; no mapping tells them.
                       Pss      Pss      Rss  Private   Shared  Private   Shared     Swap  SwapPss@
item name            Total    Clean    Total    Dirty    Dirty    Clean    Clean    Dirty    Dirty     vmas  Perms Rule (profiles that have it)
Total                    4        0        4        4        0        0        0        0        0        1
[heap]                   4        0        4        4        0        0        0        0        0        1  rw-p  prefix:[heap] (android10 to android17)
""".replace("@", " " * 9)


def test_text():
    cases = (
        ("by name", ("unknown", "-", "--by", "name"), BY_NAME),
        ("by class, --top 2", ("unknown", "-", "--top", "2"), BY_CLASS_TOP),
        ("explain", ("explain", "-", "native_heap"), EXPLAINED),
    )
    for name, args, want in cases:
        got, tail = run_good(*args, text=PARTS).split("\nSource: ")
        expect("golden table, " + name, got.split("\n"), want.split("\n"))
        expect("golden source, " + name, tail.split("\n")[0],
               "standard input, profile android16")
    out = run_good("unknown", "-", "--by", "name",
                   text=vma(0x1000, 1, "[anon:x]", without=("SwapPss",)))
    expect("SwapPss of a text without",
           [line.split()[9] for line in out.split("\n")[4:6]], ["-"] * 2)


def test_no_names():
    """Without names a class of names is not 0."""
    text = vma(0x1000, 1, Rss=4, Pss=4) + vma(0x3000, 1, perms="---p")
    data = run_json("unknown", "-", text=text)
    got = {row["class"]: [row["rss"], row["vmas"]] for row in data["rows"]}
    want = {name: [0, 0] if name.startswith("unnamed_") else [None, None]
            for name in CLASSES}
    want["unnamed_data"], want["unnamed_reserve"] = [4096, 1], [0, 1]
    expect("classes of a text without names", got, want)
    expect("and in smaps",
           {row: [usage["rss"], usage["vmas"]] for row, usage in
            run_json("smaps", "-", text=text)["unknown"].items()}, want)
    expect("the total is known", data["total"]["rss"], 4096)
    out = run_good("unknown", "-", text=text)
    expect("and in the table",
           [line.split()[1:11] for line in out.split("\n")
            if line.startswith(("linker ", "unnamed_code "))],
           [["-"] * 10, ["0"] * 10])


def test_top():
    whole = run_json("unknown", "-", "--by", "name", text=PARTS)
    expect("without --top there is no rest", whole["rest"], None)
    for top in (1, 3, 7, 8, 4294967295, 99999999999999999999):
        part = run_json("unknown", "-", "--by", "name", "--top", str(top),
                        text=PARTS)
        left = whole["rows"][top:]
        expect("--top %d" % top, [part["rows"], part["total"], part["rest"]],
               [whole["rows"][:top], whole["total"],
                dict(add_up(left, FIELDS), rows=len(left)) if left else None])
    part = run_json("explain", "-", "unknown", "--top", "1", text=PARTS)
    part = part["category"]["unknown"]
    expect("explain --top 1",
           [len(part["rows"]), part["rest"]["rows"], part["total"]["vmas"]],
           [1, 7, 9])


def test_form():
    """Exactly the documented keys."""
    head = ("pid comm profile generation complete unit source kernel page_size "
            "timestamp_ns").split()
    numbers = NINE + ["vmas"]
    cases = (
        (("unknown",), ["class", "text"] + numbers),
        (("unknown", "--by", "class"), ["class", "text"] + numbers),
        (("unknown", "--by", "name"), ["name", "class"] + numbers),
        (("unknown", "--by", "owner"),
         ["owner", "perms", "owner_source", "library", "offset", "build_id"] +
         BRIEF + ["regions"]),
    )
    for args, keys in cases:
        data = run_json(args[0], "-", *args[1:], text=PARTS)
        extra = ["comments"] if args[-1] == "owner" else []
        expect("keys of " + " ".join(args),
               [list(data), {tuple(row) for row in data["rows"]},
                list(data["total"]), data["by"], data["unit"],
                data["unavailable"]],
               [head + ["by", "total", "rows", "rest"] + extra +
                ["unavailable"], {tuple(keys)}, keys[-len(data["total"]):],
                args[-1] if len(args) > 1 else "class", "bytes",
                list(MTRACK)])
    data = run_json("explain", "-", text=PARTS)
    rows = data["category"]
    expect("keys of explain",
           [list(data), list(rows), {tuple(row) for row in rows.values()},
            {tuple(group) for row in rows.values() for group in row["rows"]}],
           [head + ["category", "unavailable"], ["unknown", "native_heap"],
            {("label", "note", "total", "rows", "rest")},
            {tuple(["name", "perms", "rule", "profiles", "subcategory",
                    "note"] + numbers)}])


# Names at the limits: what they must be in JSON, and in the text.
HARD_NAMES = (
    ("[anon:" + "x" * 79 + "]",) * 2,
    ("[anon:" + " " * 79 + "]",) * 2,
    ("[anon: a  b ]",) * 2,
    ("[anon:%s%n%d]",) * 2,
    ("[anon:\"quoted\"]",) * 2,
    ("[anon:'{}[],:]",) * 2,
    ("[anon:\\012]", "[anon:\\134012]"),
    ("[anon:\x1b[31m]", "[anon:\\033[31m]"),
    ("[anon:\x01\x7f]", "[anon:\\001\\177]"),
    ("[anon:\xe9]", "[anon:\\303\\251]"),
)


def test_hard_names():
    text = ""
    for i, (name, _) in enumerate(HARD_NAMES):
        text += vma(0x10000 * (i + 1), 1, name, Rss=4, Pss=100 - i)
    data = run_json("unknown", "-", "--by", "name", text=text)
    expect("hard names in JSON", [row["name"] for row in data["rows"]],
           [name for name, _ in HARD_NAMES])
    out = run_good("unknown", "-", "--by", "name", text=text)
    lines = out.split("\n")[5:5 + len(HARD_NAMES)]
    expect("hard names in the table",
           [line.startswith(shown + " ") for line, (_, shown) in
            zip(lines, HARD_NAMES)], [True] * len(HARD_NAMES))
    expect("nothing but printable characters in the table",
           [c for c in out if c != "\n" and not " " <= c <= "~"], [])
    data = run_json("explain", "-", "unknown", text=text)
    expect("hard names, explained",
           [row["name"] for row in data["category"]["unknown"]["rows"]],
           [name for name, _ in HARD_NAMES])
    raw = vma(0x1000, 1, "[anon:@]").encode().replace(b"@", b"\xff\xfe")
    expect("a name that is no UTF-8",
           run_json("unknown", "-", "--by", "name", text=raw)["rows"][0]
           ["name"], "[anon:\ufffd\ufffd]")


# --- owners ----------------------------------------------------------------

def elf(notes, bits=64, order="<", align=4, segments=None, kind=4):
    """An ELF file with a segment of notes, and one before it that is not."""
    wide = bits == 64
    head = 64 if wide else 52
    size = 56 if wide else 32
    at = head + 2 * size

    def segment(what, offset, length):
        if wide:
            return struct.pack(order + "IIQQQQQQ", what, 4, offset, 0, 0,
                               length, length, align)
        return struct.pack(order + "IIIIIIII", what, offset, 0, 0, length,
                           length, 4, align)

    ident = b"\x7fELF" + bytes([2 if wide else 1, 1 if order == "<" else 2,
                                1]) + bytes(9)
    word = "Q" if wide else "I"
    count = 2 if segments is None else segments
    header = ident + struct.pack(order + "HHI" + word * 3 + "IHHHHHH", 3, 62,
                                 1, 0, head, 0, 0, head, size, count, 0, 0, 0)
    return header + segment(1, 0, at) + segment(kind, at, len(notes)) + notes


def note(desc, name=b"GNU\0", kind=3, order="<", align=4, descsz=None):
    def padded(data):
        return data + bytes(-len(data) % align)

    head = struct.pack(order + "III", len(name),
                       len(desc) if descsz is None else descsz, kind)
    return padded(padded(head + name) + desc)


ID = bytes(range(0xa0, 0xb4))


def test_build_ids(directory):
    other = note(b"x" * 16, kind=1)
    big = {"order": ">"}
    cases = (
        ("64 bits", elf(note(ID)), ID),
        ("32 bits", elf(note(ID), 32), ID),
        ("64 bits, big endian", elf(note(ID, **big), 64, ">"), ID),
        ("32 bits, big endian", elf(note(ID, **big), 32, ">"), ID),
        ("behind another note", elf(other + note(ID)), ID),
        ("behind a note of odd sizes",
         elf(note(b"abc", name=b"Linux\0", kind=1) + note(ID)), ID),
        ("8-byte alignment",
         elf(note(b"abcd", name=b"GNU\0", kind=5, align=8) +
             note(ID, align=8), align=8), ID),
        ("without padding at the end", elf(note(b"\1\2\3")[:-1]), b"\1\2\3"),
        ("64 bytes", elf(note(b"z" * 64)), b"z" * 64),
        ("65 bytes", elf(note(b"z" * 65)), None),
        ("no bytes", elf(note(b"")), None),
        ("none", elf(other), None),
        ("another vendor's", elf(note(ID, name=b"GNUX")), None),
        ("another name of its length", elf(note(ID, name=b"GNU")), None),
        ("no notes", elf(b""), None),
        ("no segment of notes", elf(note(ID), kind=1), None),
        ("half a note", elf(note(ID)[:8]), None),
        ("a description that is cut off", elf(note(ID)[:-4]), None),
        ("a huge description", elf(note(ID, descsz=0xffffffff)), None),
        ("a huge name", elf(struct.pack("<III", 0xffffffff, 4, 3) + ID), None),
        ("a huge first note, then one",
         elf(note(b"", kind=1, descsz=0xfffffff0) + note(ID)), None),
        ("too many segments", elf(note(ID), segments=257), None),
        ("segments behind the end", elf(b"", segments=200), None),
        ("a cut header", elf(note(ID))[:60], None),
        ("the magic number alone", b"\x7fELF", None),
        ("no class", b"\x7fELF\0\1" + elf(note(ID))[6:], None),
        ("no byte order", b"\x7fELF\2\0" + elf(note(ID))[6:], None),
        ("no ELF", b"#!/bin/sh\n" * 100, None),
        ("nothing", b"", None),
    )
    for i, (name, content, want) in enumerate(cases):
        path = os.path.join(directory, "lib%d.so" % i)
        with open(path, "wb") as file:
            file.write(content)
        text = vma(0x10000, 4, path, perms="r-xp",
                   inode=os.stat(path).st_ino) + \
            vma(0x20000, 1, "[anon:mappingowner0x11234]", Rss=4, Pss=4)
        row = run_json("unknown", "-", "--by", "owner", text=text)["rows"][0]
        expect("build-id: " + name, [row["library"], row["build_id"]],
               [path, want and want.hex()])

    path = os.path.join(directory, "lib0.so")
    inode = os.stat(path).st_ino
    fifo = os.path.join(directory, "fifo.so")
    os.mkfifo(fifo)
    # Waits until somebody opens it.
    # pylint: disable-next=consider-using-with
    writer = subprocess.Popen(("sh", "-c", 'exec >"$0"', fifo))
    time.sleep(0.5)
    for name, mapped, number in (
            ("another inode", path, inode + 1), ("no inode", path, 0),
            ("no such file", path + "x", inode),
            ("a deleted file", path + " (deleted)", inode),
            ("a directory", directory, os.stat(directory).st_ino),
            ("a pipe", fifo, os.stat(fifo).st_ino)):
        text = vma(0x10000, 4, mapped, perms="r-xp", inode=number) + \
            vma(0x20000, 1, "[anon:mappingowner0x11234]", Rss=4, Pss=4)
        row = run_json("unknown", "-", "--by", "owner", text=text)["rows"][0]
        expect("no build-id: " + name, [row["owner"], row["build_id"]],
               [mapped + "+0x1234", None])
    time.sleep(0.5)
    expect("no build-id: a pipe is not opened", writer.poll(), None)
    writer.kill()
    writer.wait()
    text = vma(0x10000, 4, path, perms="r-xp", inode=inode) + \
        vma(0x20000, 1, "[anon:mappingowner0x11234]", Rss=4, Pss=4)
    out = run_good("unknown", "-", "--by", "owner", text=text)
    report("%s+0x1234" % path in out and " rw-p  name    %s\n" % ID.hex() in
           out, "a build-id in the table", out.split("\n"))


# Libraries of two mappings, code with and without a name, and data.
CODE = vma(0x10000, 4, "/system/lib64/libfoo.so", inode=1) + \
    vma(0x14000, 8, "/system/lib64/libfoo.so", perms="r-xp", offset=0x3000,
        inode=1) + \
    vma(0x20000, 1, "/data/app/a b/base.apk", perms="r-xp", offset=0x7f000,
        inode=2) + \
    vma(0x30000, 1, perms="r-xp", Rss=4, Pss=1) + \
    vma(0x40000, 1, "[anon:dalvik-jit-code-cache]", perms="r-xp") + \
    vma(0x50000, 1, "/x/gone.so (deleted)", perms="r-xp", inode=3) + \
    vma(0x60000, 1, "/x/plus+0x1.so", perms="r-xp", inode=4)

OWNER_CASES = (
    ("0x14000", "/system/lib64/libfoo.so+0x3000"),
    (" 1bfff", "/system/lib64/libfoo.so+0xafff"),
    (":0x20010", "/data/app/a b/base.apk+0x7f010"),
    ("40123", "[anon:dalvik-jit-code-cache]+0x123"),
    ("0x50004", "/x/gone.so (deleted)+0x4"),
    ("0x60004", "/x/plus+0x1.so+0x4"),
    # Data, behind the end, below the start, nowhere, without a name.
    ("0x10000", "unresolved 0x10000"),
    ("0x1c000", "unresolved 0x1c000"),
    ("0xffff", "unresolved 0xffff"),
    ("ffffffffffffffff", "unresolved 0xffffffffffffffff"),
    ("0", "unresolved 0x0"),
    ("0x30000", "unresolved 0x30000"),
    ("", "unresolved [anon:mappingowner]"),
    ("0x", "unresolved [anon:mappingowner0x]"),
    ("junk", "unresolved [anon:mappingownerjunk]"),
    ("0x14000+0x10", "unresolved [anon:mappingowner0x14000+0x10]"),
    ("12345678901234567", "unresolved [anon:mappingowner12345678901234567]"),
    ("%s\x1b", "unresolved [anon:mappingowner%s\x1b]"),
)


def test_owners():
    text = CODE
    for i, (name, _) in enumerate(OWNER_CASES):
        text += vma(0x100000 * (i + 1), 1, "[anon:mappingowner%s]" % name,
                    Rss=4, Pss=1000 - i)
    data = run_json("unknown", "-", "--by", "owner", text=text)
    want = []
    for _, owner in OWNER_CASES:
        library, _, offset = owner.rpartition("+")
        known = owner[0] in "/["
        want.append([owner, library if known else None,
                     int(offset, 16) if known else None, "name"])
    want.append(["unknown caller", None, None, None])
    expect("owners by name, and what is unresolved",
           [[row[key] for key in ("owner", "library", "offset",
                                  "owner_source")] for row in data["rows"]],
           want)
    expect("a saved text has no comments of a capture", data["comments"], None)

    text = CODE
    for i, (name, perms, size) in enumerate((
            ("0x14000", "rw-p", 8), (" 14000", "rw-p", 4),
            ("14000", "r--p", 20), ("14000", "rw-s", 3), ("14004", "rw-p", 7),
            ("junk", "rw-p", 1), ("junk", "rw-p", 1))):
        text += vma(0x100000 * (i + 1), 1, "[anon:mappingowner%s]" % name,
                    perms=perms, Rss=size, Pss=size, Private_Dirty=size)
    foo = "/system/lib64/libfoo.so+0x300"
    expect("owners in one row by place and permissions",
           [[row[key] for key in ("owner", "perms", "regions", "pss")]
            for row in run_json("unknown", "-", "--by", "owner", text=text)
            ["rows"]],
           [[foo + "0", "r--p", 1, 20480], [foo + "0", "rw-p", 2, 12288],
            [foo + "4", "rw-p", 1, 7168], [foo + "0", "rw-s", 1, 3072],
            ["unresolved [anon:mappingownerjunk]", "rw-p", 2, 2048],
            ["unknown caller", "r-xp", 1, 1024]])


# --- explain ---------------------------------------------------------------

# Name, permissions; the rule that places it, and a word of the note, or None.
EXPLAIN_CASES = (
    ("[heap]", "native_heap", "prefix:[heap]", None),
    ("[anon:scudo:primary]", "native_heap", "prefix:[anon:scudo:", None),
    ("[anon:libc_malloc]", "native_heap", "prefix:[anon:libc_malloc]", None),
    ("[anon_shmem:dalvik-jit-code-cache]", "other_mmap", "named", "JIT code"),
    ("[anon_shmem:dalvik-main space]", "other_mmap", "named", "Dalvik row"),
    ("[anon_shmem:x]", "other_mmap", "named", "Shared memory with a name"),
    ("/dev/zero (deleted)", "other_dev", "prefix:/dev/", "without a name"),
    ("/dev/zero", "other_dev", "prefix:/dev/", None),
    ("[anon: glibc: malloc arena]", "unknown", "prefix:[anon:", "glibc"),
    ("[anon:.bss]", "unknown", "prefix:[anon:", "zeroed data"),
    ("[anon:partition_alloc]", "unknown", "prefix:[anon:", None),
    ("[anon:scudo]", "unknown", "prefix:[anon:", "colon"),
    ("[anon:libc_malloc_x]", "unknown", "prefix:[anon:", "bracket"),
    ("[anon:mappingowner0x1]", "unknown", "prefix:[anon:", "--by owner"),
    ("", "unknown", "unnamed", "--by owner"),
    ("[anon:mt:/x.so+1]", "so_mmap", "suffix:.so", "MTE"),
    ("/SYSV00000000 (deleted)", "other_mmap", "named", "System V"),
    ("[anon:dalvik-zygote-jit-code-cache]", "dalvik_other",
     "prefix:[anon:dalvik-", ".GC"),
    ("[anon:dalvik-zygote-data-code-cache]", "dalvik_other",
     "prefix:[anon:dalvik-", ".GC"),
    ("[anon:dalvik-local ref table]", "dalvik_other", "prefix:[anon:dalvik-",
     "indirect ref"),
    ("[anon:dalvik-allocspace x]", "dalvik_other", "prefix:[anon:dalvik-",
     "with a blank"),
    ("[anon:dalvik-large live objects]", "dalvik_other",
     "prefix:[anon:dalvik-", "large object space"),
    ("[anon:dalvik-large object space]", "dalvik_heap",
     "prefix:[anon:dalvik-large_object_space", None),
    ("[anon:dalvik-classes.dex extracted]", "dex_mmap", "contains:.dex",
     "unpacked"),
    ("/x/classes.dex", "dex_mmap", "contains:.dex", None),
    ("/usr/lib/libc.so.6", "other_mmap", "named", "version"),
    ("/dev/mali0", "other_dev", "prefix:/dev/", "kgsl"),
    ("/dev/dri/renderD128", "other_dev", "prefix:/dev/", "kgsl"),
    ("/dev/pvrsrvkm", "other_dev", "prefix:/dev/", "kgsl"),
    ("/kgsl-3d0", "gfx_dev", "contains:kgsl-3d0", "6.6"),
    ("/dev/kgsl-3d0", "gfx_dev", "contains:kgsl-3d0", None),
    ("/dmabuf:", "other_mmap", "named", "buffer"),
    ("/memfd:x", "other_mmap", "named", "Memfd"),
    ("/x.apk", "apk_mmap", "suffix:.apk", "right out of an APK"),
    ("[vsyscall]", "other_mmap", "named", "every process"),
    ("/x (deleted)", "other_mmap", "named", "deleted file"),
    ("[vdso]", "other_mmap", "named", None),
)


def test_explain():
    text = ""
    for i, (name, _, _, _) in enumerate(EXPLAIN_CASES):
        text += vma(0x100000 * (i + 1), 1, name, Rss=4)
    groups = {}
    for row, part in run_json("explain", "-", text=text)["category"].items():
        for group in part["rows"]:
            groups[group["name"] or ""] = (row, group)
    for name, row, rule, word in EXPLAIN_CASES:
        got = groups[name][1]
        why = got["note"]
        report([groups[name][0], got["rule"]] == [row, rule] and
               (word in why if word and why else word is why),
               "explain %s" % (name or "no name"), (groups[name], word))

    text = vma(0x1000, 1, "/x.so", perms="r-xp") + vma(0x2000, 1, Rss=4)
    rows = run_json("explain", "-", text=text)["category"]["so_mmap"]["rows"]
    expect("explain the .bss behind a .so",
           [(row["name"], row["perms"], row["rule"], bool(row["note"]))
            for row in rows],
           [(None, "rw-p", "after:.so", True),
            ("/x.so", "r-xp", "suffix:.so", False)])

    text = vma(0x1000, 1, "/x", perms="r--p", Rss=4) + \
        vma(0x2000, 1, "/x", perms="r--s", Rss=8) + \
        vma(0x3000, 1, "/x", perms="r--p", Rss=4) + \
        vma(0x4000, 1, "/x", perms="rwxp", Rss=2)
    rows = run_json("explain", "-", text=text)["category"]["other_mmap"]
    expect("groups are of one name and the same permissions",
           sorted((row["perms"], row["vmas"], row["rss"])
                  for row in rows["rows"]),
           [("r--p", 2, 8192), ("r--s", 1, 8192), ("rwxp", 1, 2048)])

    for profile, rule, profiles in (
            ("android10", "prefix:/dev/kgsl-3d0", PROFILES[:2]),
            ("android11", "prefix:/dev/kgsl-3d0", PROFILES[:2]),
            ("android16", "contains:kgsl-3d0", PROFILES[2:]),
            ("android17", "contains:kgsl-3d0", PROFILES[2:])):
        data = run_json("explain", "-", "Gfx dev", "--profile", profile,
                        text=vma(0x1000, 1, "/dev/kgsl-3d0"))
        group = data["category"]["gfx_dev"]["rows"][0]
        expect("the rule and its profiles under " + profile,
               [data["profile"], group["rule"], group["profiles"]],
               [profile, rule, list(profiles)])
    text = vma(0x1000, 1, "/memfd:x")
    out = run_good("explain", "-", "--profile", "android17", text=text)
    report("(android17 only)" in out, "a rule of one profile",
           out.split("\n"))
    out = run_good("explain", "-", "ashmem", text=text)
    report("\nAshmem (ashmem)\n    No mapping.\n" in out, "an empty row",
           out.split("\n"))
    rows = run_json("explain", "-", "ashmem", text=text)["category"]
    expect("an empty row in JSON", [list(rows), rows["ashmem"]["rows"]],
           [["ashmem"], []])
    out = run_good("explain", "-", text=text)
    report("Ashmem" not in out and "Other mmap (other_mmap)" in out,
           "empty rows are left out of all rows", out.split("\n"))

    text = everything(True)
    names = {name: row for row, name in NAMES.items()}
    names.update({name: row for row, name in SUB_NAMES.items()})
    subs = {name: row for row, name in SUB_NAMES.items()}
    args = ("explain", "-", "--profile", "android17")
    data = run_json(*args, text=text)
    for row, part in data["category"].items():
        for group in part["rows"]:
            sub = subs.get(group["name"])
            if group["subcategory"] != sub or \
                    (not sub and names[group["name"]] != row):
                report(False, "sub-category of " + group["name"], (group,))
    expect("each row is explained", sorted(data["category"]),
           sorted(set(CATEGORIES) - set(MTRACK)))
    labels = {row: part["label"] for row, part in data["category"].items()}
    for row, label in labels.items():
        for asked in (row, label, label.upper(), row.upper()):
            got = list(run_json(*args, asked, text=text)["category"])
            if got != [row]:
                report(False, "explain " + asked, (got,))
    expect("labels", labels["native_heap"], "Native Heap")
    done = run("explain", "-", "nativeheap", text=text)
    report(done.returncode == 2 and not done.stdout and
           all(row in done.stderr.decode() for row in CATEGORIES),
           "a row that is none: the rows are listed",
           (done.returncode, done.stderr))


# --- live ------------------------------------------------------------------

VMA_FIELDS = (
    "Size Rss Pss Pss_Dirty Shared_Clean Shared_Dirty Private_Clean "
    "Private_Dirty Anonymous KSM LazyFree AnonHugePages ShmemPmdMapped "
    "FilePmdMapped Shared_Hugetlb Private_Hugetlb Swap SwapPss Locked").split()
VMAS_HEADING = "Range Perms Offset Device Inode %s Category Subcategory " \
    "Rule Deleted Name\n" % " ".join(VMA_FIELDS)


def vmas_line(start, pages, name, rule, perms="rw-p", deleted=False, **fields):
    numbers = [str(fields.get(field, 0)) for field in VMA_FIELDS]
    return "%08x-%08x %s 00000000 00:00 0 %s x - %s %s %s\n" % (
        start, start + pages * 4096, perms, " ".join(numbers), rule,
        "deleted" if deleted else "-", name)


NAMES_HEADING = " ".join(NINE) + " vmas class name\n"
OWNERS_HEADING = "pss rss private_dirty swap_pss regions perms source owner\n"


def test_live(directory):
    pid = 4711
    sysfs = os.path.join(directory, "unknown-sys")
    args = (str(pid), "--sysfs", sysfs)
    module = make_sysfs(sysfs, pid, record(
        pid, unavailable=2, heap_pss=4096,
        unknown={"linker": 8192, "unnamed_data": 4096}))

    data = run_json("unknown", *args)
    expect("live classes are the record's, without debugfs",
           [[(row["class"], row["pss"]) for row in data["rows"][:3]],
            data["total"]["pss"], data["total"]["vmas"], data["generation"],
            data["source"]],
           [[("linker", 8192), ("unnamed_data", 4096), ("libc_alloc", 0)],
            12288, 2, 7, module + "/processes/4711/record"])

    def fails(name, message, *command):
        done = run(*command)
        error = done.stderr.decode()
        report(done.returncode == 1 and message in error and
               not done.stdout and error.count("\n") == 1,
               "live: " + name, (done.returncode, error, done.stdout))
        expect("live: untracked after " + name, read(module, "untrack"),
               str(pid))

    by_name = ("unknown",) + args + ("--by", "name")
    by_owner = ("unknown",) + args + ("--by", "owner")
    explain = ("explain",) + args
    for name, command in (("name", by_name), ("owner", by_owner),
                          ("explain", explain)):
        fails("debugfs is not mounted, " + name,
              "mount -t debugfs none %s/kernel/debug" % sysfs, *command)
    os.makedirs(os.path.join(sysfs, "kernel", "debug", "memledger"))
    fails("untracked again and again", "again and again", *by_name)
    process = make_details(sysfs, pid, {})
    fails("a module without the file", "built with the module", *by_name)

    rows = "12287 0 16384 8192 0 0 0 4096 1365 3 - Total\n" \
        "8191 0 8192 4096 0 0 0 4096 1365 1 named_other [anon:a \"b\\ %s]\n" \
        "4095 0 4096 4096 0 0 0 0 0 1 unnamed_data no name, writable\n" \
        "0 0 4096 0 0 0 0 0 0 1 named_other [anon:no name, writable]\n"
    make_details(sysfs, pid, {"unknown": NAMES_HEADING + rows})
    data = run_json(*by_name)
    expect("live names",
           [[[row["name"], row["class"], row["pss"], row["swap_pss"],
              row["vmas"]] for row in data["rows"]],
            data["total"]["pss"], data["total"]["vmas"], data["generation"],
            data["timestamp_ns"], data["source"], data["comm"]],
           [[["[anon:a \"b\\ %s]", "named_other", 8191, 1365, 1],
             [None, "unnamed_data", 4095, 0, 1],
             ["[anon:no name, writable]", "named_other", 0, 0, 1]],
            12287, 3, None, None, process + "/unknown", "app"])
    out = run_good(*by_name)
    report("** UNKNOWN by name in pid 4711 [app] **" in out and
           "\n[anon:a \"b\\134 %s]" in out, "live names in the table",
           out.split("\n"))
    expect("live: tracked, and untracked",
           [read(module, "track"), read(module, "untrack")], [str(pid)] * 2)

    one = "1 0 1 1 0 0 0 0 0 1 "
    total = one + "- Total\n"
    for name, text in (
            ("nothing", ""), ("another heading", "pss name\n" + total),
            ("no total", NAMES_HEADING),
            ("a row in the total's place",
             NAMES_HEADING + one + "linker [anon:.bss]\n"),
            ("no class", NAMES_HEADING + total + one + "x [anon:.bss]\n"),
            ("no name", NAMES_HEADING + total + one + "linker\n"),
            ("a number too few", NAMES_HEADING + total +
             "1 1 linker [anon:.bss]\n"),
            ("no number", NAMES_HEADING + total +
             "1 0 z 1 0 0 0 0 0 1 linker [anon:.bss]\n"),
            ("a number of 65 bits", NAMES_HEADING + total +
             "1 0 1 1 0 0 0 0 99999999999999999999 1 linker [anon:.bss]\n"),
            ("a name twice", NAMES_HEADING + total +
             2 * (one + "linker [anon:.bss]\n")),
            ("cut off", NAMES_HEADING + total + one + "linker [anon:.b")):
        make_details(sysfs, pid, {"unknown": text})
        fails("names: " + name, "built with the module", *by_name)

    owners = "# capture: on, 5 ranges, 12 dropped\n# more\n" + \
        OWNERS_HEADING + \
        "8192 8192 4096 - 2 rw-p capture /x/a b.so+0x12ab\n" \
        "4096 4096 4096 - 1 rw-p name /x/a b.so+0x12ab\n" \
        "2048 4096 0 - 1 ---p - unknown caller\n" \
        "1024 1024 0 - 1 rwxs name unresolved 0x123\n" \
        "512 1024 0 - 1 rw-p name unresolved [anon:mappingowner+0x1]\n"
    make_details(sysfs, pid, {"owners": owners})
    make_sysfs(sysfs, pid, record(pid, unavailable=3))
    data = run_json(*by_owner)
    expect("live owners",
           [[[row[key] for key in ("owner", "perms", "owner_source", "library",
                                   "offset", "regions", "pss", "swap_pss")]
             for row in data["rows"]], data["comments"], data["unavailable"],
            data["total"]],
           [[["/x/a b.so+0x12ab", "rw-p", "capture", "/x/a b.so", 0x12ab, 2,
              8192, None],
             ["/x/a b.so+0x12ab", "rw-p", "name", "/x/a b.so", 0x12ab, 1,
              4096, None],
             ["unknown caller", "---p", None, None, None, 1, 2048, None],
             ["unresolved 0x123", "rwxs", "name", None, None, 1, 1024, None],
             ["unresolved [anon:mappingowner+0x1]", "rw-p", "name", None, None,
              1, 512, None]],
            "capture: on, 5 ranges, 12 dropped\nmore\n",
            ["swap_pss"] + list(MTRACK),
            {"pss": 15872, "rss": 18432, "private_dirty": 8192,
             "swap_pss": None, "regions": 6}])
    out = run_good(*by_owner)
    report("\ncapture: on, 5 ranges, 12 dropped\n" in out,
           "live: what the capture says of itself", out.split("\n"))
    for name, text in (
            ("nothing", ""), ("a row first", owners.split("\n")[3] + "\n"),
            ("comments alone", "# capture: off\n"),
            ("odd permissions", OWNERS_HEADING + "1 1 1 1 1 rw q x y\n"),
            ("another source", OWNERS_HEADING + "1 1 1 1 1 rw-p guess /x+0x1\n"),
            ("no owner", OWNERS_HEADING + "1 1 1 1 1 rw-p name\n"),
            ("an empty owner", OWNERS_HEADING + "1 1 1 1 1 rw-p name \n"),
            ("cut off", OWNERS_HEADING + "1 1 1 1 1 rw-p name /x+0")):
        make_details(sysfs, pid, {"owners": text})
        fails("owners: " + name, "the module's owners file", *by_owner)
    make_details(sysfs, pid, {"owners": OWNERS_HEADING})
    data = run_json(*by_owner)
    expect("live: no owners", [data["rows"], data["comments"]], [[], ""])

    make_sysfs(sysfs, pid, record(pid, unavailable=2))
    vmas = VMAS_HEADING + \
        vmas_line(0x10000, 4, "/x/lib.so", "suffix:.so", "r-xp", Rss=8192,
                  Pss=5461, Private_Clean=4096, Shared_Clean=4096) + \
        vmas_line(0x14000, 4, "", "after:.so", Rss=4096, Pss=4096) + \
        vmas_line(0x20000, 4, "/dev/zero", "prefix:/dev/", "rw-s", True,
                  Rss=4096, Pss=2048, SwapPss=0) + \
        vmas_line(0x30000, 4, "[anon:a \" b]", "prefix:[anon:", Pss=1)
    make_details(sysfs, pid, {"vmas": vmas + "# complete\n"})
    data = run_json(*explain)
    expect("live: explain",
           [[(row, group["name"], group["perms"], group["rule"], group["pss"],
              group["swappable_pss"]) for row, part in
             data["category"].items() for group in part["rows"]],
            data["complete"], data["source"]],
           [[("unknown", "[anon:a \" b]", "rw-p", "prefix:[anon:", 1, 0),
             ("other_dev", "/dev/zero (deleted)", "rw-s", "prefix:/dev/", 2048,
              0),
             ("so_mmap", "/x/lib.so", "r-xp", "suffix:.so", 5461, 4096),
             ("so_mmap", None, "rw-p", "after:.so", 4096, 0)],
            True, process + "/vmas"])
    make_details(sysfs, pid, {"vmas": vmas + "# incomplete\n"})
    done = run(*explain)
    report(done.returncode == 0 and b"stop early" in done.stderr and
           b"\nIncomplete: " in done.stdout, "live: explain, incomplete",
           (done.returncode, done.stderr))
    for name, text, message in (
            ("nothing", "", "other columns"),
            ("other columns", vmas.replace(" Rss", "", 1) + "# complete\n",
             "other columns"),
            ("another rule", VMAS_HEADING + vmas_line(
                0x10000, 4, "/x.so", "named") + "# complete\n",
             "by rule named, this tool by rule suffix:.so"),
            ("no end", vmas, "cut off"),
            ("something behind the end", vmas + "# complete\nx", "cut off"),
            ("half a line", vmas + "00010000-0001", "cut off"),
            ("no range", vmas + "x y z\n# complete\n", "makes no sense"),
            ("a word too few", VMAS_HEADING + vmas_line(
                0x10000, 4, "/x", "named").replace(" 0 x ", " x ") +
             "# complete\n", "makes no sense")):
        make_details(sysfs, pid, {"vmas": text})
        fails("vmas: " + name, message, *explain)


def test_live_build_id(directory):
    """A library of a process that is there: this test's sleeper."""
    sysfs = os.path.join(directory, "owner-sys")
    path = os.path.join(directory, "live.so")
    with open(path, "wb") as file:
        file.write(elf(note(ID)))
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        make_sysfs(sysfs, sleeper.pid, record(sleeper.pid, unavailable=2))
        make_details(sysfs, sleeper.pid, {
            "owners": OWNERS_HEADING + "1 1 1 1 1 rw-p capture %s+0x10\n" %
                      path})
        row = run_json("unknown", str(sleeper.pid), "--by", "owner", "--sysfs",
                       sysfs)["rows"][0]
        expect("live: the build-id of a library",
               [row["library"], row["build_id"]], [path, ID.hex()])
    finally:
        sleeper.kill()
        sleeper.wait()


# --- the command line ------------------------------------------------------

def test_command_line(directory):
    cases = (
        (("unknown",), "unknown needs one PID, NAME, FILE or -"),
        (("unknown", "-", "heap"), "needs one"),
        (("explain",), "explain needs one"),
        (("explain", "-", "heap", "stack"), "needs one"),
        (("unknown", "-", "--by"), "by"),
        (("unknown", "-", "--by", "size"), "class, name or owner"),
        (("unknown", "-", "--top", "0"), "from 1 on"),
        (("unknown", "-", "--top", "-1"), "from 1 on"),
        (("unknown", "-", "--top", "3x"), "from 1 on"),
        (("unknown", "-", "--top", ""), "from 1 on"),
        (("unknown", "-", "--checkin"), "unknown does not take"),
        (("unknown", "-", "-a"), "unknown does not take"),
        (("explain", "-", "-s"), "explain does not take"),
        (("explain", "-", "--by", "name"), "explain does not take"),
        (("smaps", "-", "--top", "3"), "smaps does not take"),
        (("meminfo", "1", "--by", "name"), "meminfo does not take"),
    )
    for args, message in cases:
        done = run(*args)
        report(done.returncode == 2 and message in done.stderr.decode() and
               not done.stdout, "command line: " + repr(" ".join(args)),
               (done.returncode, done.stderr, done.stdout))

    saved = os.path.join(directory, "saved.smaps")
    with open(saved, "w", encoding="ascii") as file:
        file.write(PARTS)
    for command in ("unknown", "explain"):
        expect(command + " of a file",
               run_json(command, saved)["source"], saved)
    empty = os.path.join(directory, "empty")
    for command in ("unknown", "explain"):
        for operand, message in (
                (os.path.join(directory, "missing"), "no process is called"),
                (directory, "no process is called")):
            done = run(command, operand, "--sysfs", empty)
            error = done.stderr.decode()
            report(done.returncode == 1 and
                   (message in error or "initial pid namespace" in error),
                   "%s of what is neither" % command,
                   (done.returncode, error))
        done = run(command, "-", text="this is no smaps\n")
        report(done.returncode == 1 and b"standard input:1: neither" in
               done.stderr and not done.stdout,
               command + " of no smaps", (done.returncode, done.stderr))
        done = run(command, "-", text=PARTS[:-30])
        report(done.returncode == 1 and not done.stdout,
               command + " of a text that is cut off",
               (done.returncode, done.stderr))


def test_samples():
    texts = sorted(glob.glob(os.path.join(SAMPLES, "*.smaps")))
    if not SAMPLES or not texts:
        skip("samples of Unknown", "no smaps texts in MEMLEDGER_SAMPLES")
        return
    for path in texts:
        for profile in PROFILES:
            check_sums("%s by %s" % (os.path.basename(path), profile),
                       (path, "--profile", profile))


def test_all(directory):
    test_samples()
    for profile in PROFILES:
        check_sums("everything by " + profile, ("-", "--profile", profile),
                   everything(True))
    check_sums("parts", ("-",), PARTS)
    check_sums("nothing of Unknown", ("-",), vma(0x1000, 1, "[heap]") +
               vma(0x2000, 1, "[anon:dalvik-main space]"))
    check_sums("no SwapPss", ("-",), vma(0x1000, 1, "[anon:x]", Rss=4, Swap=4,
                                         without=("SwapPss",)))
    test_text()
    test_no_names()
    test_top()
    test_form()
    test_hard_names()
    test_build_ids(directory)
    test_owners()
    test_explain()
    test_live(directory)
    test_live_build_id(directory)
    test_command_line(directory)
    assert set(SUBCATEGORIES) == set(SUB_NAMES)
