#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Host tests of the memledger command, as TAP.

run.py BUILD_DIR: runs BUILD_DIR/memledger (built with sanitizers) on texts
and on a stand-in for /sys/kernel/memledger, and BUILD_DIR/classify,
BUILD_DIR/unknown and BUILD_DIR/verdict.
MEMLEDGER_SAMPLES names a directory of smaps texts with expected sums.
"""

import glob
import json
import os
import signal
import subprocess
import sys
import tempfile

from common import (BUILD, CATEGORIES, CLASSES, LABELS, MTRACK, NAMES, NINE,
                    PROFILES, SAMPLES, SUBCATEGORIES, SUB_LABELS, SUB_NAMES,
                    TOOL, everything, expect, make_sysfs, read, record, report,
                    results, run, run_good, run_json, skip, vma)
import test_graphics
import test_hostile
import test_marks
import test_record
import test_system
import test_unknown

SUMMARY = (
    "java_heap native_heap code stack graphics private_other system total_pss "
    "total_rss total_swap total_swap_pss java_heap_rss native_heap_rss "
    "code_rss stack_rss graphics_rss unknown_rss").split()

# --- what the outputs have to agree on -------------------------------------

def check_json_form(name, data, profile):
    """Exactly the documented keys, and null where something is unknown."""
    unavailable = data["unavailable"]
    keys = set(NINE) | {"uss", "vss", "vmas", "pss_floor", "swap_pss_floor"}
    categories = [c for c in CATEGORIES
                  if c != "memfd" or profile == "android17"]
    subs = [s for s in SUBCATEGORIES
            if s != "zygote_jit" or profile != "android10"]
    want = {
        "top": set("pid comm profile generation complete unit source kernel "
                   "page_size timestamp_ns total category subcategory unknown "
                   "summary heap unavailable".split()),
        "total": keys | {"shared_hugetlb", "private_hugetlb"},
        "category": categories, "subcategory": subs, "unknown": CLASSES,
        "summary": SUMMARY,
        "heap": {"size": None, "alloc": None, "free": None},
        "unit": "bytes", "profile": profile, "rows": True, "nulls": True,
    }
    got = {
        "top": set(data), "total": set(data["total"]),
        "category": list(data["category"]),
        "subcategory": list(data["subcategory"]),
        "unknown": list(data["unknown"]),
        "summary": list(data["summary"]), "heap": data["heap"],
        "unit": data["unit"], "profile": data["profile"],
        "rows": all(set(row) == keys
                    for part in ("category", "subcategory", "unknown")
                    for row in data[part].values()),
        "nulls": True,
    }
    rows = [("total", data["total"])] + list(data["category"].items()) + \
        list(data["subcategory"].items()) + list(data["unknown"].items())
    for row_name, row in rows:
        for key, value in row.items():
            null = row_name in unavailable or key in unavailable or \
                key.replace("_floor", "") in unavailable
            if (value is None) != null:
                got["nulls"] = (row_name, key, value)
    if (data["summary"]["total_swap_pss"] is None) != \
            ("swap_pss" in unavailable):
        got["nulls"] = "total_swap_pss"
    expect(name + ": the keys, and null where unavailable", got, want)


def check_summary(name, data, text):
    """The App Summary, made again from the rows; and its lines in the table."""
    total, category, sub = (data[part] for part in
                            ("total", "category", "subcategory"))
    code = [category[row] for row in ("so_mmap", "jar_mmap", "apk_mmap",
                                      "ttf_mmap", "dex_mmap", "oat_mmap")]
    if data["profile"] != "android10":
        code += [sub["zygote_jit"], sub["app_jit"]]
    # The rows of GPU drivers are unavailable in all texts of these tests.
    want = {
        "java_heap": category["dalvik_heap"]["private_dirty"] +
                     category["art_mmap"]["uss"],
        "native_heap": category["native_heap"]["private_dirty"],
        "code": sum(row["uss"] for row in code),
        "stack": category["stack"]["private_dirty"],
        "graphics": category["gfx_dev"]["uss"],
        "java_heap_rss": category["dalvik_heap"]["rss"] +
                         category["art_mmap"]["rss"],
        "native_heap_rss": category["native_heap"]["rss"],
        "code_rss": sum(row["rss"] for row in code),
        "stack_rss": category["stack"]["rss"],
        "graphics_rss": category["gfx_dev"]["rss"],
        "total_pss": total["pss_floor"] + total["swap_pss_floor"],
        "total_rss": total["rss"], "total_swap": total["swap"],
        "total_swap_pss": total["swap_pss_floor"],
    }
    want["system"] = want["total_pss"] - total["uss"]
    want["private_other"] = total["uss"] - sum(
        want[key] for key in ("java_heap", "native_heap", "code", "stack",
                              "graphics"))
    want["unknown_rss"] = want["total_rss"] - sum(
        want[key] for key in want if key.endswith("_rss") and
        key != "total_rss")
    expect(name + ": App Summary", data["summary"], want)

    swap = "total_swap_pss" if total["swap_pss_floor"] else "total_swap"
    lines = [
        ["Java Heap:", "java_heap", "java_heap_rss"],
        ["Native Heap:", "native_heap", "native_heap_rss"],
        ["Code:", "code", "code_rss"], ["Stack:", "stack", "stack_rss"],
        ["Graphics:", "graphics", "graphics_rss"],
        ["Private Other:", "private_other"], ["System:", "system"],
        ["Unknown:", "unknown_rss"], [],
        ["TOTAL PSS:", "total_pss", "TOTAL RSS:", "total_rss",
         "TOTAL SWAP PSS:" if total["swap_pss_floor"] else
         "TOTAL SWAP (KB):", swap],
    ]
    expect(name + ": App Summary in the table",
           [" ".join(line.split()) for line in
            text.split(" App Summary\n")[1].split("\n")[2:12]],
           [" ".join(str(want[word] // 1024) if word in want else word
                     for word in line) for line in lines])


def kb_of(row, key):
    return (row[key] or 0) // 1024


def table_rows(text, width):
    """Label -> columns of the lines that have as many columns as a row."""
    rows = {}
    for line in text.split("\n"):
        if len(line) != 13 + 9 * width and \
                len(line.split("mmap")[-1]) != 9 * width and \
                not line.lstrip().startswith(".Compiler"):
            continue
        columns = [line[len(line) - 9 * (width - i):len(line) - 9 *
                        (width - i - 1)] for i in range(width)]
        label = line[:len(line) - 9 * width].strip()
        rows[label] = [column.strip() for column in columns]
    return rows


def check_table(name, text, data, full, swap_pss):
    """Each field of the table against the JSON of the same text."""
    rows = table_rows(text, 11 if full else 8)
    swap = "swap_pss_floor" if swap_pss else "swap"
    keys = (["pss_floor", "swappable_pss", "shared_dirty", "private_dirty",
             "shared_clean"] if full else ["pss_floor", "private_dirty"]) + \
        ["private_clean", swap, "rss"]
    labels = dict(zip(LABELS, CATEGORIES[3:]))
    want = {}

    def add(label, row, heap, extra=0):
        values = [kb_of(row, key) for key in keys]
        values[0] += extra
        want[label] = [str(value) for value in values] + [heap] * 3

    add("Native Heap", data["category"]["native_heap"], "0")
    add("Dalvik Heap", data["category"]["dalvik_heap"], "0")
    for label, category in labels.items():
        row = data["category"].get(category)
        if row and any(kb_of(row, key) for key in keys):
            add(label, row, "")
    add("Unknown", data["category"]["unknown"], "")
    add("TOTAL", data["total"], "0", kb_of(data["total"], "swap_pss_floor"))
    if full:
        for label, sub in zip(SUB_LABELS, SUBCATEGORIES):
            if data["profile"] == "android10" and sub == "app_jit":
                label = ".JITCache"
            row = data["subcategory"].get(sub)
            if row and any(kb_of(row, key) for key in keys if key != "rss"):
                add(label, row, "")
    got = {label: columns for label, columns in rows.items()
           if label and label in want}
    expect(name + ": every field of the table", got, want)
    # JSON and table name the rows in another order; the table's is fixed.
    order = [label for label in rows if label in want]
    expect(name + ": order of the rows", order, list(want))


def check_checkin(name, line, data, who):
    """Each field of the checkin line against the JSON of the same text."""
    columns = ("pss_floor swappable_pss shared_dirty shared_clean "
               "private_dirty private_clean swap swap_pss_floor").split()
    category, total = data["category"], data["total"]
    has_swap_pss = bool(total["swap_pss_floor"])
    want = ["4"] + who + ["0", "0", "N/A", "0"] * 3
    for column in columns:
        native, dalvik, whole = (kb_of(row, column) for row in (
            category["native_heap"], category["dalvik_heap"], total))
        values = [native, dalvik, whole - native - dalvik, whole]
        if column == "pss_floor":
            values[3] += kb_of(total, "swap_pss_floor")
        if column == "swap_pss_floor" and not has_swap_pss:
            values = ["N/A"] * 4
        want += [str(value) for value in values]
    for label, key in zip(LABELS, CATEGORIES[3:]):
        if key not in category:
            continue
        values = [str(kb_of(category[key], column)) for column in columns]
        if not has_swap_pss:
            values[7] = "N/A"
        if key in MTRACK:
            values = ["N/A"] * 8
        want += [label] + values
    expect(name + ": every field of the line", line,
           ",".join(want) + ",\n")


# --- tests -----------------------------------------------------------------

def test_cases():
    for program, name in (("classify", "KUnit's table of names"),
                          ("unknown", "KUnit's cases of Unknown"),
                          ("verdict", "verdicts on noisy streams"),
                          ("kunit_account", "KUnit's suite of accounting"),
                          ("kunit_graphics", "KUnit's suite of GPU memory"),
                          ("kunit_dmabuf", "KUnit's suite of DMA-BUFs")):
        done = subprocess.run([os.path.join(BUILD, program)],
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        report(done.returncode == 0, name + " under sanitizers",
               done.stdout.decode(errors="replace").splitlines())


def test_samples():
    texts = sorted(glob.glob(os.path.join(SAMPLES, "*.smaps")))
    if not SAMPLES or not texts:
        skip("samples", "no smaps texts in MEMLEDGER_SAMPLES")
        return
    for path in texts:
        base = os.path.basename(path)[:-len(".smaps")]
        for profile in PROFILES:
            with open("%s.%s.json" % (path[:-len(".smaps")], profile),
                      encoding="utf-8") as file:
                sample = json.load(file)
            data = run_json("smaps", path, "--profile", profile)
            wrong = []
            for part in ("category", "subcategory"):
                for row, got in data[part].items():
                    want = sample[part].get(row)
                    if want is None:
                        if got["vmas"]:
                            wrong.append((row, "not in the sample"))
                        continue
                    for key, number in want.items():
                        number *= 1 if key == "vmas" else 1024
                        if got[key] != number:
                            wrong.append((row, key, got[key], number))
                wrong += [(row, "missing") for row in sample[part]
                          if row not in data[part]]
            if bool(data["total"]["swap_pss_floor"]) != sample["has_swap_pss"]:
                wrong.append("has_swap_pss")
            report(not wrong, "%s by %s" % (base, profile), wrong)
    path = os.path.join(SAMPLES, "aosp-system_server.smaps")
    if not os.path.exists(path):
        skip("App Summary of system_server", "no such sample")
        return
    for profile in ("android16", "android17"):
        summary = run_json("smaps", path, "--profile", profile)["summary"]
        want = dict(java_heap=11916, native_heap=38900, code=33544, stack=32,
                    graphics=0, private_other=6128, system=17864,
                    total_pss=108384, total_rss=250332)
        expect("App Summary of system_server by " + profile,
               {key: summary[key] for key in want},
               {key: value * 1024 for key, value in want.items()})


def test_android_unit_test():
    """The one figure for which AOSP's own test has expectations."""
    text = vma(0x1000, 256, "[anon:dalvik-main space (region space)]",
               Rss=2652, Pss=2652, Shared_Clean=840, Shared_Dirty=40,
               Private_Clean=84, Private_Dirty=2652, Swap=102, SwapPss=70)
    row = run_json("smaps", "-", text=text)["category"]["dalvik_heap"]
    want = dict(pss=2652, swappable_pss=0, rss=2652, private_dirty=2652,
                shared_dirty=40, private_clean=84, shared_clean=840, swap=102,
                swap_pss=70, uss=2736)
    expect("main space of AOSP's unit test",
           {key: row[key] for key in want},
           {key: value * 1024 for key, value in want.items()})


