# SPDX-License-Identifier: GPL-2.0-only
"""Host tests of names that were chosen to do harm on a terminal: through every
command and form of output nothing arrives that a terminal acts upon.
"""

import json
import os
import re
import stat
import subprocess
import time
from unittest import mock

import test_graphics
import test_marks
import test_system
import test_unknown
from common import (BUILD, TOOL, expect, make_details, make_sysfs, record,
                    report, run, run_json, skip, vma)

PID = 70
MARK = b"EVIL"
# What a name may hold, by what would happen.
NAMES = (
    ("sequences", b"\x1b[2J\x1b]0;x\x07"),
    ("C1, and back", b"\x9b31m\xc2\x9b1m\r\b\x7f\t"),
    ("no UTF-8", b"\xff\xfe\xc3"),
    ("directions", "\u202ecod.exe\u202c\u2066\u2069".encode()),
    ("unseen", "\u200f\u061c\u2028\u2029\u0085\ufeff\u200b".encode()),
)
# U+061C and what Unicode calls Bidi_Control, line ends, and what is not seen.
UNSEEN = re.compile("[\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
COMMANDS = (
    ("meminfo", "70"), ("meminfo", "-a", "70"), ("meminfo", "-s", "70"),
    ("meminfo", "--checkin", "70"), ("meminfo", "--json", "70"),
    ("unknown", "70"), ("unknown", "70", "--by", "name"),
    ("unknown", "70", "--by", "owner"),
    ("unknown", "70", "--by", "name", "--json"),
    ("unknown", "70", "--by", "owner", "--json"),
    ("explain", "70"), ("explain", "70", "--json"),
    ("gpu", "4711"), ("gpu", "4711", "--entries"),
    ("gpu", "4711", "--entries", "--json"),
    ("dmabuf",), ("dmabuf", "70"), ("dmabuf", "-a"), ("dmabuf", "-b"),
    ("dmabuf", "--by", "exporter"), ("dmabuf", "-o", "csv"),
    ("dmabuf", "-b", "-o", "csv"), ("dmabuf", "--json"),
    ("gpumem",), ("gpumem", "--json"),
    ("meminfo",), ("meminfo", "--json"), ("system",), ("system", "--json"),
    ("procrank",), ("procrank", "--json"), ("librank",), ("librank", "-a"),
    ("librank", "--json"), ("showmap", "70"), ("showmap", "-a", "70"),
    ("showmap", "-v", "70"), ("showmap", "--json", "70"),
    ("top", "-b", "-n", "1"), ("top", "--once", "--json"),
)
# What writes a mark, and what reads it, or a recording.
OF_FILES = (
    ("mark", "70", "-o", "{mark}"),
    ("diff", "{empty}", "{mark}"), ("diff", "{empty}", "{mark}", "--json"),
    ("diff", "70", "--since", "{empty}"),
    ("diff", "70", "--since", "{empty}", "--json"),
    ("diff", "70", "--since", "{mark}", "--expect-released", "--grace", "0"),
    ("diff", "70", "--since", "{mark}", "--expect-released", "--grace", "0",
     "--json"),
    ("export", "{recording}", "--chrome"),
    ("export", "{recording}", "--csv", "--names"),
    ("watch", "70", "-b", "--rounds", "9", "--every", "10ms"),
    ("watch", "70", "--rounds", "9", "--every", "10ms", "--json"),
)
OF_TEXTS = (
    ("smaps",), ("smaps", "-a"), ("smaps", "--json"), ("smaps", "--checkin"),
    ("unknown", "--by", "name"), ("unknown", "--by", "owner"),
    ("unknown", "--by", "name", "--json"), ("explain",),
    ("explain", "--json"), ("showmap",), ("showmap", "-a"),
    ("showmap", "-v"), ("showmap", "--json"),
)


def octal(name):
    """As the module escapes what it prints of a comm or a DMA-BUF."""
    return "".join(chr(c) if 32 < c < 127 and c != 92 else "\\%03o" % c
                   for c in name)


def latin(name):
    """Bytes as characters, for tables that are written as latin-1."""
    return name.decode("latin-1")


def write(directory, files):
    for path, content in files.items():
        path = os.path.join(directory, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)


def bufinfo(name, device):
    """The kernel's list of DMA-BUFs, as raw as that is."""
    return "\nDma-buf Objects:\nsize\tflags\tmode\tcount\texp_name\tino\tname\n" \
        "00008192\t00080002\t00080007\t00000001\tsystem\t00000007\t%s\n" \
        "\tAttached Devices:\n\t%s\nTotal 1 devices attached\n\n" \
        "\nTotal 1 objects, 8192 bytes\n" % (name, device)


def make(directory, name):
    """A system in which all that has a name has this one."""
    snapshot = test_system.snapshot((test_system.process(
        PID, None, 0, comm=octal(name), vss=8192, rss=4096, pss=4096,
        pss_floor=4096, vmas=1,
        rows={"native_heap": {"rss": 4096, "pss": 4096,
                              "pss_floor": 4096}}),))
    heading = "".join(test_system.MAPPINGS.splitlines(True)[:3])
    mappings = heading + "process 70 - 1 %s\n" % octal(name) + \
        test_system.mapping(PID, "/lib/%s.so" % latin(name), vmas=1, vss=8192,
                            rss=4096, pss=4096, uss=4096) + \
        test_system.END % (1, 0, 1)
    dmabuf = "# generation 1 timestamp_ns 5 walk_ns 6 complete 1 list 0\n" \
        "buffer 7 8192 1 %s %s\nholder 7 70 1 1 0 8192 0 0 8192 %s\n" \
        "exporter 1 8192 %s\n" % ((octal(name),) * 4)
    of_process = test_graphics.DMABUF_HEAD + \
        "".join(dmabuf.splitlines(True)[1:3])
    options = test_system.make(directory, files={
        "kernel/debug/memledger/snapshot": snapshot,
        "kernel/debug/memledger/mappings": mappings,
        "kernel/debug/memledger/dmabuf": dmabuf,
        "kernel/debug/dma_buf/bufinfo": bufinfo(latin(name), latin(name)),
        "kernel/debug/memledger/gpumem":
            "Memory snapshot for GPU 0:\nGlobal total: 500\n"
            "# since 1, events 5, lost 0, forgotten 0\n"
            "# provider %s total 300\n" % octal(name),
    })
    sysfs = options[1]
    make_sysfs(sysfs, PID, record(PID, name[:15], heap_pss=8192,
                                  unknown={"named_other": 4096}))
    anon = "[anon:%s]" % latin(name)
    make_details(sysfs, PID, {
        "vmas": (test_unknown.VMAS_HEADING + test_unknown.vmas_line(
            0x10000, 1, anon, "prefix:[anon:") + "# complete\n").encode("latin-1"),
        "unknown": (test_unknown.NAMES_HEADING +
                    "4096 0 4096 0 0 0 0 0 0 1 - Total\n"
                    "4096 0 4096 0 0 0 0 0 0 1 named_other %s\n" %
                    anon).encode("latin-1"),
        "owners": (test_unknown.OWNERS_HEADING +
                   "4096 4096 0 0 1 rw-p capture /lib/%s.so+0x12\n" %
                   latin(name)).encode("latin-1"),
        "dmabuf": of_process,
    })
    write(os.path.join(sysfs, "proc", str(PID)), {
        "cmdline": name + b"\0--flag\0", "oom_score_adj": b"0\n",
        "comm": name[:15] + b"\n", "smaps": smaps(name),
    })
    return options


def make_graphics(directory, name):
    """A process with graphics memory, drivers and clients of this name."""
    sysfs = test_graphics.make(directory, comm=name[:15])
    make_details(sysfs, test_graphics.PID, {
        "gpu": test_graphics.GPU_HEAD.replace("kgsl", octal(name)) +
               test_graphics.GPU_ROWS})
    write(os.path.join(sysfs, "proc", str(test_graphics.PID), "fdinfo"), {
        "5": b"drm-driver: msm\ndrm-client-id: 1\ndrm-client-name: " + name +
             b"\ndrm-memory-vram: 4 KiB\n"})
    return ("--sysfs", sysfs, "--proc", os.path.join(sysfs, "proc"))


def smaps(name):
    return vma(0x10000, 1, "[anon:%s]" % latin(name), Rss=4, Pss=4,
               Private_Dirty=4).encode("latin-1") + \
        vma(0x20000, 1, "/lib/%s.so" % latin(name), Rss=4, Pss=4,
            Private_Clean=4).encode("latin-1")


def acts_on_terminal(out, is_json):
    """The first thing in an output that a terminal would act upon, or None."""
    if not is_json:
        bad = re.search(rb"[^\t\n -~]", out)
        return bad and bad.group()
    text = out.decode()
    json.loads(text)
    bad = re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", text) or \
        UNSEEN.search(text)
    return bad and bad.group()


def check(name, out, is_json):
    try:
        found = acts_on_terminal(out, is_json)
    except ValueError as error:
        found = str(error)
    report(not found, name, (found, out))


def test_checker():
    """What must be found is, and what may stand there is not."""
    for text, is_json, want in (
            (b"a\x1b[2J", False, True), (b"a\rb", False, True),
            (b"\xc2\x9b", False, True), (b"a \\033 b\n", False, False),
            ('"\u202e"'.encode(), True, True), (b'"\\u202e"', True, False),
            ('"\xe9"'.encode(), True, False)):
        expect("hostile: checker on %r" % text,
               bool(acts_on_terminal(text, is_json)), want)


def run_with(args, options):
    """A run with the options; not every command takes --proc."""
    done = run(*args, *options)
    if b"--proc'" in done.stderr or b"take such options" in done.stderr:
        done = run(*args, *options[:2])
    return done


def check_run(title, done, is_json):
    report(done.returncode == 0 and MARK in done.stdout,
           title + ", the name is there", (done.returncode, done.stderr))
    check(title, done.stdout, is_json)
    check(title + ", errors", done.stderr, False)


def test_commands(directory):
    for what, bytes_ in NAMES:
        name = MARK + bytes_ + MARK
        system = make(directory, name)
        graphics = make_graphics(directory, name)
        for args in COMMANDS:
            done = run_with(args, graphics if args[0] == "gpu" else system)
            check_run("hostile: %s: %s" % (" ".join(args), what), done,
                      "--json" in args)


def make_recording(path, name, options):
    """A process whose mappings of this name become more and more, which record
    has to tell. Return: its last run.
    """
    if os.path.exists(path):
        os.unlink(path)
    for i in range(1, 13):
        size = i << 16
        make_sysfs(options[1], PID, record(PID, name[:15],
                                           unknown={"named_other": size}))
        make_details(options[1], PID, {"vmas": (
            test_unknown.VMAS_HEADING + test_unknown.vmas_line(
                0x10000, 256, "[anon:%s]" % latin(name), "prefix:[anon:",
                Rss=size, Pss=size) + "# complete\n").encode("latin-1")})
        done = run("record", str(PID), "-o", path, "--rounds", "1", "--names",
                   "9", "--buffers", *options)
    return done


def test_files(directory):
    """What is kept, and compared or converted afterwards."""
    paths = {name: os.path.join(directory, "hostile." + name)
             for name in ("mark", "recording")}
    paths["empty"] = test_marks.write(directory, "hostile.empty",
                                      test_marks.mark(start_ticks=0))
    for what, bytes_ in NAMES:
        name = MARK + bytes_ + MARK
        options = make(directory, name)
        check_run("hostile: record: " + what,
                  make_recording(paths["recording"], name, options), False)
        for args in OF_FILES:
            done = run_with(tuple(arg.format(**paths) for arg in args),
                            options if str(PID) in args else ())
            check_run("hostile: %s: %s" % (" ".join(args), what), done,
                      "--json" in args or "--chrome" in args)
        with open(paths["mark"], "rb") as file:
            check("hostile: a mark: " + what, file.read(), True)


# Names with lines of the list in them, and what is made of them: drivers of buffer
# 7, and what is not known of another.
BUFFERS = (
    ("plain", ["driver of card0"], 0),
    ("\n9\t0\t0\t0\ts\t4242", [], 1),
    ("\n\tAttached Devices:\n\t\x1bc\x1b[31m", [], 1),
    ("\nTotal 1 devices attached", [], 1),
    ("\nTotal 9 objects, ", [], 1),
)


def test_bufinfo(directory):
    options = make(directory, MARK)
    marks = [os.path.join(directory, "hostile.%d" % inode)
             for inode in (7, 4242)]
    run("mark", str(PID), "-o", marks[0], *options)
    with open(marks[0], "rb") as file:
        text = file.read().replace(b'"inode":7,', b'"inode":4242,')
    write(directory, {marks[1]: text})
    for name, drivers, unsure in BUFFERS:
        write(options[1], {"kernel/debug/dma_buf/bufinfo":
                           bufinfo(name, "card0").encode()})
        got = []
        for mark in marks:
            data = run_json("diff", str(PID), "--since", mark,
                            "--expect-released", "--grace", "0", *options)
            got.append(([holder for item in data["retained"]
                         if item["kind"] == "dmabuf"
                         for holder in item["holders"]
                         if MARK.decode() not in holder], data["unsure"]))
        expect("hostile: a list of DMA-BUFs with the name %r" % name, got,
               [(drivers, 0), ([], unsure)])


def test_texts():
    for what, bytes_ in NAMES:
        text = smaps(MARK + bytes_ + MARK)
        for args in OF_TEXTS:
            title = "hostile: %s of a text: %s" % (" ".join(args), what)
            done = run(args[0], "-", *args[1:], text=text)
            expect(title + ", status", done.returncode, 0)
            check(title, done.stdout, "--json" in args)
            check(title + ", errors", done.stderr, False)


def test_operands(directory):
    """Errors name what was asked for."""
    for what, bytes_ in NAMES:
        name = (MARK + bytes_).decode(errors="surrogateescape")
        for args in (("meminfo", name), ("gpu", name), ("unknown", name),
                     ("smaps", "/nowhere/" + name),
                     ("showmap", "/nowhere/" + name),
                     ("explain", "/nowhere/" + name),
                     ("explain", "/dev/null", name),
                     ("meminfo", "1", "--sysfs", os.path.join(directory, name))):
            done = run(*args)
            title = "hostile: %s of no such name: %s" % (args[0], what)
            report(done.returncode in (1, 2) and done.stderr, title,
                   (done.returncode,))
            check(title + ", errors", done.stderr, False)


# Functions that start another program or load a part of one, and those that
# talk to others.
BANNED = re.compile(
    r"(system|popen|f?exec\w*|v?fork|forkpty|clone3?|posix_spawn\w*|dlm?open|"
    r"wordexp|socket(pair)?|connect|bind|listen|accept4?|getaddrinfo|"
    r"gethostby\w*|send(to|msg|mmsg)?)(@.*)?")


def test_imports():
    """The tool starts no other program, and opens no connection."""
    for name in ("system", "fexecve", "execveat", "execvp@GLIBC_2.2.5", "vfork",
                 "posix_spawnp", "dlmopen", "socket", "sendto"):
        report(BANNED.fullmatch(name), "imports: %s is noticed" % name)
    path = os.path.join(BUILD, "imports")
    names = subprocess.run(["nm", "-D", "--undefined-only", path],
                           stdout=subprocess.PIPE, check=True).stdout.decode()
    names = [line.split()[-1] for line in names.splitlines()]
    expect("imports: no other programs",
           [name for name in names if BANNED.fullmatch(name)], [])
    report(any(re.match("open(64)?(@|$)", name) for name in names),
           "imports: those that it has are seen", names)


KEPT = 1 << 19 | 1 << 2     # CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH
SETS = ("CapEff", "CapPrm", "CapInh", "CapAmb")


def status_of(pid):
    with open("/proc/%s/status" % pid, encoding="ascii",
              errors="replace") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file
                    if ":\t" in line)


