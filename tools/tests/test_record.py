# SPDX-License-Identifier: GPL-2.0-only
"""record, export and report: files against docs/recording.rst, by code that
shares nothing with the tool's but the document.
"""

import csv
import html.parser
import io
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time

import journal
import test_graphics
from common import (CATEGORIES, CLASSES, GRAPHICS_FIELDS, TOOL, USAGES, expect,
                    make_details, make_sysfs, read, record, report, run,
                    run_good, skip)

KB = 1024


def write(directory, name, data):
    path = os.path.join(directory, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


def export(path):
    return table(run_good("export", path, "--csv"))


# --- what is written is what is read ---------------------------------------

def numbered(i, unavailable=0):
    """Rows with no two numbers alike, and all rows and fields used."""
    return {row: {field: 1 + i * 10 ** 9 + r * 1000 + f * 7
                  for f, field in enumerate(journal.FIELDS)}
            for r, row in enumerate(journal.ROWS)}


def test_every_number(directory):
    graphics = {name: 5000 + n * 13
                for n, name in enumerate(journal.GRAPHICS)}
    file = journal.Journal()
    file.session([("process", "app [77]")])
    for i in range(3):
        file.sample(10 ** 9 * (i + 1), numbered(i), graphics=graphics,
                    dmabuf=(3, 2 ** 63, 2 ** 64 - 1), generation=i + 5)
    lines = export(write(directory, "every", file.data))
    want = []
    for i in range(3):
        line = {"time_ns": 10 ** 9 * (i + 1), "tgid": 77, "start_ticks": 1000,
                "generation": i + 5, "complete": 1, "walk_ns": 5000,
                "unavailable": 0, "dmabuf_count": 3, "dmabuf_rss": 2 ** 63,
                "dmabuf_pss": 2 ** 64 - 1}
        for row, fields in numbered(i).items():
            line.update(("%s.%s" % (row, field), value)
                        for field, value in fields.items())
        line.update(("graphics." + name, value)
                    for name, value in graphics.items())
        want.append({key: str(value) for key, value in line.items()})
    expect("CSV: every number of every sample", lines, want)


def test_unavailable(directory):
    """Empty, though the file has numbers there."""
    cases = (
        ("SwapPss", journal.NO_SWAP_PSS,
         {row + ".swap_pss" for row in journal.ROWS}),
        ("GPU", journal.NO_MTRACK,
         {"%s.%s" % (row, field) for field in journal.FIELDS
          for row in ("egl_mtrack", "gl_mtrack", "other_mtrack")} |
         {"graphics." + name for name in journal.GRAPHICS}),
        ("how imports are divided", 8,
         {"egl_mtrack." + field for field in journal.FIELDS} |
         {"graphics.imported_mem"}),
        ("DMA-BUFs", journal.NO_DMABUF,
         {"dmabuf_count", "dmabuf_rss", "dmabuf_pss"}),
        ("the start", journal.NO_START, {"start_ticks"}),
    )
    for name, bits, want in cases:
        file = journal.Journal()
        file.sample(10 ** 9, numbered(0), unavailable=bits,
                    graphics={name: 5 for name in journal.GRAPHICS})
        line = export(write(directory, "unavailable", file.data))[0]
        expect("CSV: %s unavailable is empty, not 0" % name,
               {key for key, value in line.items() if not value}, want)
    expect("CSV: classes that names alone lead to",
           unnamed_classes(directory),
           {"unnamed_data", "unnamed_code", "unnamed_readonly",
            "unnamed_reserve"})


def unnamed_classes(directory):
    file = journal.Journal()
    file.sample(10 ** 9, numbered(0), unavailable=journal.NO_ANON_NAMES)
    line = export(write(directory, "unnamed", file.data))[0]
    return {name for name in CLASSES if line["unknown.%s.pss" % name]} - \
        {"named_other", "libc_other", "linker"}


def test_names(directory):
    file = journal.Journal()
    file.sample(10 ** 9, {}, names=[
        ("a,\"b\"\n", journal.MAPPINGS, "native_heap", 4096, 2),
        ("system", journal.EXPORTERS, "", 8192, 1)])
    # Numbers of names begin anew.
    file.session([("process", "app [77]")])
    file.sample(2 * 10 ** 9, {}, names=[
        ("other", journal.MAPPINGS, "unknown", 12288, 3)])
    text = run_good("export", write(directory, "names", file.data), "--csv",
                    "--names")
    expect("CSV: names", text.splitlines()[1:], [
        "1000000000,77,mappings,native_heap,4096,2,a\\054\\042b\\042\\012",
        "1000000000,77,dmabuf,,8192,1,system",
        "2000000000,77,mappings,unknown,12288,3,other"])
    test_names_later(directory)


def test_names_later(directory):
    """Recorded without --names at first: there are no fewer mappings then, and
    it has not grown since the first round for all that is known.
    """
    for first in (2, 0):
        file = journal.Journal()
        for i in range(32):
            size = (1000 + 64 * i) * KB
            # An exporter of that name is none of the mappings.
            names = [("a", journal.MAPPINGS, "unknown", size, 40),
                     ("a", journal.EXPORTERS, "", KB, 2)][:2 if i == 31 else 1]
            file.sample((i + 1) * 10 ** 9, journal.total(
                {"unknown": journal.row(size, vmas=40)}),
                        unavailable=journal.NO_MTRACK |
                        (journal.NO_NAMES if i < first else 0),
                        names=names if i >= first else ())
        path = write(directory, "later", file.data)
        run_good("report", path, "-o", path + ".html")
        said = Page(read_bytes(path + ".html").decode()).text().split()
        said = " ".join(said).split(" Memory ")[0]
        report("since round %d;" % (first + 1) in said and
               " mappings a " in said and not said.endswith(" mappings"),
               "report: names that are known from round %d" % (first + 1),
               (said,))


# --- files that are torn, damaged, or none ---------------------------------

def survivors(directory, data):
    """How many samples are read, and what is said of the rest."""
    done = run("export", write(directory, "torn", data), "--csv")
    if done.returncode:
        return None, done.stderr.decode()
    return len(done.stdout.splitlines()) - 1, done.stderr.decode()


def test_torn(directory):
    story = journal.story(rounds=6)
    samples = [i for i in range(len(story.ends) - 1)
               if story.data[story.ends[i] + 4] == journal.SAMPLE]
    wrong = []
    # Each byte of the last record of a sample, and some of all the others.
    cuts = set(range(story.ends[samples[-1]], story.ends[samples[-1] + 1]))
    cuts = sorted(cuts)[::7] + list(range(story.ends[2], len(story.data), 97))
    for cut in cuts:
        whole = sum(story.ends[i + 1] <= cut for i in samples)
        torn = cut not in story.ends
        got, said = survivors(directory, story.data[:cut])
        if got != (whole or None) or torn != ("cut short" in said):
            wrong.append((cut, whole, got, said))
    report(not wrong, "torn at %d places: all before is read, the rest is told"
           % len(cuts), wrong[:5])

    middle = story.ends[samples[2]] + 20
    for name, data, want in (
            ("zeroes behind the last record", story.data + bytes(512),
             (6, "cut short")),
            ("half of a head behind it", story.data + b"\5\0\0", (6, "short")),
            ("a changed byte", story.data[:middle] +
             bytes([story.data[middle] ^ 4]) + story.data[middle + 1:],
             (2, "damaged")),
            ("a record of a type to come", story.data +
             journal.frame(99, b"new") + story.data[16:], (12, "")),
            ("a name that is not there", story.data + journal.frame(
                journal.SAMPLE, b"\1\1\1\1\1\1" + b"\0" * 6 +
                b"\1\x63\0\0\1\1"), (6, "damaged")),
            ("a number without an end", story.data + journal.frame(
                journal.SAMPLE, b"\xff" * 40), (6, "damaged")),
            ("a row that there is not", story.data + journal.frame(
                journal.SAMPLE, b"\1\1\1\1\1\1\0\1\x7f" + b"\0" * 20),
             (6, "damaged"))):
        got, said = survivors(directory, data)
        report(got == want[0] and want[1] in said and bool(said) ==
               bool(want[1]), "reading %s" % name, (got, said))


def test_no_recording(directory):
    for name, data, why in (
            ("another version", journal.Journal(version=2).data, "version 2"),
            ("an empty file", b"", "not a recording"),
            ("a text", b"Rss: 5 kB\n" * 9, "not a recording"),
            ("no sample", journal.Journal().data, "no sample")):
        path = write(directory, "none", data)
        for command in (("export", path, "--csv"),
                        ("report", path, "-o", path + ".html")):
            done = run(*command)
            report(done.returncode == 1 and why in done.stderr.decode() and
                   not done.stdout and not os.path.exists(path + ".html"),
                   "%s of %s" % (command[0], name), (done.stderr,))


def test_options():
    for args, why in (
            (("record", "1"), "needs -o"),
            (("record", "-o", "x"), "needs one PID"),
            (("record", "1", "-o", "x", "--every", "0"), "--every"),
            (("record", "1", "-o", "x", "--every", "9ms"), "--every"),
            (("record", "1", "-o", "x", "--every", "0x20ms"), "--every"),
            (("record", "1", "-o", "x", "--every", "1h"), "--every"),
            (("record", "1", "-o", "x", "--every", "-1s"), "--every"),
            (("record", "1", "-o", "x", "--rounds", "0"), "--rounds"),
            (("record", "1", "-o", "x", "--names", "1001"), "--names"),
            (("export", "x"), "--chrome or --csv"),
            (("export", "x", "--chrome", "--csv"), "exclude"),
            (("export", "x", "--chrome", "--names"), "--names"),
            (("report", "x"), "needs -o"),
            (("report", "x", "y", "-o", "z"), "needs one FILE"),
            (("-o", "x", "record", "1"), "-o")):
        done = run(*args)
        report(done.returncode == 2 and why in done.stderr.decode() and
               not os.path.exists("x"), "refuse " + " ".join(args),
               (done.returncode, done.stderr))


# --- recording -------------------------------------------------------------



def test_record(directory):
    pid = os.getpid()
    sysfs = os.path.join(directory, "sys")
    module = make_sysfs(sysfs, pid, record(
        pid, comm=b"a<b", heap_pss=40960, rows={"gl_mtrack": 8192},
        unknown={"linker": 12288}, unavailable=0,
        graphics={"gpumem_unmapped": 8192}, usage={"texture": 8192}))
    path = os.path.join(directory, "recorded")
    start = read("/proc/self/stat").rsplit(")", 1)[1].split()[19]

    for rounds in (3, 6):
        run_good("record", str(pid), "-o", path, "--rounds", "3", "--every",
                 "10ms", "--sysfs", sysfs)
        lines = export(path)
        got = {(line["tgid"], line["start_ticks"], line["generation"],
                line["complete"], line["native_heap.pss"],
                line["gl_mtrack.pss"], line["unknown.pss"],
                line["unknown.linker.pss"], line["total.pss"],
                line["graphics.usage.texture"], line["dmabuf_pss"])
               for line in lines}
        expect("record: %d samples, as the module has them" % rounds,
               (len(lines), got),
               (rounds, {(str(pid), start, "7", "1", "40960", "8192", "12288",
                          "12288", "61440", "8192", "")}))
    run_good("report", path, "-o", path + ".html")
    page = Page(read_bytes(path + ".html").decode("ascii"))
    expect("page: each session's environment",
           (page.wrong, page.tags - ALLOWED_TAGS, "Session 2" in page.text(),
            "a<b [%d]" % pid in page.text()), ([], set(), True, True))
    expect("record: tracked while it lasts",
           (read(module, "track"), read(module, "untrack")),
           (str(pid), str(pid)))

    # What a crash leaves is cut off; what is damaged is not touched.
    data = read_bytes(path)
    write(directory, "recorded", data + journal.frame(2, data[:99])[:-5])
    done = run("record", str(pid), "-o", path, "--rounds", "1", "--sysfs",
               sysfs)
    report(done.returncode == 0 and len(export(path)) == 7,
           "record: appends behind the last whole record", (done.stderr,))
    broken = data[:60] + bytes([data[60] ^ 1]) + data[61:]
    write(directory, "recorded", broken)
    done = run("record", str(pid), "-o", path, "--rounds", "1", "--sysfs",
               sysfs)
    report(done.returncode == 1 and b"damaged" in done.stderr and
           read_bytes(path) == broken,
           "record: does not touch a damaged file", (done.stderr,))
    text = write(directory, "text", b"mine\n")
    done = run("record", str(pid), "-o", text, "--rounds", "1", "--sysfs",
               sysfs)
    report(done.returncode == 1 and read_bytes(text) == b"mine\n",
           "record: does not touch another file", (done.stderr,))
    done = run("record", str(pid), "-o", "/dev/null", "--rounds", "1",
               "--sysfs", sysfs)
    report(done.returncode == 1 and b"not a regular file" in done.stderr,
           "record: no device", (done.stderr,))
    return sysfs


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def test_details(directory, sysfs):
    """Names and exporters, from the tables that the other tests use."""
    pid = os.getpid()
    here = os.path.dirname(os.path.abspath(__file__))
    vmas = read_bytes(os.path.join(here, "seeds", "vmas.table"))
    make_details(sysfs, pid, {"vmas": vmas})
    path = os.path.join(directory, "details")
    run_good("record", str(pid), "-o", path, "--rounds", "1", "--names", "3",
             "--buffers", "--sysfs", sysfs)
    names = table(run_good("export", path, "--csv", "--names"))
    report(0 < len(names) <= 3 and
           [int(n["bytes"]) for n in names] ==
           sorted((int(n["bytes"]) for n in names), reverse=True),
           "record: the largest names", (names,))
    expect("record: a table that is not there is unavailable",
           int(export(path)[0]["unavailable"]) &
           (journal.NO_DMABUF | journal.NO_NAMES), journal.NO_DMABUF)

    # Somebody else's meminfo --profile is no reason to end.
    path = os.path.join(directory, "disturbed")
    other = vmas.replace(b" prefix:", b" another:", 1)
    for table_ in (other, vmas[:-9], b""):
        make_details(sysfs, pid, {"vmas": table_, "dmabuf": b"cut off"})
        run_good("record", str(pid), "-o", path, "--rounds", "1", "--names",
                 "3", "--buffers", "--sysfs", sysfs)
    make_details(sysfs, pid, {"vmas": vmas})
    expect("record: so is a table of another profile, or one cut off", (
        other == vmas, table(run_good("export", path, "--csv", "--names")),
        [int(line["unavailable"]) & (journal.NO_DMABUF | journal.NO_NAMES)
         for line in export(path)]),
        (False, [], [journal.NO_DMABUF | journal.NO_NAMES] * 3))
    for complete, want in ((1, ["1", "8192", "4096"]), (0, [""] * 3)):
        head = test_graphics.DMABUF_HEAD.replace("complete 1",
                                                 "complete %d" % complete)
        make_details(sysfs, pid, {
            "dmabuf": head + "buffer 7 8192 2 system x\n"
                             "holder 7 %d 1 0 0 0 0 0 4096 app\n" % pid})
        run_good("record", str(pid), "-o", path, "--rounds", "1", "--buffers",
                 "--sysfs", sysfs)
        line = export(path)[-1]
        names = table(run_good("export", path, "--csv", "--names"))
        expect("record: DMA-BUFs, complete %d" % complete,
               ([line["dmabuf_" + what] for what in ("count", "rss", "pss")],
                [name["time_ns"] for name in names
                 if name["what"] == "dmabuf"]),
               (want, [line["time_ns"]] * complete))
        os.unlink(path)


def test_output(directory):
    """The file is made under a name that nobody knows before, beside those that
    are there.
    """
    where = os.path.join(directory, "output")
    os.mkdir(where)
    path = write(where, "story", journal.story(rounds=3).data)
    for command in (("export", path, "--csv"), ("report", path)):
        target = os.path.join(where, command[0])
        victim = write(where, "victim", b"mine")
        os.symlink(victim, target + ".part")
        run_good(*command, "-o", target)
        report(read_bytes(victim) == b"mine" and not os.path.islink(target) and
               read_bytes(target) and os.path.islink(target + ".part"),
               "%s: writes to no file that is there" % command[0],
               os.listdir(where))
        umask = os.umask(0)
        os.umask(umask)
        expect("%s: who may read it" % command[0],
               os.stat(target).st_mode & 0o777, 0o666 & ~umask)

        there, old = os.listdir(where), read_bytes(target)
        done = subprocess.run(
            (TOOL,) + command + ("-o", target), check=False,
            restore_signals=False,     # Python ignores SIGXFSZ
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                  (300, 300)),
            stderr=subprocess.PIPE)
        report(done.returncode == 1 and b"cannot write" in done.stderr and
               read_bytes(target) == old and os.listdir(where) == there,
               "%s: no room, nothing changes" % command[0], (done.stderr,))