def test_swappable():
    cases = (
        ("private clean only", dict(Pss=100, Private_Clean=40), 40),
        ("the quotient is an integer",
         dict(Pss=99, Shared_Clean=60, Private_Clean=40), 40),
        ("shared pages that nobody else maps",
         dict(Pss=100, Shared_Clean=60, Private_Clean=40), 100),
        ("and the dirty ones among them",
         dict(Pss=100, Shared_Clean=50, Shared_Dirty=10, Private_Clean=40),
         90),
        ("a quotient of 2",
         dict(Pss=160, Shared_Clean=60, Private_Clean=40), 160),
        ("no PSS", dict(Pss=0, Private_Clean=40), 0),
        ("PSS below USS", dict(Pss=1, Shared_Clean=1, Private_Clean=40), 40),
        ("private dirty counts as USS",
         dict(Pss=100, Shared_Clean=60, Private_Dirty=40), 60),
    )
    for name, kb, want in cases:
        for mapping, factor in (("/x.so", 1024), ("[heap]", 0)):
            data = run_json("smaps", "-", text=vma(0x1000, 1, mapping, **kb))
            expect("swappable PSS of %s: %s" % (mapping, name),
                   data["total"]["swappable_pss"], want * factor)


def test_outputs():
    for swap_pss in (True, False):
        text = everything(swap_pss)
        for profile in PROFILES:
            name = "everything%s, %s" % (", SwapPss" * swap_pss, profile)
            data = run_json("smaps", "-", "--profile", profile, text=text)
            check_json_form(name, data, profile)
            expect(name + ": unavailable", data["unavailable"], list(MTRACK))
            for key in NINE + ["vmas", "pss_floor"]:
                if sum(row[key] or 0 for row in data["category"].values()) \
                        != data["total"][key]:
                    report(False, name + ": rows add up", (key,))
            for args in ((), ("-a",), ("-a", "-d")):
                out = run_good("smaps", "-", "--profile", profile, *args,
                               text=text)
                check_table("%s %s" % (name, " ".join(args)), out, data,
                            bool(args), swap_pss)
            check_summary(name, data, out)
            line = run_good("smaps", "-", "--checkin", "--profile", profile,
                            text=text)
            check_checkin(name, line, data, ["N/A", "standard input"])


