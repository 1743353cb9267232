# SPDX-License-Identifier: GPL-2.0-only
"""Host tests of memledger diff: two files, and what has changed; and of
memledger watch, on a stand-in for the module.
"""

import errno
import fcntl
import json
import os
import pty
import random
import shutil
import struct
import subprocess
import termios
from unittest import mock

import test_graphics
import test_unknown
from common import (TOOL, everything, expect, make_details, make_sysfs, record,
                    report, run, run_good, run_json, vma)
from test_system import LEAVE, screen


def held(row):
    if row["pss"] is None:
        return None
    return row["pss"] + (row["swap"] if row["swap_pss"] is None
                         else row["swap_pss"])


def changes(before, after, count="vmas"):
    """From {name: (bytes, count)} to what diff says, the largest first."""
    rows = []
    for name in set(before) | set(after):
        (old, old_nr), (new, new_nr) = (before.get(name, (0, 0)),
                                        after.get(name, (0, 0)))
        if (old, old_nr) != (new, new_nr):
            known = old is not None and new is not None
            rows.append({"name": name, "change": new - old if known else None,
                         "before": old if known else None,
                         "after": new if known else None,
                         count: new_nr - old_nr})
    return sorted(rows, key=lambda row: (-abs(row["change"] or 0),
                                         -abs(row[count]), row["name"]))


def rows_of(data):
    return {name: (held(row), row["vmas"] if held(row) is not None else 0)
            for name, row in data.items()}


def write(directory, name, data):
    path = os.path.join(directory, name)
    text = data if isinstance(data, (str, bytes)) else json.dumps(data)
    if isinstance(text, str):
        text = text.encode()
    with open(path, "wb") as file:
        file.write(text)
    return path


def test_outputs(directory):
    """What meminfo (here smaps) and unknown --by name print."""
    old = everything(True)
    new = old
    for i in range(1204):
        new += vma(0x700000000000 + i * 0x20000, 16,
                   "[anon:scudo:secondary]", Rss=64, Pss=64, Private_Dirty=64)
    new += vma(0x710000000000, 16, "", Rss=4, Pss=4, Swap=8, SwapPss=8)
    a, b = (run_json("smaps", "-", text=text) for text in (old, new))
    paths = [write(directory, "a.json", a), write(directory, "b.json", b)]
    diff = run_json("diff", *paths)
    expect("diff: the total", diff["total"],
           changes({"total": rows_of({"": a["total"]})[""]},
                   {"total": rows_of({"": b["total"]})[""]}))
    for part in ("category", "unknown"):
        expect("diff: " + part, diff[part],
               changes(rows_of(a[part]), rows_of(b[part])))
    report(any(row["vmas"] == 1204 for row in diff["category"]) and
           any(row["name"] == "unnamed_data" and row["change"] == 12 << 10
               for row in diff["unknown"]),
           "diff: what was added is in it", (diff,))
    text = run_good("diff", *paths)
    report("+77,056K" in text and "1,204 new VMAs of Native Heap" in text,
           "diff: says so in words", (text,))
    expect("diff: what neither has is not compared",
           [diff[key] for key in ("name", "dmabuf", "exporter", "gpu")],
           [None] * 4)
    same = run_json("diff", paths[0], paths[0])
    expect("diff: nothing, of a file with itself",
           [same[key] for key in ("total", "category", "unknown")], [[]] * 3)

    names = [run_json("unknown", "-", "--by", "name", text=text)
             for text in (old, new)]
    paths = [write(directory, "%d.json" % i, data)
             for i, data in enumerate(names)]
    diff = run_json("diff", *paths)
    rows = [{row["name"]: (held(row), row["vmas"]) for row in data["rows"]
             if row["name"]} for data in names]
    expect("diff: names", [row for row in diff["name"]
                           if row["name"].startswith(("[", "/"))],
           changes(*rows))
    report("1 new VMA of no name, writable" in run_good("diff", *paths),
           "diff: what has no name goes by its class")