def find_root():
    """What to start a program with so that it has those capabilities and others
    to give up: nothing, or what makes it root of a user namespace.
    """
    for prefix in ((), ("unshare", "--user", "--map-root-user")):
        done = subprocess.run(prefix + ("cat", "/proc/self/status"),
                              stdout=subprocess.PIPE, check=False,
                              stderr=subprocess.DEVNULL)
        found = re.search(r"^CapPrm:\s*(\w+)$", done.stdout.decode(), re.M)
        had = int(found.group(1), 16) if found else 0
        if had & ~KEPT and had & KEPT == KEPT:
            return prefix
    return None


# They wait for standard input when they have begun to read.
WAITING = (("smaps", "-"), ("unknown", "-"), ("explain", "-"), ("showmap", "-"),
           ("watch", str(PID), "--every", "line"),
           ("diff", "/dev/stdin", "/dev/null"),
           ("export", "/dev/stdin", "--csv"),
           ("export", "/dev/stdin", "--csv", "-o", "/nowhere"))
WRITING = 1 << 1            # CAP_DAC_OVERRIDE


def test_privileges(directory):
    """While it reads CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH count, and no other;
    what writes files may have one more back.
    """
    prefix = find_root()
    if prefix is None:
        skip("privileges", "no root, and no user namespace to be root of")
        return
    where = make(directory, MARK)
    for args in WAITING:
        options = where if str(PID) in args else ()
        with subprocess.Popen(prefix + (TOOL,) + args + options,
                              stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as tool:
            for _ in range(600):
                status = status_of(tool.pid)
                if status["NoNewPrivs"] == "1" and status["State"][0] == "S":
                    break
                time.sleep(0.05)
            tool.stdin.close()
        title = "privileges: %s " % " ".join(args)
        writes = "-o" in args or args[0] == "watch"
        expect(title + "has kept two capabilities, of more",
               [int(status[name], 16) for name in SETS],
               [KEPT, KEPT | WRITING * writes, 0, 0])
        expect(title + "gains none by exec", status["NoNewPrivs"], "1")


def test_directory_of_another(directory):
    """As on Android: /data/local/tmp is shell's, and root has to write there."""
    where = os.path.join(directory, "another")
    os.mkdir(where)
    options = make(directory, MARK)
    make_recording(os.path.join(where, "story"), MARK, options)
    try:
        os.chown(where, 2000, 2000)
    except OSError as error:
        skip("privileges: in a directory of another's", error)
        return
    os.chmod(where, 0o771)
    marks = os.path.join(where, "marks")
    for args in (("mark", str(PID)), ("mark", str(PID), "-o", "{}/mark"),
                 ("record", str(PID), "--rounds", "1", "-o", "{}/record"),
                 ("export", "{}/story", "--csv", "-o", "{}/export"),
                 ("report", "{}/story", "-o", "{}/report"),
                 ("diff", str(PID), "--expect-released", "--grace", "0",
                  "--record", "{}/retained")):
        with mock.patch.dict(os.environ, MEMLEDGER_MARKS=marks):
            done = run_with(tuple(arg.format(where) for arg in args),
                            options if str(PID) in args else ())
        made = args[-1].format(where) if "{}" in args[-1] else \
            os.path.join(marks, "%d.json" % PID)
        report(done.returncode == 0 and not done.stderr and
               os.path.exists(made),
               "privileges: in a directory of another's: " + " ".join(args),
               (done,))
    with mock.patch.dict(os.environ, MEMLEDGER_MARKS=marks):
        done = run("watch", str(PID), "--every", "line", *options, text="m\n")
    report(b"marked in " in done.stdout,
           "privileges: watch marks in a directory of another's", (done,))


def test_no_such_place(directory):
    """Where nobody may write it says what to do, and prints no path raw."""
    options = make(directory, MARK)
    recording = os.path.join(directory, "nowhere.rec")
    make_recording(recording, MARK, options)
    for args in (("mark", str(PID), "-o", "/proc/\x1b"),
                 ("record", str(PID), "-o", "/sys/kernel/\x1b"),
                 ("export", recording, "--csv", "-o", "/sys/kernel/\x1b"),
                 ("report", recording, "-o", "/sys/kernel/\x1b")):
        done = run_with(args, options if str(PID) in args else ())
        report(done.returncode == 1 and b"\\033" in done.stderr and (
            args[0] == "mark" or b"give a file in a directory" in done.stderr),
               "privileges: %s where nobody can write" % args[0], (done,))
        check("privileges: %s, errors" % args[0], done.stderr, False)


def test_no_file(directory):
    """What is there and is no file is not replaced by one."""
    options = make(directory, MARK)
    recording = os.path.join(directory, "no_file.rec")
    make_recording(recording, MARK, options)
    pipe = os.path.join(directory, "pipe")
    link = os.path.join(directory, "link")
    os.mkfifo(pipe)
    os.symlink(recording, link)
    for args in (("mark", str(PID)), ("export", recording, "--csv"),
                 ("report", recording)):
        for place, still in ((pipe, stat.S_ISFIFO), (link, stat.S_ISLNK)):
            done = run_with(args + ("-o", place),
                            options if str(PID) in args else ())
            report(done.returncode == 1 and b"cannot write" in done.stderr and
                   still(os.lstat(place).st_mode),
                   "privileges: %s to what is no file" % args[0], (done,))


def test_all(directory):
    test_checker()
    test_commands(directory)
    test_files(directory)
    test_bufinfo(directory)
    test_texts()
    test_operands(directory)
    test_imports()
    test_privileges(directory)
    test_directory_of_another(directory)
    test_no_such_place(directory)
    test_no_file(directory)