def wait_for(condition):
    for _ in range(500):
        if condition():
            return True
        time.sleep(0.02)
    return False


def samples_in(path):
    done = run("export", path, "--csv")
    return len(done.stdout.splitlines()) - 1 if not done.returncode else 0


def test_signals(directory, sysfs):
    pid = str(os.getpid())
    for name, number, status in (("SIGTERM", signal.SIGTERM, 0),
                                 ("SIGINT", signal.SIGINT, 0),
                                 ("SIGKILL", signal.SIGKILL, -9)):
        path = os.path.join(directory, name)
        write(sysfs, "kernel/memledger/untrack", b"")
        with subprocess.Popen(
                (TOOL, "record", pid, "-o", path, "--every", "20ms",
                 "--sysfs", sysfs), stdout=subprocess.PIPE,
                stderr=subprocess.PIPE) as tool:
            good = wait_for(lambda path=path: samples_in(path) >= 2)
            # Two writers would tear each other's records.
            second = run("record", pid, "-o", path, "--rounds", "1",
                         "--sysfs", sysfs)
            tool.send_signal(signal.SIGUSR1)
            good &= wait_for(lambda path=path: b"mark 1" in read_bytes(path))
            tool.send_signal(number)
            tool.communicate(timeout=60)
        report(good and tool.returncode == status and samples_in(path) >= 2,
               "record: %s leaves a whole file" % name, (tool.returncode,))
        report(second.returncode == 1 and b"somebody else" in second.stderr,
               "record: one writer at a time, %s" % name, (second.stderr,))
        if status == 0:
            expect("record: %s untracks" % name,
                   read(sysfs, "kernel/memledger/untrack"), pid)

    # What is ignored when it starts, as by nohup, does not end it.
    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    path = os.path.join(directory, "ignored")
    # pylint: disable-next=subprocess-popen-preexec-fn
    with subprocess.Popen((TOOL, "record", pid, "-o", path, "--every", "20ms",
                           "--sysfs", sysfs), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, preexec_fn=ignore) as tool:
        good = wait_for(lambda: samples_in(path) >= 2)
        tool.send_signal(signal.SIGHUP)
        count = samples_in(path)
        good &= wait_for(lambda: samples_in(path) > count + 1)
        tool.terminate()
        tool.communicate(timeout=60)
    expect("record: an ignored signal", (good, tool.returncode), (True, 0))