SMALL = vma(0x10000, 4, "[heap]", Rss=16, Pss=12, Private_Dirty=8,
            Shared_Dirty=8, Swap=4) + \
    vma(0x20000, 8, "[anon:dalvik-card table]", Rss=8, Shared_Clean=8) + \
    vma(0x30000, 2, "/x.so", Rss=8, Pss=5, Private_Clean=4, Shared_Clean=4)

GOLDEN = """
** MEMINFO in standard input **
                   Pss  Private  Private     Swap      Rss     Heap     Heap     Heap
                 Total    Dirty    Clean    Dirty    Total     Size    Alloc     Free
                ------   ------   ------   ------   ------   ------   ------   ------
  Native Heap       12        8        0        4       16        0        0        0
  Dalvik Heap        0        0        0        0        0        0        0        0
 Dalvik Other        0        0        0        0        8@
     .so mmap        5        0        4        0        8@
      Unknown        0        0        0        0        0@
        TOTAL       17        8        4        4       32        0        0        0
DETAILS \n App Summary
                       Pss(KB)                        Rss(KB)
                        ------                         ------
           Java Heap:        0                              0
         Native Heap:        8                             16
                Code:        4                              8
               Stack:        0                              0
            Graphics:        0                              0
       Private Other:        0
              System:        5
             Unknown:                                       8
 \n           TOTAL PSS:       17            TOTAL RSS:       32      TOTAL SWAP (KB):        4
""".replace("@", " " * 27)