def mark(buffers=(), entries=(), vmas=(), **members):
    """A mark with DMA-BUFs (inode, exporter, size), GPU entries (id, usage,
    size) and mappings (start, end, name, pss)."""
    return dict({
        "mark": 1, "pid": 7, "start_ticks": 9, "timestamp_ns": 10 ** 9,
        "comm": "app", "kernel": "6.12",
        "meminfo": {"complete": True, "category": {}, "unknown": {}},
        "dmabuf": {"complete": True, "count": len(buffers),
                   "size": sum(buffer[2] for buffer in buffers),
                   "buffers": [{"inode": inode, "exporter": exporter,
                                "size": size}
                               for inode, exporter, size in buffers]},
        "gpu": {"complete": True,
                "gpu_entries": [{"id": nr, "usage": usage, "size": size}
                                for nr, usage, size in entries]},
        "vmas": [{"start": start, "end": end, "name": name, "class": "",
                  "pss": pss, "swap_pss": 0}
                 for start, end, name, pss in vmas],
    }, **members)


def test_marks(directory):
    old = mark([(1, "system", 4096), (2, "udmabuf", 8192)],
               [(1, "texture", 1 << 20)],
               [(4096, 8192, "[anon:a\x01]", 4096)])
    new = mark([(1, "system", 4096), (3, "system", 1 << 20),
                (4, "system", 1 << 20), (5, None, 4096)],
               [(1, "texture", 1 << 20), (2, "egl_image", 4096)],
               [(4096, 8192, "[anon:a\x01]", 4096),
                (8192, 12288, "[anon:a\x01]", 4096)])
    paths = [write(directory, "old.json", old),
             write(directory, "new.json", new)]
    diff = run_json("diff", *paths)
    expect("marks: exporters", diff["exporter"],
           changes({"system": (4096, 1), "udmabuf": (8192, 1)},
                   {"system": (4096 + (2 << 20), 3), "unknown": (4096, 1)},
                   "buffers"))
    expect("marks: DMA-BUFs", diff["dmabuf"],
           changes({"dmabuf": (12288, 2)}, {"dmabuf": (8192 + (2 << 20), 4)},
                   "buffers"))
    expect("marks: GPU usages", diff["gpu"],
           changes({}, {"egl_image": (4096, 1)}, "entries"))
    expect("marks: names", diff["name"],
           changes({"[anon:a\x01]": (4096, 1)}, {"[anon:a\x01]": (8192, 2)}))
    text = run_good("diff", *paths)
    report("2 new buffers of system" in text and
           "1 fewer buffer of udmabuf" in text and
           "1 new entry of egl_image" in text and "\x01" not in text,
           "marks: in words, and harmless", (text,))

    part = dict(new, gpu=None, no_gpu="no driver")
    diff = run_json("diff", paths[0], write(directory, "part.json", part))
    expect("marks: no GPU memory is not 0", diff["gpu"], None)
    part = dict(new, dmabuf=dict(new["dmabuf"], complete=False))
    done = run("diff", paths[0], write(directory, "part.json", part))
    report(not done.returncode and b"too small" in done.stderr and
           b"NOT COMPLETE" in done.stdout, "marks: not complete, and says so",
           (done,))


def test_unsure(directory):
    """What could not be looked for is not gone."""
    sysfs = os.path.join(directory, "unsure")
    pid = "70"
    make_sysfs(sysfs, 70, record(70))
    test_graphics.write(sysfs, {
        "kernel/memledger/processes/70/generation": "7\n"})
    old = write(directory, "old.json", mark(
        [(1, "system", 4096)], [(1, "texture", 1 << 20)], start_ticks=0))
    heads = {"it was": test_graphics.LIST_HEAD}
    heads["no list"] = test_graphics.DMABUF_HEAD
    heads["not complete"] = heads["it was"].replace("complete 1", "complete 0")
    for name, head in heads.items():
        for gpu in (True, False):
            files = {"dmabuf": test_graphics.DMABUF_HEAD, "gpu":
                     test_graphics.GPU_HEAD if gpu else
                     test_graphics.fail_with(errno.EOPNOTSUPP),
                     "vmas": test_unknown.VMAS_HEADING + "# complete\n"}
            make_details(sysfs, 70, files)
            test_graphics.make_dmabuf(sysfs, head)
            args = ("diff", pid, "--since", old, "--expect-released",
                    "--grace", "0", "--sysfs", sysfs)
            data = run_json(*args)
            unsure = (head != heads["it was"]) + (not gpu)
            title = "expect-released: GPU %s, DMA-BUFs: %s" % (gpu, name)
            expect(title, [data[key] for key in ("expected", "unsure",
                                                 "retained")], [2, unsure, []])
            text = run_good(*args)
            report(("as far as can be seen" in text) == bool(unsure) and
                   ("1 GPU entries may be" in text) == (not gpu) and
                   ("1 DMA-BUFs are held" in text) ==
                   (head != heads["it was"]), title + ", in words", (text,))
    test_unsure_now(directory, old)