def test_full(directory, sysfs):
    """No room for more: what is there can be read, and more be added."""
    pid = str(os.getpid())
    path = os.path.join(directory, "full")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

    done = subprocess.run((TOOL, "record", pid, "-o", path, "--every", "10ms",
                           "--sysfs", sysfs), preexec_fn=limit, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=60)
    count = samples_in(path)
    report(done.returncode == 1 and b"can be read" in done.stderr and
           count > 2 and not run("export", path, "--csv").stderr and
           b"%d samples" % count in done.stdout,
           "record: a file that may not grow", (done.stderr, count))
    run_good("record", pid, "-o", path, "--rounds", "2", "--every", "10ms",
             "--sysfs", sysfs)
    expect("record: goes on there", samples_in(path), count + 2)

    disk = os.path.join(directory, "disk")
    os.mkdir(disk)
    script = "mount -t tmpfs -o size=16k none %s && " \
        "%s record %s -o %s/f --every 10ms --sysfs %s 2>&1; " \
        "echo status $?; %s export %s/f --csv | wc -l" % (
            disk, TOOL, pid, disk, sysfs, TOOL, disk)
    done = subprocess.run(("unshare", "-m", "sh", "-c", script), check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=120)
    text = done.stdout.decode()
    if "status" not in text or "mount:" in text + done.stderr.decode():
        skip("record: a full disk", "no mount of an own tmpfs: " +
             done.stderr.decode().strip().replace("\n", " "))
        return
    report("No space left on device" in text and "status 1" in text and
           int(text.split()[-1]) > 5, "record: a full disk", (text,))