# Only RSS is shown of it, but its Shared Clean, which -a shows, keeps the row.
DETAILS = """ \n Dalvik Details
          .GC        0        0        0        0        8@
""".replace("@", " " * 27)


def test_golden():
    text = SMALL.replace("SwapPss:               0", "SwapPss:              %d")
    no_swap_pss = text % (0, 0, 0)
    cases = (
        ("plain", (), GOLDEN.replace("DETAILS", "")),
        ("-d", ("-d",), GOLDEN.replace("DETAILS", DETAILS)),
    )
    for name, args, want in cases:
        out = run_good("smaps", "-", *args, text=no_swap_pss)
        got, tail = out.split("\nSource: ")
        expect("golden table, " + name, got, want)
        expect("golden source, " + name, tail.split("\n")[0],
               "standard input, profile android16")
    out = run_good("smaps", "-", "-s", text=no_swap_pss)
    head = GOLDEN.split("                   Pss")[0]
    expect("golden table, -s", out.split("\nSource: ")[0],
           head + " \n App" + GOLDEN.split(" \n App")[1])
    out = run_good("smaps", "-", text=text % (3, 0, 0))
    lines = out.split("\n")
    expect("SwapPss in the heading where there is any", lines[2][40:49],
           "  SwapPss")
    expect("SwapPss in the total", [lines[10][13:22], lines[10][40:49]],
           ["       20", "        3"])
    report("      TOTAL SWAP PSS:        3\n" in out,
           "SwapPss in the summary", lines)


def test_rss_alone():
    """Rows that only RSS would keep: shown, but not among the details."""
    text = vma(0x10000, 8, "[anon:dalvik-card table]", Rss=8) + \
        vma(0x30000, 2, "/x.ttf")
    out = run_good("smaps", "-", "-a", text=text)
    expect("a row with RSS alone, a detail with RSS alone, an empty row",
           ["Dalvik Other " in out, ".GC" in out, ".ttf mmap" in out],
           [True, False, False])


def with_line(text, number, line):
    lines = text.split("\n")
    lines[number - 1] = line
    return "\n".join(lines)