def test_unsure_now(directory, old):
    """What it has now is looked at once, and whether that was all is said."""
    sysfs = os.path.join(directory, "unsure")
    make_details(sysfs, 70, {"vmas": test_unknown.VMAS_HEADING +
                             "# incomplete\n"})
    refresh = os.path.join(sysfs, "kernel/memledger/processes/70/refresh")
    os.unlink(refresh)
    os.mkfifo(refresh)
    fifo = os.open(refresh, os.O_RDWR | os.O_NONBLOCK)
    done = run("diff", "70", "--since", old, "--expect-released", "--grace",
               "0", "--sysfs", sysfs)
    report(done.returncode == 0 and b"not everything could be" in done.stderr,
           "expect-released: not complete, and says so", (done,))
    expect("expect-released: one look", os.read(fifo, 99), b"1")
    os.close(fifo)


BAD = {
    "empty": b"", "cut off": b'{"mark":1', "two": b"{}{}", "word": b"meminfo",
    "another mark": b'{"mark":2}', "nothing of ours": b'{"a":[1,{"b":null}]}',
    "deep": b"[" * 100000, "NUL": b'{"a":"\\u0000"}', "raw NUL": b'{"a\0":1}',
    "half a pair": b'{"a":"\\ud800"}', "bad escape": b'{"a":"\\x41"}',
    "comma": b'{"a":1,}', "number": b'{"a":01}', "newline": b'{"a":"\n"}',
    "classes": b'{"by":"class","rows":[]}',
    "an object without a number": b'{"buffers":[{"size":1}]}',
    "a negative size": b'{"buffers":[{"inode":1,"size":-1}]}',
    "too large": b'{"buffers":[{"inode":1,"size":18446744073709551616}]}',
    "names without sizes": b'{"by":"name","rows":[{"name":"a"}]}',
}


def test_bad(directory):
    good = write(directory, "good.json", mark())
    for name, data in BAD.items():
        for paths in ([good, write(directory, "bad.json", data)],
                      [write(directory, "bad.json", data), good]):
            done = run("diff", *paths)
            report(done.returncode == 1 and not done.stdout and
                   b"bad.json: " in done.stderr, "diff refuses " + name,
                   (done,))
    for args in ((), ("1", "2", "3"), ("--since", good, good, good),
                 ("--expect-released", good, good), ("--grace", "x", "1"),
                 ("--grace", "-1s", "1"), ("--top", "x", "1"),
                 ("--before", good, "1"), ("--nonsense", "1"), ("",)):
        done = run("diff", *args)
        report(done.returncode == 2 and not done.stdout and done.stderr,
               "diff refuses the words %s" % (args,), (done,))
    done = run("diff", good, os.path.join(directory, "none.json"))
    report(done.returncode == 1 and b"No such file" in done.stderr,
           "diff says which file is not there", (done,))
    done = run("mark")
    report(done.returncode == 2, "mark needs a process", (done,))


def test_long(directory):
    """Names of files are not cut."""
    deep = directory
    for _ in range(4):
        deep = os.path.join(deep, "d" * 200)
    os.makedirs(deep)
    sysfs = os.path.join(directory, "long")
    make_sysfs(sysfs, 70, record(70))
    make_details(sysfs, 70, {"vmas": test_unknown.VMAS_HEADING +
                             "# complete\n"})
    path = os.path.join(deep, "mark.json")
    where = ("--sysfs", sysfs, "--proc", directory)
    out = run_good("mark", "70", "-o", path, *where)
    report(path in out and os.path.exists(path), "mark: a long name", (out,))
    report(path in run_good("diff", "70", "--since", path, *where),
           "diff: a long name")
    with mock.patch.dict(os.environ, MEMLEDGER_MARKS=deep):
        done = run("mark", "70", *where)
    report(done.returncode == 1 and b"File name too long" in done.stderr and
           os.listdir(deep) == ["mark.json"], "mark: too long a directory",
           (done,))