def has_exited(pid):
    return ") Z " in read("/proc/%d/stat" % pid)


def test_exited(directory, sysfs):
    """A process that is gone ends the recording."""
    with subprocess.Popen(("sleep", "60")) as sleep:
        pid = str(sleep.pid)
        make_sysfs(sysfs, sleep.pid, record(sleep.pid, heap_pss=4096))
        path = os.path.join(directory, "exited")
        with subprocess.Popen((TOOL, "record", pid, "-o", path, "--every",
                               "20ms", "--sysfs", sysfs),
                              stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as tool:
            wait_for(lambda: samples_in(path) >= 2)
            sleep.kill()
            sleep.wait()
            os.unlink(os.path.join(sysfs, "kernel", "memledger", "processes",
                                   pid, "refresh"))
            os.unlink(os.path.join(sysfs, "kernel", "memledger", "track"))
            out, said = tool.communicate(timeout=60)
    write(sysfs, "kernel/memledger/track", b"")
    report(tool.returncode == 0 and b"samples of process" in out,
           "record: ends with the process", (tool.returncode, out, said))

    # The module knows some time before proc does: here of one that is there.
    with subprocess.Popen(("true",)) as gone:
        wait_for(lambda: has_exited(gone.pid))
        rollup = "/proc/%d/smaps_rollup" % gone.pid
        path = os.path.join(directory, "exiting")
        data = os.path.join(make_sysfs(sysfs, os.getpid(),
                                       record(os.getpid())),
                            "processes", str(os.getpid()), "record")
        with subprocess.Popen((TOOL, "record", str(os.getpid()), "-o", path,
                               "--every", "20ms", "--sysfs", sysfs),
                              stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as tool:
            wait_for(lambda: samples_in(path) >= 2)
            os.symlink(rollup, data + ".new")
            os.rename(data + ".new", data)
            out, said = tool.communicate(timeout=60)
    os.unlink(data)
    report(tool.returncode == 0 and b"samples of process" in out,
           "record: ends with the process's memory",
           (tool.returncode, out, said))


# --- Chrome's trace events -------------------------------------------------

def check_trace(data):
    """Rules of the format. Return: what is wrong."""
    wrong = []
    if not isinstance(data.get("traceEvents"), list):
        return ["no traceEvents"]
    last = {}
    named = set()
    for event in data["traceEvents"]:
        if event.get("ph") not in ("C", "M", "i"):
            wrong.append(("phase", event))
            continue
        for key, kind in (("name", str), ("pid", int), ("tid", int),
                          ("ts", (int, float)), ("args", dict)):
            if not isinstance(event.get(key), kind):
                wrong.append((key, event))
        if event["ph"] == "M":
            named.add(event["pid"])
            if event["name"] != "process_name" or "name" not in event["args"]:
                wrong.append(("metadata", event))
        if event["ph"] == "i" and event.get("s") not in ("g", "p", "t"):
            wrong.append(("scope", event))
        if event["ph"] == "C":
            track = (event["pid"], event["name"])
            if event["ts"] < last.get(track, 0):
                wrong.append(("order", event))
            last[track] = event["ts"]
            if not event["args"] or \
               not all(isinstance(value, int) and value >= 0
                       for value in event["args"].values()):
                wrong.append(("counter", event))
    if {pid for pid, _ in last} - named:
        wrong.append("a process without a name")
    return wrong


def test_chrome(directory):
    for gpu in (True, False):
        story = journal.story(rounds=30, gpu=gpu, comm="x\"<y")
        path = write(directory, "story", story.data)
        data = json.loads(run_good("export", path, "--chrome"))
        lines = export(path)
        expect("trace: the rules of the format, gpu %s" % gpu,
               check_trace(data), [])
        counters = {}
        for event in data["traceEvents"]:
            if event["ph"] == "C":
                key = (event["pid"], event["name"])
                counters.setdefault(key, []).append(event)
        tracks = {(77, "total"), (77, "pss"), (77, "swap_pss"),
                  (77, "unknown")}
        if gpu:
            tracks |= {(5000077, "gpu"), (5000077, "gpu usage"),
                       (5000077, "dmabuf")}
        expect("trace: graphics apart from the process, gpu %s" % gpu,
               set(counters), tracks)
        wrong = []
        for i, line in enumerate(lines):
            pss, swap, whole, inside = (
                counters[77, name][i]["args"]
                for name in ("pss", "swap_pss", "total", "unknown"))
            at = {counters[key][i]["ts"] for key in tracks}
            if at != {int(line["time_ns"]) / 1000} or \
               sum(pss.values()) != int(line["total.pss"]) or \
               sum(swap.values()) != int(line["total.swap_pss"]) or \
               whole["pss"] != int(line["total.pss"]) or \
               sum(inside.values()) != int(line["unknown.pss"]) or \
               any(value != int(line[row + ".pss"])
                   for row, value in pss.items()):
                wrong.append(i)
        expect("trace: counters are the samples, and sum to them, gpu %s" %
               gpu, wrong, [])
        marks = [event["name"] for event in data["traceEvents"]
                 if event["ph"] == "i"]
        expect("trace: marks and retained objects, gpu %s" % gpu, marks,
               ["opened", "closed </script><img src=x onerror=alert(1)>&\"'"
                "\x1b[31m\n\u202e"] + ["retained"] * (6 if gpu else 0))


def test_chrome_keys(directory):
    """Keys of a session are anybody's, like what they say."""
    file = journal.Journal()
    file.session([('x":1,"\x1b[2J\n', "y"), (journal.HOSTILE, "z")])
    file.sample(10 ** 9, journal.total({"native_heap": journal.row(4096)}))
    text = run_good("export", write(directory, "keys", file.data), "--chrome")
    report("\x1b" not in text, "trace: no key is printed raw", (text[:300],))
    expect("trace: keys are as the file has them",
           json.loads(text, strict=False)["otherData"],
           {'x":1,"\x1b[2J\n': "y", journal.HOSTILE: "z"})


def test_chrome_empty(directory):
    """A reader may refuse all of a trace for one counter of nothing."""
    file = journal.Journal()
    file.session([("process", "app [77]")])
    file.sample(10 ** 9, journal.total({"native_heap": journal.row(4096)}),
                graphics={"gpumem_unmapped": 0})
    path = write(directory, "empty", file.data)
    data = json.loads(run_good("export", path, "--chrome"))
    expect("trace: no counter of nothing",
           (check_trace(data), {event["name"] for event in data["traceEvents"]
                                if event["ph"] == "C"}),
           ([], {"total", "pss", "swap_pss", "gpu", "dmabuf"}))


# --- the page --------------------------------------------------------------

class Page(html.parser.HTMLParser):
    """What a browser would make of it."""

    VOID = {"meta", "br", "line", "path"}

    def __init__(self, text):
        super().__init__()
        self.open = []
        self.wrong = []
        self.tags = set()
        self.attributes = set()
        self.cells = {}
        self.key = None
        self.words = []
        self.verdict = None
        self.feed(text)
        self.close()
        if self.open:
            self.wrong.append(("not closed", self.open))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.add(tag)
        self.attributes.update(attrs)
        if tag not in self.VOID:
            self.open.append(tag)
        self.verdict = attrs.get("data-verdict", self.verdict)
        self.key = attrs.get("data-key")
        if self.key and "data-bytes" in attrs:
            if self.key in self.cells:
                self.wrong.append(("twice", self.key))
            self.cells[self.key] = [int(attrs["data-bytes"]), ""]

    def handle_endtag(self, tag):
        if tag in self.VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append(("closed", tag, self.getpos()))
        self.key = None

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)
        if self.key in self.cells:
            self.cells[self.key][1] += data

    def text(self):
        return " ".join(self.words)


ALLOWED_TAGS = set(
    "html head meta title style body h1 h2 h3 p div b br span figure "
    "figcaption svg path line ul li i table caption thead tbody tr th td dl "
    "dt dd".split())


def numbers_of(lines, unavailable=0):
    """What the page has to say, from the CSV."""
    want = {}

    def add(key, values, first, last):
        if any(values):
            want[key + ".first"], want[key + ".last"] = first, last
            want[key + ".most"] = max(values)

    for row in CATEGORIES + ["unknown." + name for name in CLASSES]:
        values = [int(line[row + ".pss"] or 0) + int(line[row + ".swap_pss"]
                                                     or 0)
                  for line in lines]
        add(row, values, values[0], values[-1])
    for usage in ["graphics.usage." + name for name in USAGES] + \
            ["dmabuf_pss"]:
        values = [int(line[usage] or 0) for line in lines]
        add(usage, values, values[0], values[-1])
    for end, line in (("first", lines[0]), ("last", lines[-1])):
        want["total." + end] = int(line["total.pss"]) + \
            int(line["total.swap_pss"])
    return want


def compare_page(name, page, lines):
    """Numbers of a page, in its attributes and as people see them."""
    want = numbers_of(lines)
    expect(name + ": numbers are the file's",
           {key: value for key, (value, _) in page.cells.items()}, want)
    expect(name + ": and so are those that people see",
           {key: text for key, (_, text) in page.cells.items()},
           {key: "{:,}".format(value // KB) for key, value in want.items()})


def test_page(directory):
    for gpu in (True, False):
        story = journal.story(rounds=60, gpu=gpu, comm=journal.HOSTILE[:24])
        path = write(directory, "story", story.data)
        target = path + ".html"
        run_good("report", path, "-o", target)
        text = read_bytes(target).decode("ascii")
        page = Page(text)
        name = "page, gpu %s" % gpu
        expect(name + ": tags are closed, and no others", (
            page.wrong, page.tags - ALLOWED_TAGS), ([], set()))
        # Names that begin or end a tag, run a script or load something.
        expect(name + ": nothing of anybody else's", [
            word for word in ("<script", "<img", "http:", "https:", "url(",
                              "@import", "javascript", "\x1b")
            if word in text] + sorted(page.attributes - set(
                "lang charset name content http-equiv class data-key "
                "data-bytes data-verdict style viewbox preserveaspectratio "
                "role aria-label x1 x2 y1 y2 fill d scope".split())), [])
        compare_page(name, page, export(path))
        expect(name + ": the verdict", page.verdict, "growing")
        said = page.text()
        words = ["Between marks", "Retained", "Environment", "6.12.0-test",
                 "Where the numbers come from", "android16", "opened",
                 "</script><img src=x onerror=alert(1)>"]
        words += ["surfaceflinger[12] mapping", "4711", "texture"] if gpu \
            else ["GPU memory is unavailable", "DMA-BUFs are unavailable"]
        expect(name + ": what it tells", [word for word in words
                                          if word not in said], [])


def areas(text, title):
    """Of a chart the areas' points, from left to right along the upper edge and
    back: a list of stretches for each series.
    """
    svg = text.split('aria-label="%s"' % title)[1].split("</svg>")[0]
    paths = re.findall(r'<path fill="[^"]*" d="([^"]*)"', svg)
    return [[[float(x) for x in re.findall(r"[ML]([\d.]+) ", stretch)]
             for stretch in path.split("Z") if stretch] for path in paths]


def test_page_unknown(directory):
    """There is no area where nothing is known, and no number in the file is
    taken for one.
    """
    file = journal.Journal()
    for i in range(11):
        known = i in (4, 5, 6, 9)
        file.sample((i + 1) * 10 ** 9, journal.total(
            {"native_heap": journal.row(KB)}),
                    unavailable=journal.NO_MTRACK |
                    (0 if known else journal.NO_DMABUF),
                    dmabuf=(1, KB, KB) if known else (1, 9 * KB, 9 * KB))
    path = write(directory, "unknown", file.data)
    run_good("report", path, "-o", path + ".html")
    text = read_bytes(path + ".html").decode()
    expect("page: areas end where it is not known",
           (areas(text, "DMA-BUFs that the process holds"),
            areas(text, "Memory by category")),
           ([[[400, 500, 600, 600, 500, 400], [900]]],
            [[[100. * x for x in [*range(11), *range(10, -1, -1)]]]]))
    report("share n/a</li>" in text,
           "page: the key says that the last one is not known")


def test_reused(directory):
    """Another process of the same number: tables and verdict are its own."""
    file = journal.Journal()
    for i in range(40):
        old = i < 20
        rows = {"native_heap": journal.row((4000 + 64 * i if old else 9000)
                                           * KB)}
        file.sample((i + 1) * 10 ** 9, journal.total(rows),
                    start=5 if old else 6,
                    unavailable=journal.NO_MTRACK | journal.NO_DMABUF)
    path = write(directory, "reused", file.data)
    run_good("report", path, "-o", path + ".html")
    page = Page(read_bytes(path + ".html").decode())
    expect("a reused pid starts anew",
           (page.verdict, page.cells["native_heap.first"][0],
            page.cells["native_heap.most"][0]),
           ("stable", 9000 * KB, 9000 * KB))


def test_all(directory):
    directory = os.path.join(directory, "recordings")
    os.mkdir(directory)
    assert len(GRAPHICS_FIELDS + USAGES) == len(journal.GRAPHICS)
    test_every_number(directory)
    test_unavailable(directory)
    test_names(directory)
    test_torn(directory)
    test_no_recording(directory)
    test_options()
    sysfs = test_record(directory)
    test_details(directory, sysfs)
    test_output(directory)
    test_signals(directory, sysfs)
    test_full(directory, sysfs)
    test_exited(directory, sysfs)
    test_chrome(directory)
    test_chrome_keys(directory)
    test_chrome_empty(directory)
    test_page(directory)
    test_page_unknown(directory)
    test_reused(directory)
    sys.stdout.flush()