def test_errors():
    two = vma(0x1000, 1, "[heap]", Rss=4) + vma(0x2000, 1, "/x.so")
    no = lambda field: vma(0x1000, 1, without=(field,))
    cases = [
        ("empty", "", 1, "no mapping"),
        ("words", "this is no smaps\n", 1, "neither"),
        ("an empty line", two + "\n", 25, "neither"),
        ("a field first", "Rss: 4 kB\n" + two, 1, "before any mapping"),
        ("a NUL byte", with_line(two, 3, "Rss: \0 4 kB"), 3, "NUL"),
        ("a NUL byte in a name", with_line(two, 13, "2000-3000 r--p 0 0:0 0 /\0x"),
         13, "NUL"),
        ("no unit", with_line(two, 3, "Rss:   4"), 3, "not in kB"),
        ("another unit", with_line(two, 3, "Rss:   4 MB"), 3, "something after"),
        ("no number", with_line(two, 3, "Rss:   kB"), 3, "no number"),
        ("a negative number", with_line(two, 3, "Rss:   -4 kB"), 3, "no number"),
        ("a hexadecimal number", with_line(two, 3, "Rss: 0x4 kB"), 3,
         "something after"),
        ("2^64", with_line(two, 3, "Rss: 18446744073709551616 kB"), 3,
         "too large"),
        ("2^64 - 1", with_line(two, 3, "Rss: 18446744073709551615 kB"), 3,
         "Rss is too large"),
        ("PSS beyond fixed point", with_line(two, 4, "Pss: 2199023255553 kB"),
         4, "Pss is too large"),
        ("a sum beyond fixed point",
         with_line(with_line(two, 4, "Pss: 2199023255552 kB"), 16, "Pss: 1 kB"),
         16, "in sum"),
        ("an unknown field without a number", with_line(two, 12, "Foo: bar"),
         12, "no number"),
        ("a field twice", with_line(two, 5, "Rss:  4 kB"), 5, "second Rss"),
        ("an end before the start",
         with_line(two, 13, "3000-2000 r--p 0 0:0 0 /x"), 13, "ends before"),
        ("an empty range", with_line(two, 13, "2000-2000 r--p 0 0:0 0"), 13,
         "ends before"),
        ("an overlap", with_line(two, 13, "1fff-3000 r--p 0 0:0 0"), 13,
         "below the end"),
        ("two processes", two + two, 25, "below the end"),
        ("an address of 65 bits",
         with_line(two, 13, "2000-10000000000000000 r--p 0 0:0 0"), 13,
         "neither"),
        ("no permissions", with_line(two, 13, "2000-3000 0 0:0 0"), 13,
         "neither"),
        ("odd permissions", with_line(two, 13, "2000-3000 rwxq 0 0:0 0"), 13,
         "neither"),
        ("no device", with_line(two, 13, "2000-3000 rw-p 0 0"), 13, "neither"),
        ("no inode", with_line(two, 13, "2000-3000 rw-p 0 0:0"), 13, "neither"),
        ("a name next to the inode",
         with_line(two, 13, "2000-3000 rw-p 0 0:0 0/x"), 13, "neither"),
        ("an address in capitals",
         with_line(two, 13, "2000-300A rw-p 0 0:0 0"), 13, "neither"),
        ("smaps_rollup", vma(0x1000, 9, "[rollup]", ("Size",), "---p"), 1,
         "smaps_rollup, which has"),
        ("cut off in a header", two + "30", 25, "neither"),
        ("cut off in a field's name", two[:-22], 24, "neither"),
        ("cut off in a number", two[:-4], 24, "not in kB"),
        ("cut off between lines", "\n".join(two.split("\n")[:20]) + "\n", 21,
         "line 13 has no Shared_Hugetlb"),
        ("cut off after a header", two + "3000-4000 r--p 0 0:0 0\n", 26,
         "line 25 has no"),
        ("a mapping without fields", "1000-2000 r--p 0 0:0 0\n" + two[:0] +
         vma(0x2000, 1), 2, "line 1 has no Rss"),
        ("SwapPss in the second alone", no("SwapPss") + vma(0x2000, 1), 24,
         "line 12 has SwapPss"),
        ("SwapPss in the first alone",
         vma(0x1000, 1) + vma(0x2000, 1, without=("SwapPss",)), 24,
         "line 13 has no SwapPss"),
    ]
    for field in ("Rss Pss Shared_Clean Shared_Dirty Private_Clean "
                  "Private_Dirty Swap").split():
        cases.append(("no " + field, no(field), 12, "has no " + field))
    for name, text, line, message in cases:
        for eol in ("\n", "\r\n"):
            # A text that ends in the middle has no line end to convert.
            done = run("smaps", "-", text=text.replace("\n", eol))
            error = done.stderr.decode()
            want = "memledger: standard input:%d: " % line
            report(done.returncode == 1 and not done.stdout and
                   error.startswith(want) and message in error and
                   error.count("\n") == 1,
                   "error%s: %s" % (" (CRLF)" * (eol != "\n"), name),
                   (done.returncode, error, "want " + want + message))