def is_json(data):
    """As we have it: no NaN, nothing that is no Unicode, no NUL."""
    def refuse(_):
        raise ValueError
    try:
        value = json.loads(data.decode(), parse_constant=refuse)
        text = json.dumps(value, ensure_ascii=False)
        text.encode()
        return "\\u0000" not in text
    except (ValueError, RecursionError):
        return False


def test_reader(directory):
    """Texts that are nearly JSON: refused where Python's reader does."""
    rng = random.Random(8)
    seed = ('{"mark":1,"a":[true,false,null,-0.5e+3,"\\ud83d\\ude00\\"\\\\",'
            '{}],"b":{"c":[[]],"d":"\\/\\b\\f\\n\\r\\t\\u00e9"}}').encode()
    wrong = []
    for _ in range(150):
        data = bytearray(seed)
        for _ in range(rng.randint(0, 2)):
            at = rng.randrange(len(data))
            if rng.random() < 0.5:
                del data[at]
            else:
                data[at] = rng.choice(b'{}[]",:\\0189eEu+-. tfn\x00\x1f')
        path = write(directory, "mutated.json", bytes(data))
        done = run("diff", path, path)
        if (b"no JSON" in done.stderr) == is_json(bytes(data)):
            wrong.append((bytes(data), done.stderr))
    report(not wrong, "the reader of JSON is as strict as Python's", wrong)


ROUNDS = 20


def watch(where, rounds, between, process=str(os.getpid())):
    """What watch prints of so many lines; BETWEEN is called before each."""
    # What it begins with is not to be written while it begins.
    between(0)
    # pylint: disable-next=consider-using-with
    tool = subprocess.Popen((TOOL, "watch", process, "--every", "line") + where,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)
    lines = []
    for i in range(rounds):
        if i:
            between(i)
        tool.stdin.write(b"\n")
        tool.stdin.flush()
        lines.append(tool.stdout.readline().decode())
    rest = tool.communicate()[0].decode()
    return lines, rest, tool.returncode


def test_watch_name(directory):
    """Looked for by its name: what keeps it from being found is said."""
    sysfs = os.path.join(directory, "by_name")
    proc = os.path.join(sysfs, "proc")
    stat = "%d (app) S " + "1 " * 40 + "\n"

    def begin(*pids):
        for pid in pids:
            test_graphics.write(proc, {"%d/stat" % pid: stat % pid,
                                       "%d/comm" % pid: "app\n"})
            make_sysfs(sysfs, pid, record(pid))

    def end(pid):
        module = os.path.join(sysfs, "kernel", "memledger")
        shutil.rmtree(os.path.join(proc, str(pid)))
        shutil.rmtree(os.path.join(module, "processes", str(pid)))
        if not os.listdir(os.path.join(module, "processes")):
            os.unlink(os.path.join(module, "track"))

    begin(70)
    lines, _, status = watch(
        ("--sysfs", sysfs, "--proc", proc), 6,
        lambda i: (lambda: None, lambda: end(70), lambda: None,
                   lambda: begin(71, 72), lambda: end(71),
                   lambda: None)[i](), "app")
    gone = "the process has exited"
    expect("watch NAME: why it is not found", (status, [
        line.split(": ", 1)[1].split(", ")[0].strip() for line in lines]),
           (0, ["0K", gone, gone + "; no process is called app: see ps -e",
                gone + "; more than one process is called app: give the number "
                "of one of them:", "0K", "0K"]))


def write_record(sysfs, kb):
    make_sysfs(sysfs, os.getpid(), record(os.getpid(), heap_pss=kb << 10))