def test_tolerance():
    plain = vma(0x1000, 1, "/x y.so", Rss=4, Pss=4, Private_Clean=4) + \
        vma(0x2000, 1, "", Rss=4, Pss=3)
    base = run_json("smaps", "-", text=plain)
    same = (
        ("CRLF", plain.replace("\n", "\r\n")),
        ("no last line end", plain[:-1]),
        ("tabs and wide blanks", plain.replace("Rss: ", "Rss:\t   ")),
        ("unknown fields", plain.replace(
            "Swap:", "Foo_Bar9:   7 kB\nTHPeligible:    1\n"
            "ProtectionKey:   0\nNonlinear:  0 kB\nSwap:")),
        ("flags and names", plain.replace(
            "Swap:", "VmFlags: rd wr ??\nName:      [anon:x]\nSwap:")),
        ("fields that no row needs, in one mapping",
         plain.replace("Swap:", "KSM: 4 kB\nLocked: 4 kB\nSwap:", 1)),
        ("fields in another order", plain.replace(
            "Rss:                   4 kB\nPss:                   4 kB\n",
            "Pss:                   4 kB\nRss:                   4 kB\n")),
    )
    for name, text in same:
        expect("the same: " + name, run_json("smaps", "-", text=text), base)
    expect("a .so with a blank, and what lies behind it",
           base["category"]["so_mmap"]["vmas"], 2)
    expect("no name of an anonymous mapping", base["unavailable"],
           list(MTRACK) + ["anon_names"])
    needs_names = ("heap", "los", "zygote", "non_moving", "linear_alloc",
                   "gc", "compiler_metadata", "indirect_ref")
    expect("rows that only such a name leads to are null, not 0",
           sorted(name for kind in ("category", "subcategory")
                  for name, row in base[kind].items() if row["rss"] is None),
           sorted(MTRACK + needs_names + ("dalvik_heap",)))
    expect("provenance of a text",
           [base[key] for key in ("pid", "comm", "generation", "kernel",
                                  "page_size", "timestamp_ns", "complete",
                                  "source")],
           [None] * 6 + [True, "standard input"])
    for sizes, want in (((16, 16), 16), ((2048, 4), 4), ((4, 2048), 4)):
        text = plain
        for size in sizes:
            text = text.replace("\nRss:", "\nKernelPageSize: %d kB\n rss:" %
                                size, 1)
        data = run_json("smaps", "-", text=text.replace(" rss:", "Rss:"))
        expect("page size of %d and %d" % sizes, data["page_size"],
               want * 1024)

    text = vma(0x1000, 1, "[anon:x]", without=("SwapPss",), Swap=4, Rss=4,
               Pss=4)
    data = run_json("smaps", "-", text=text)
    check_json_form("no SwapPss", data, "android16")
    expect("no SwapPss: unavailable", data["unavailable"],
           ["swap_pss"] + list(MTRACK))
    expect("no SwapPss: the total is without it",
           data["summary"]["total_pss"], 4096)
    out = run_good("smaps", "-", text=text)
    report("\nUnavailable: swap_pss egl_mtrack gl_mtrack other_mtrack\n" in out,
           "no SwapPss: the table says so", out.split("\n"))

    text = vma(0x1000, 1, "[anon:x]",
               without=("Shared_Hugetlb", "Private_Hugetlb", "Size"))
    data = run_json("smaps", "-", text=text)
    check_json_form("no hugetlb", data, "android16")
    expect("no hugetlb: unavailable", data["unavailable"],
           list(MTRACK) + ["shared_hugetlb", "private_hugetlb"])
    expect("no Size: the range", data["total"]["vss"], 4096)
    data = run_json("smaps", "-", text=vma(0x1000, 1, Shared_Hugetlb=2048,
                                           Private_Hugetlb=4096))
    expect("hugetlb is outside RSS",
           [data["total"][key] for key in ("shared_hugetlb", "private_hugetlb",
                                           "rss", "pss")],
           [2 << 20, 4 << 20, 0, 0])

    names = (
        ("[vsyscall]", "other_mmap"), ("/x.so (deleted)", "so_mmap"),
        ("/x.so (deleted) (deleted)", "other_mmap"), ("/x.so ", "other_mmap"),
        ("/a\x1b[31mb.so", "so_mmap"), ("/\xff.ttf", "ttf_mmap"),
        ("(deleted)", "other_mmap"), ("/" + "y" * 300000 + ".jar", "jar_mmap"),
        ("/dev/kgsl-3d0", "gfx_dev"), ("Rss: 4 kB", "other_mmap"),
    )
    for name, category in names:
        data = run_json("smaps", "-", text=vma(0x1000, 1, name))
        expect("name %.24r" % name,
               [row for row, usage in data["category"].items()
                if usage["vmas"]], [category])
    last = "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]"
    text = with_line(vma(0x1000, 1), 1, last)
    expect("the last page of all", run_json("smaps", "-", text=text)["total"]
           ["vmas"], 1)


def test_command_line(directory):
    missing = os.path.join(directory, "no such\x1b file")
    cases = (
        (("help",), 0, "Usage: memledger"), (("--help",), 0, "Usage"),
        (("-h",), 0, "Usage"), (("--version",), 0, "memledger 0.1 (ABI 1)"),
        ((), 2, "no command given"), (("frobnicate",), 2, "no such command"),
        (("smaps",), 2, "smaps needs one FILE or -"),
        (("smaps", "a", "b"), 2, "needs one"), (("smaps", ""), 2, "needs one"),
        (("meminfo", "1", "2"), 2,
         "meminfo needs at most one PID or NAME"),
        (("smaps", "-", "--frob"), 2, "frob"), (("smaps", "-", "-x"), 2, "x"),
        (("smaps", "-", "--profile"), 2, "profile"),
        (("smaps", "-", "--profile", "android9"), 2, "no such profile"),
        (("smaps", "-", "--json", "--checkin"), 2, "exclude each other"),
        (("smaps", missing), 1, "no such\\033 file: No such file"),
        (("smaps", directory), 1, "Is a directory"),
    )
    for args, status, message in cases:
        done = run(*args)
        out = (done.stdout if status == 0 else done.stderr).decode()
        other = done.stderr if status == 0 else done.stdout
        report(done.returncode == status and message in out and not other,
               "command line: " + repr(" ".join(args))[-40:],
               (done.returncode, out, other))
    with open("/dev/full", "wb") as full:
        done = run("smaps", "-", text=SMALL, stdout=full)
    report(done.returncode == 1 and b"cannot write" in done.stderr,
           "a full disk", (done.returncode, done.stderr))
    for order in (("smaps", "-", "-s"), ("-s", "smaps", "-"),
                  ("smaps", "-s", "-"), ("smaps", "-", "--summary")):
        expect("options in any place: " + " ".join(order),
               run_good(*order, text=SMALL),
               run_good("smaps", "-", "-s", text=SMALL))
    expect("-a has the details too", run_good("smaps", "-", "-a", text=SMALL),
           run_good("smaps", "-", "--all", "--dalvik", text=SMALL))


def test_live(directory):
    pid = 4711
    sysfs = os.path.join(directory, "sys")
    args = ("meminfo", str(pid), "--sysfs", sysfs)

    def fails(name, message, *more):
        done = run(*args, *more)
        error = done.stderr.decode()
        report(done.returncode == 1 and message in error and not done.stdout,
               "live: " + name, (done.returncode, error, done.stdout))

    fails("sysfs is not mounted", "mounted")
    os.makedirs(os.path.join(sysfs, "kernel"))
    fails("the module is not loaded", "insmod memledger.ko")
    make_sysfs(sysfs, pid, record(pid), abi="2\n")
    fails("another ABI", "version 2 of the ABI")

    hostile = b'a"\\\x1b\n,\xff\xc3\xa9'
    module = make_sysfs(sysfs, pid, record(pid, hostile, heap_pss=8192))
    data = run_json(*args)
    check_json_form("live", data, "android16")
    expect("live: numbers and provenance",
           [data[key] for key in ("pid", "comm", "generation", "timestamp_ns",
                                  "complete", "page_size", "kernel", "source")]
           + [data["category"]["native_heap"]["pss"], data["unavailable"]],
           [pid, 'a"\\\x1b\n,\ufffd\xe9', 7, 12000000034, True, 4096,
            os.uname().release, module + "/processes/4711/record", 8192,
            ["swap_pss"] + list(MTRACK)])
    expect("live: tracked, and untracked",
           [read(module, "track"), read(module, "untrack")], ["4711"] * 2)
    out = run_good(*args)
    expect("live: a hostile name in the table", out.split("\n")[1],
           '** MEMINFO in pid 4711 [a"\\134\\033\\012,\\377\\303\\251] **')
    report("snapshot 7, taken 12.000000034 s after boot" in out and
           "page size 4096" in out, "live: the table says what it is of",
           out.split("\n"))
    check_checkin("live", run_good(*args, "--checkin"), data,
                  ["4711", 'a"\\134\\033\\012\\054\\377\\303\\251'])

    for comm, want in (
            (b"\xc0\x80 \xe0\x80\x80", "\ufffd" * 2 + " " + "\ufffd" * 3),
            (b"\xed\xa0\x80", "\ufffd" * 3),
            (b"\xf4\x90\x80\x80", "\ufffd" * 4),
            (b"\xf0\x9f\x98\x80\xf0\x9f", "\U0001f600" + "\ufffd" * 2),
            (b"\xc2\x9b\x7f", "\x9b\x7f"), (b"sixteen bytes!!!",
                                             "sixteen bytes!!")):
        make_sysfs(sysfs, pid, record(pid, comm))
        out = run_good(*args, "--json")
        expect("live: JSON of %r" % comm, json.loads(out)["comm"], want)
        report(not any(0x7f <= ord(c) < 0xa0 or ord(c) < 32 for c in out[:-1]),
               "live: no control character in JSON of %r" % comm, (out,))

    make_sysfs(sysfs, pid, record(pid, complete=0))
    for more in ((), ("--json",), ("--checkin",)):
        done = run(*args, *more)
        report(done.returncode == 0 and b"stop early" in done.stderr,
               "live: incomplete, " + " ".join(more),
               (done.returncode, done.stderr))
    expect("live: incomplete in JSON",
           json.loads(run(*args, "--json").stdout)["complete"], False)
    report("\nIncomplete: " in run(*args).stdout.decode(),
           "live: incomplete in the table")

    whole = record(pid)
    for name, data, message in (
            ("generations that differ", record(pid, generation=(7, 8)),
             "replaced faster"),
            ("a short record", whole[:4096], "replaced faster"),
            ("no record", b"", "replaced faster"),
            ("a newer record", record(pid, version=2), "version 2"),
            ("no magic number", record(pid, magic=1), "built with the module"),
            ("a longer record", record(pid, size=9999), "9999 bytes"),
            ("more categories", record(pid, categories=22),
             "built with the module"),
            ("more classes", record(pid, classes=14),
             "built with the module"),
            ("an unknown profile", record(pid, profile=b"android99"),
             "unknown to this tool")):
        make_sysfs(sysfs, pid, data)
        fails(name, message)
        expect("live: untracked after " + name, read(module, "untrack"),
               "4711")

    make_sysfs(sysfs, pid, record(pid, profile=b"android11"))
    data = run_json(*args, "--profile", "android11")
    expect("live: another profile", data["profile"], "android11")
    # A file does not turn what is written into a list: what counts is that
    # the last thing written was the former profile.
    report(read(module, "profile").startswith("android16"),
           "live: the former profile is back", (read(module, "profile"),))
    make_sysfs(sysfs, pid, record(pid))
    fails("a profile that does not take", "changes the module's profile",
          "--profile", "android17")
    expect("live: it was refreshed before giving up",
           read(module, "processes", "4711", "refresh"), "1")
    report(read(module, "profile").startswith("android16"),
           "live: the former profile is back after that")
    make_sysfs(sysfs, pid, record(pid), profiles="android16\n")
    fails("a profile file without brackets", "does not say", "--profile",
          "android11")
    os.unlink(os.path.join(module, "processes", "4711", "record"))
    fails("untracked by somebody again and again", "again and again")
    expect("live: the number 0 is a name",
           run("meminfo", "0", "--sysfs", sysfs).stderr.decode(),
           "memledger: no process is called 0: see ps -e\n")