def test_watch(directory):
    sysfs = os.path.join(directory, "watch")
    where = ("--sysfs", sysfs)
    pid = str(os.getpid())
    for name, grow, verdict, driver in (
            ("a leak", 64, "growing", "Driven by\n  category Native Heap: "),
            ("nothing", 0, "stable", "")):
        lines, rest, status = watch(
            where, ROUNDS, lambda i, grow=grow: write_record(sysfs,
                                                             1000 + i * grow))
        report(status == 0 and len(lines) == ROUNDS and
               all(line.startswith("round %d at 12.000 s: %s" % (
                   i + 1, f"{1000 + i * grow:,}K, "))
                   for i, line in enumerate(lines)) and
               "\nVerdict: %s\n" % verdict in rest and driver in rest and
               rest.startswith("app[%s], %d rounds\n" % (pid, ROUNDS)),
               "watch: %s, line by line" % name, (lines, rest))

    data = json.loads(run_good("watch", pid, "--every", "10ms", "--rounds",
                               "9", "--json", *where))
    expect("watch --json", [data[key] for key in
                            ("pid", "comm", "exited", "rounds", "verdict",
                             "driver", "parts")],
           [os.getpid(), "app", False, 9, "stable", None, []])
    text = run_good("watch", pid, "--every", "10ms", "--until", "stable",
                    "--batch", *where)
    expect("watch --until: as soon as anything can be said",
           [line.split()[1] for line in text.splitlines()
            if line.startswith("round ")], [str(i) for i in range(1, 9)])
    for args, message in (
            (("--every", "0"), "--every takes"), (("--every", "x"), "--every"),
            (("--rounds", "0"), "--rounds takes"), (("--names", "-1"), "--names"),
            (("--until", "unknown"), "--until takes"),
            (("--mark-on", "q"), "--mark-on takes"),
            (("--mark-on", "ab"), "--mark-on takes"), (("2",), "one PID")):
        done = run("watch", pid, *args, *where)
        report(done.returncode == 2 and message in done.stderr.decode(),
               "watch %s: usage" % " ".join(args), (done,))
    done = run("watch", "1", "--sysfs", os.path.join(directory, "nowhere"))
    report(done.returncode == 1 and not done.stdout,
           "watch without the module", (done,))


def test_watch_terminal(directory):
    sysfs = os.path.join(directory, "watch")
    write_record(sysfs, 1000)
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    before = termios.tcgetattr(slave)
    # pylint: disable-next=consider-using-with
    tool = subprocess.Popen((TOOL, "watch", str(os.getpid()), "--every", "60s",
                             "--sysfs", sysfs), stdin=slave, stdout=slave,
                            stderr=subprocess.PIPE)
    text = screen(master, tool, b"q quits")
    lines = text.decode().split("\x1b[J")[-1].replace("\r", "").split("\n")
    report("round 1, every 60.00 s" in lines[0] and
           lines[1].startswith("1,000K Pss and swap") and
           max(len(line) for line in lines) <= 80 and len(lines) <= 24 and
           any("Native Heap" in line for line in lines),
           "watch fits the terminal", lines)
    for i in range(2, 40):
        os.write(master, b" ")
        text = screen(master, tool, b"round %d," % i)
    # The picture ends behind what was waited for.
    os.write(master, b"m")
    text = screen(master, tool, b"marked in").decode()
    lines = text.split("\x1b[J")[-1].replace("\r", "").split("\n")
    report("marked in" in text or "no mark: " in text, "watch: m marks", lines)
    os.write(master, b"q")
    text = screen(master, tool, b"Verdict: stable")
    expect("watch: q ends it, with the verdict, on the screen before",
           (tool.wait(20), LEAVE in text,
            text.find(LEAVE) < text.rfind(b"Verdict: stable"),
            termios.tcgetattr(slave) == before, tool.stderr.read()),
           (0, True, True, True, b""))
    os.close(master)
    os.close(slave)


def test_all(directory):
    os.environ["MEMLEDGER_MARKS"] = os.path.join(directory, "marks")
    test_watch(directory)
    test_watch_name(directory)
    test_watch_terminal(directory)
    test_outputs(directory)
    test_marks(directory)
    test_unsure(directory)
    test_bad(directory)
    test_long(directory)
    test_reader(directory)