def test_names_elsewhere(directory):
    """Names are those of the proc that is given, and of none of ours."""
    sysfs = os.path.join(directory, "elsewhere")
    proc = os.path.join(sysfs, "proc")
    make_sysfs(sysfs, 4711, record(4711))
    for process in ("4711", "4712"):
        os.makedirs(os.path.join(proc, process))
        with open(os.path.join(proc, process, "comm"), "wb") as file:
            file.write(b"elsewhere\n")
    args = ("meminfo", "elsewhere", "--sysfs", sysfs, "--proc", proc)
    report(b"more than one process" in run(*args).stderr,
           "names elsewhere: two of them")
    os.symlink("4712", os.path.join(proc, "self"))
    expect("names elsewhere: one, and ourselves", run_json(*args)["pid"], 4711)
    os.mkdir(os.path.join(proc, "1"))
    os.mkdir(os.path.join(proc, "1", "ns"))
    os.symlink("pid:[5]", os.path.join(proc, "1", "ns", "pid"))
    done = run(*args)
    report(done.returncode == 1 and b"give that with --proc" in done.stderr,
           "names elsewhere: in another pid namespace", (done.stderr,))


def test_names(directory):
    try:
        initial = os.readlink("/proc/self/ns/pid") == "pid:[4026531836]"
    except OSError:
        initial = True
    sysfs = os.path.join(directory, "names")
    unique = "org.memledger.test%d" % os.getpid()
    if not initial:
        done = run("meminfo", unique, "--sysfs", sysfs)
        report(done.returncode == 1 and b"initial pid namespace" in done.stderr,
               "names in another pid namespace", (done.stderr,))
        skip("names", "not in the initial pid namespace")
        return

    def sleeper(argv0):
        return subprocess.Popen([argv0, "60"], executable="/bin/sleep")

    one = sleeper("/system/bin/" + unique)
    try:
        make_sysfs(sysfs, one.pid, record(one.pid))
        for name in (unique, "/system/bin/" + unique):
            data = run_json("meminfo", name, "--sysfs", sysfs)
            expect("process by name " + name[:12], data["pid"], one.pid)
        two = sleeper(unique + ":a\x1bb")
        three = sleeper(unique)
        try:
            make_sysfs(sysfs, two.pid, record(two.pid))
            data = run_json("meminfo", unique + ":a\x1bb", "--sysfs", sysfs)
            expect("process by an Android name", data["pid"], two.pid)
            done = run("meminfo", unique, "--sysfs", sysfs)
            error = done.stderr.decode()
            report(done.returncode == 1 and "more than one process" in error
                   and str(one.pid) in error and str(three.pid) in error and
                   str(two.pid) not in error.replace(unique, ""),
                   "two processes of one name", (error,))
        finally:
            for process in (two, three):
                process.kill()
                process.wait()
    finally:
        one.kill()
        one.wait()
    # Its own name is in its arguments, and must not be found there.
    done = subprocess.run([unique, "meminfo", unique, "--sysfs", sysfs],
                          executable=TOOL, stderr=subprocess.PIPE, check=False)
    report(done.returncode == 1 and b"no process is called" in done.stderr,
           "no process of that name", (done.stderr,))


def main():
    # In the background of a script, or under nohup, they are ignored, and would be
    # in what is run.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    test_cases()
    test_samples()
    test_android_unit_test()
    test_swappable()
    test_outputs()
    test_golden()
    test_rss_alone()
    test_errors()
    test_tolerance()
    with tempfile.TemporaryDirectory() as directory:
        test_command_line(directory)
        test_live(directory)
        test_names(directory)
        test_names_elsewhere(directory)
        test_unknown.test_all(directory)
        test_graphics.test_all(directory)
        test_system.test_all(directory)
        test_hostile.test_all(directory)
        test_marks.test_all(directory)
        test_record.test_all(directory)
    print("1..%d" % results["count"])
    return 1 if results["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
