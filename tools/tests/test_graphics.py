# SPDX-License-Identifier: GPL-2.0-only
"""Host tests of graphics memory: memledger gpu, dmabuf and gpumem, and the
mtrack rows of meminfo.
"""

import csv
import errno
import io
import json
import os
import shutil

from common import (GRAPHICS_FIELDS, MTRACK, USAGES, expect, make_details,
                    make_sysfs, read, record, report, run, run_good, run_json)

PID = 4711
U64 = 2 ** 64 - 1
SNAPSHOT_FILES = ("dmabuf_count dmabuf_rss dmabuf_pss dmabuf_smaps_rss "
                  "dmabuf_smaps_pss dmabuf_memtrack gpu_mem_total "
                  "total").split()


def fail_with(code):
    """What a file holds that fails to be read; see read_errors.c."""
    return "!%d" % code


def write(directory, files):
    for path, text in files.items():
        path = os.path.join(directory, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(text, str):
            text = text.encode("latin-1")
        with open(path, "wb") as file:
            file.write(text)


def kernel_line(text):
    """The release of this kernel, the same everywhere."""
    return text.replace(os.uname().release, "RELEASE")


def fails(name, message, *args):
    done = run(*args)
    error = done.stderr.decode()
    report(done.returncode == 1 and message in error and not done.stdout and
           error.count("\n") == 1, name,
           (done.returncode, error, done.stdout))


# --- the stand-in ----------------------------------------------------------

GRAPHICS = dict(zip(GRAPHICS_FIELDS, (
    3 << 20, 2 << 20, 2 << 20, 1 << 20, 4096, 8192, 100 << 20, 46080 << 10, 1,
    2, 3)))
GPU_HEAD = "# provider kgsl rule shared complete 1\n" \
    "id kind usage size mapped flags surfaces images importers imported inode\n"
GPU_ROWS = (
    "1 driver texture 3145728 3145728 ----m- - - - - -\n"
    "2 driver any 2097152 0 -s---- - - - - -\n"
    "3 dmabuf egl_surface 94371840 4096 ---i-a 1 1 2 47185920 77\n"
    "4 driver cl 4611686018427387904 0 v----- - - - - -\n"
    "18446744073709551615 user gl 8192 0 ---i-- - - - - -\n"
    "6 dmabuf egl_image 1024 0 ---i-- 0 0 - - -\n")
FDINFO = (
    "pos:\t0\nflags:\t02100002\nmnt_id:\t27\nino:\t5\n"
    "drm-driver:\tamdgpu\ndrm-client-id:\t12\ndrm-pdev:\t0000:03:00.0\n"
    "drm-client-name:\ta \x1b[31mb\n"
    "drm-memory-vram:\t2 MiB\ndrm-total-gtt:\t10 KiB\n"
    "drm-shared-gtt: 4096\ndrm-engine-gfx:\t12 ns\n")


def make(directory, **how):
    """A process with graphics memory; returns the command's arguments."""
    sysfs = os.path.join(directory, "graphics")
    shutil.rmtree(sysfs, ignore_errors=True)
    how = dict(dict(unavailable=0, graphics=GRAPHICS,
                    usage={"texture": 5 << 20}, device=(8192, 4096)), **how)
    make_sysfs(sysfs, PID, record(PID, **how))
    process = "kernel/memledger/processes/%d/" % PID
    files = {process + "graphics/" + name: "%d\n" % (4096 * (i + 1))
             for i, name in enumerate(SNAPSHOT_FILES)}
    files.update({
        process + "generation": "7\n",
        "kernel/memledger/gpu/provider": "kgsl\n",
        "kernel/memledger/features/gpu_totals": "1\n",
        "proc/%d/fdinfo/3" % PID: FDINFO,
        "proc/%d/fdinfo/10" % PID: FDINFO,
        "proc/%d/fdinfo/0" % PID: "pos:\t0\nflags:\t02\n",
    })
    write(sysfs, files)
    make_details(sysfs, PID, {"gpu": GPU_HEAD + GPU_ROWS})
    return sysfs


def gpu(sysfs, *more):
    return ("gpu", str(PID), "--sysfs", sysfs, "--proc",
            os.path.join(sysfs, "proc")) + more


# --- gpu -------------------------------------------------------------------

GPU_TEXT = """
** GRAPHICS in pid 4711 [app] **
kB, or a count
As the GPU driver has it (kgsl)
       gpumem_mapped         3072   the driver's own memory that the process maps
     gpumem_unmapped         2048   the driver's own memory that it does not map: GL mtrack
  gpumem_unaccounted         2048   of the driver's own memory what smaps does not count
       gpumem_secure         1024   of the driver's own memory what is protected
    gpumem_reclaimed            4   of the driver's own memory what is in swap
             usermem            8   the process's own memory that the GPU uses: in its RSS
       imported_size       102400   imported DMA-BUFs, each import in full
        imported_mem        46080   their share by the imported rule: EGL mtrack
   egl_surface_count            1   imports that are EGL surfaces
     egl_image_count            2   imports that are EGL images
             entries            3   entries of the driver for the process
DMA-BUFs, by file descriptors, mappings and GPU imports
        dmabuf_count         4096   DMA-BUFs that the process holds
          dmabuf_rss            8   their sizes
          dmabuf_pss           12   its share: size by number of processes that hold it
    dmabuf_smaps_rss           16   of them what the RSS in smaps counts already
    dmabuf_smaps_pss           20   of them what the PSS in smaps counts already
     dmabuf_memtrack           24   GRAPHICS by Android's definition, what smaps counts left out
Mappings of other GPU drivers
          device_rss            8   mappings of other GPU drivers' devices: in RSS
          device_pss            4   mappings of other GPU drivers' devices: in PSS
By tracepoint (GPU 0; part of no sum)
       gpu_mem_total           28   what the driver last told by its tracepoint, imports included
Total
               total           32   all of these, every byte once
By usage
               usage  entries         size       mapped     imported
                 all        5        97289         3076            -
         egl_surface        1        92160            4        46080
             texture        1         3072         3072            -
                 any        1         2048            0            -
                  gl        1            8            0            -
           egl_image        1            1            0            -
Not counted: 1 virtual entries, which have no pages.
Entries
        id kind   usage                      size       mapped flags  surfaces   images importers     imported      inode
         1 driver texture                    3072         3072 m             -        -         -            -          -
         2 driver any                        2048            0 s             -        -         -            -          -
         3 dmabuf egl_surface               92160            4 ia            1        1         2        46080         77
         4 driver cl                 4503599627370496            0 v             -        -         -            -          -
18446744073709551615 user   gl                            8            0 i             -        -         -            -          -
         6 dmabuf egl_image                     1            0 i             0        0         -            -          -
flags: v virtual, s secure, r reclaimed, i imported, m in RSS where mapped,
       a allocated by this process
DRM clients (fdinfo)
amdgpu 0000:03:00.0, client 12 "a \\033[31mb", fds 3 10
              region     resident        total       shared    purgeable       active
                vram         2048            -            -            -            -
                 gtt            -           10            4            -            -
In no number above. Each client counts the buffers that it has a handle of:
imported DMA-BUFs are included, shared ones are whole in each client, and what
has no handle any more is not there. Regions are the driver's own.

Source: SYSFS/kernel/memledger/processes/4711/record, kernel RELEASE, page size 4096, profile android16, snapshot 7, taken 12.000000034 s after boot
Imported rule: shared
"""


def without_entries(text):
    head, tail = text.split("Entries\n")
    return head + "DRM clients" + tail.split("DRM clients", 1)[1]


def test_gpu_text(directory):
    sysfs = make(directory)
    for name, more, want in (
            ("gpu --entries", ("--entries",), GPU_TEXT),
            ("gpu", (), without_entries(GPU_TEXT))):
        out = kernel_line(run_good(*gpu(sysfs, *more))).replace(sysfs, "SYSFS")
        expect("golden text, " + name, out.split("\n"), want.split("\n"))
    module = os.path.join(sysfs, "kernel", "memledger")
    expect("gpu: tracked, and untracked",
           [read(module, "track"), read(module, "untrack")], [str(PID)] * 2)


def test_gpu_json(directory):
    sysfs = make(directory)
    data = run_json(*gpu(sysfs))
    numbers = dict(GRAPHICS, device_rss=8192, device_pss=4096)
    numbers.update((name, 4096 * (i + 1))
                   for i, name in enumerate(SNAPSHOT_FILES))
    usage = dict.fromkeys(USAGES, 0)
    usage["texture"] = 5 << 20
    expect("gpu: every number in JSON", data["graphics"],
           dict(numbers, usage=usage))
    expect("gpu: the keys, and what it is of",
           [list(data), data["pid"], data["comm"], data["generation"],
            data["complete"], data["provider"], data["imported_rule"],
            data["unavailable"], data["reasons"], data["unit"]],
           [("pid comm profile generation complete unit source kernel "
             "page_size timestamp_ns provider imported_rule graphics "
             "gpu_entries drm unavailable reasons").split(), PID, "app", 7,
            True, "kgsl", "shared", [], {}, "bytes"])
    keys = ("id kind usage size mapped flags surfaces images importers "
            "imported inode").split()
    entries = data["gpu_entries"]
    expect("gpu: the entries in JSON",
           [{tuple(entry) for entry in entries},
            [tuple(entry.values()) for entry in entries]],
           [{tuple(keys)},
            [(1, "driver", "texture", 3 << 20, 3 << 20, ["in_rss"]) +
             (None,) * 5,
             (2, "driver", "any", 2 << 20, 0, ["secure"]) + (None,) * 5,
             (3, "dmabuf", "egl_surface", 90 << 20, 4096,
              ["imported", "allocator"], 1, 1, 2, 45 << 20, 77),
             (4, "driver", "cl", 1 << 62, 0, ["virtual"]) + (None,) * 5,
             (U64, "user", "gl", 8192, 0, ["imported"]) + (None,) * 5,
             (6, "dmabuf", "egl_image", 1024, 0, ["imported"], 0, 0, None,
              None, None)]])
    for rule, name in enumerate(("surface-full", "shared", "pixel")):
        sysfs = make(directory, rule=rule)
        expect("gpu: rule %s" % name,
               run_json(*gpu(sysfs))["imported_rule"], name)


def test_gpu_unavailable(directory):
    """Null with a reason, never 0."""
    def check(name, sysfs, want, prefix="gpu: "):
        data = run_json(*gpu(sysfs))
        nulls = [key for key, value in data["graphics"].items()
                 if value is None]
        if data["graphics"]["usage"]["any"] is None:
            nulls.append("usage")
        for key, missing in (("gpu_entries", data["gpu_entries"]),
                             ("drm", data["drm"])):
            if missing is None:
                nulls.append(key)
        expect(prefix + name,
               [sorted(nulls), sorted(data["unavailable"]),
                {key: [word for word in want.get(key, ["?"]) if word not in
                       text] for key, text in data["reasons"].items()}],
               [sorted(want), sorted(want), {key: [] for key in want}])
        lines = run_good(*gpu(sysfs)).split("\n")
        got = [line.split()[1] for line in lines if len(line.split()) > 1 and
               line.split()[0] in want and line.split()[0] != "usage"]
        expect(prefix + name + ", in the text",
               got, ["-"] * len([key for key in want if key not in
                                 ("usage", "gpu_entries", "drm")]))

    graphics = "kernel/memledger/processes/%d/graphics/" % PID
    driver = {key: ["no GPU driver"] for key in GRAPHICS_FIELDS + ["usage"]}
    sysfs = make(directory, unavailable=2)
    write(sysfs, {"kernel/memledger/gpu/provider": fail_with(errno.EOPNOTSUPP),
                  graphics + "total": fail_with(errno.EOPNOTSUPP)})
    make_details(sysfs, PID, {"gpu": fail_with(errno.EOPNOTSUPP)})
    check("no GPU driver", sysfs, dict(
        driver, gpu_entries=["no GPU driver"], total=["a part of it"]))
    fails("gpu --entries without a GPU driver", "no GPU driver has",
          *gpu(sysfs, "--entries"))

    sysfs = make(directory, unavailable=2, complete=1)
    check("the GPU driver failed", sysfs, {
        key: ["failed"] for key in GRAPHICS_FIELDS + ["usage"]})
    sysfs = make(directory, unavailable=8)
    check("importers unknown", sysfs,
          {"imported_mem": ["who imports a buffer"]})

    dmabuf = [name for name in SNAPSHOT_FILES if name.startswith("dmabuf")]
    for name, files, want in (
            ("no DMA-BUFs", {file: fail_with(errno.EOPNOTSUPP)
                             for file in dmabuf},
             {file: ["has no DMA-BUFs"] for file in dmabuf}),
            ("GPU totals are off",
             {"gpu_mem_total": fail_with(errno.EOPNOTSUPP)},
             {"gpu_mem_total": ["switched off: echo 1 > " + sysfs +
                                "/kernel/memledger/gpu_totals"]}),
            ("no event yet", {"gpu_mem_total": fail_with(errno.ENODATA)},
             {"gpu_mem_total": ["no event of this process"]}),
            ("an error", {"dmabuf_rss": fail_with(errno.ENOMEM)},
             {"dmabuf_rss": ["cannot be read: Cannot allocate memory"]}),
            ("no number", {"dmabuf_rss": "many\n"},
             {"dmabuf_rss": ["no number"]}),
            ("an empty file", {"dmabuf_rss": ""},
             {"dmabuf_rss": ["no number"]}),
            ("a number and more", {"dmabuf_rss": "1 kB\n"},
             {"dmabuf_rss": ["no number"]}),
            ("a number of 65 bits", {"total": "18446744073709551616\n"},
             {"total": ["no number"]})):
        sysfs = make(directory)
        write(sysfs, {graphics + file: text for file, text in files.items()})
        check(name, sysfs, want)

    sysfs = make(directory)
    write(sysfs, {"kernel/memledger/features/gpu_totals": "0\n",
                  graphics + "gpu_mem_total": fail_with(errno.EOPNOTSUPP)})
    check("no tracepoint", sysfs,
          {"gpu_mem_total": ["CONFIG_TRACE_GPU_MEM"]})
    sysfs = make(directory)
    for file in SNAPSHOT_FILES:
        os.unlink(os.path.join(sysfs, graphics, file))
    check("a module without these files", sysfs,
          {file: ["loaded module does not have it"]
           for file in SNAPSHOT_FILES})
    sysfs = make(directory)
    shutil.rmtree(os.path.join(sysfs, "proc"))
    check("no proc", sysfs, {"drm": ["/fdinfo: No such file"]})

    sysfs = make(directory)
    shutil.rmtree(os.path.join(sysfs, "kernel", "debug"))
    check("debugfs is not mounted", sysfs,
          {"gpu_entries": ["mount -t debugfs none %s/kernel/debug" % sysfs]})
    out = run_good(*gpu(sysfs))
    report("By usage\n               usage         size\n"
           "             texture         5120\nDRM" in out,
           "gpu: sizes by usage without debugfs", out.split("\n"))
    fails("gpu --entries without debugfs", "mount -t debugfs",
          *gpu(sysfs, "--entries"))

    for name, code, message in (("EPERM", errno.EPERM, "run as root"),
                                ("ESRCH", errno.ESRCH, "has exited")):
        sysfs = make(directory)
        write(sysfs, {graphics + "dmabuf_rss": fail_with(code)})
        fails("gpu: " + name, message, *gpu(sysfs))
    sysfs = make(directory)
    write(sysfs, {"kernel/memledger/processes/%d/generation" % PID: "8\n"})
    fails("gpu: another snapshot each time", "replaced faster", *gpu(sysfs))
    sysfs = make(directory, usages=len(USAGES) + 1)
    fails("gpu: a record with more usages", "built with the module",
          *gpu(sysfs))
    sysfs = make(directory, rule=3)
    fails("gpu: a record with an unknown rule", "built with the module",
          *gpu(sysfs))


def test_gpu_incomplete(directory):
    cases = (
        ("the driver's entries", {}, GPU_HEAD.replace("complete 1",
                                                      "complete 0"),
         "Incomplete: the GPU driver"),
        ("the walk", dict(complete=0), GPU_HEAD, "Incomplete: the walk"),
        ("DMA-BUFs", {}, GPU_HEAD, "Incomplete: not every process and DMA-BUF"),
    )
    for name, how, head, line in cases:
        sysfs = make(directory, **how)
        write(sysfs, {"kernel/memledger/dmabuf/complete": "%d\n" %
                      (name != "DMA-BUFs")})
        make_details(sysfs, PID, {"gpu": head + GPU_ROWS})
        done = run(*gpu(sysfs))
        data = json.loads(run(*gpu(sysfs, "--json")).stdout)
        expect("gpu: incomplete: " + name,
               [done.returncode, b"too small" in done.stderr,
                line in done.stdout.decode(), data["complete"]],
               [0, True, True, False])


def test_gpu_malformed(directory):
    sysfs = make(directory)
    good = GPU_ROWS.split("\n")[0]
    words = good.split()
    one = [" ".join(words[:i] + words[i + 1:]) for i in range(len(words))]
    cases = [("a word too few (%d)" % i, GPU_HEAD + line + "\n")
             for i, line in enumerate(one)]
    cases += [
        ("nothing", ""), ("no comment", GPU_HEAD.split("\n")[1] + "\n"),
        ("no heading", GPU_HEAD.split("\n")[0] + "\n" + GPU_ROWS),
        ("another heading", GPU_HEAD.replace("inode", "ino")),
        ("complete 2", GPU_HEAD.replace("complete 1", "complete 2")),
        ("no rule", GPU_HEAD.replace("rule shared ", "")),
        ("more in the comment", GPU_HEAD.replace("1\n", "1 x\n", 1)),
        ("a word too many", GPU_HEAD + good + " -\n"),
        ("a blank at the end", GPU_HEAD + good + " \n"),
        ("two blanks", GPU_HEAD + good.replace(" ", "  ", 1) + "\n"),
        ("an empty line", GPU_HEAD + "\n" + good + "\n"),
        ("the number 0", GPU_HEAD + good.replace("1 ", "0 ", 1) + "\n"),
        ("another kind", GPU_HEAD + good.replace("driver", "cpu") + "\n"),
        ("another usage", GPU_HEAD + good.replace("texture", "tex") + "\n"),
        ("another flag", GPU_HEAD + good.replace("m-", "mx") + "\n"),
        ("a flag twice", GPU_HEAD + good.replace("m-", "mm") + "\n"),
        ("a size of 65 bits",
         GPU_HEAD + good.replace("3145728", str(U64 + 1), 1) + "\n"),
        ("a negative size", GPU_HEAD + good.replace("3145728", "-1", 1) +
         "\n"),
        ("more mapped than there is",
         GPU_HEAD + good.replace("3145728", "1", 1) + "\n"),
        ("a count of 33 bits", GPU_HEAD + "3 dmabuf any 1 0 ---i-- 4294967296 "
         "0 - - -\n"),
        ("an import without its flag",
         GPU_HEAD + "3 dmabuf any 1 0 - 0 0 - - -\n"),
    ]
    for name, text in cases:
        make_details(sysfs, PID, {"gpu": text})
        fails("gpu file: " + name, "built with the module", *gpu(sysfs))
    for name, text in (("cut off", GPU_HEAD + good),
                       ("cut off in the middle", GPU_HEAD + good[:20])):
        make_details(sysfs, PID, {"gpu": text})
        fails("gpu file: " + name, "cut off", *gpu(sysfs))
    make_details(sysfs, PID, {"gpu": GPU_HEAD})
    expect("gpu file: no entries", run_json(*gpu(sysfs))["gpu_entries"], [])
    huge = "%d driver any %d %d ------ - - - - -\n"
    make_details(sysfs, PID, {"gpu": GPU_HEAD + huge % (1, U64, U64) +
                              huge % (2, U64, 1)})
    out = run_good(*gpu(sysfs))
    report("                 all        2 18014398509481983 18014398509481983"
           in out, "gpu file: sums stop at the largest number",
           out.split("\n"))


# --- DRM -------------------------------------------------------------------

def test_drm(directory):
    sysfs = make(directory)
    fdinfo = os.path.join(sysfs, "proc", str(PID), "fdinfo")

    def clients(files):
        shutil.rmtree(fdinfo)
        os.makedirs(fdinfo)
        write(fdinfo, files)
        return run_json(*gpu(sysfs))["drm"]

    def key(client):
        return [client["driver"], client["pdev"], client["client_id"],
                client["fds"]]

    base = "drm-driver:\ti915\ndrm-pdev:\t0000:00:02.0\ndrm-client-id:\t%s\n"
    cases = (
        ("one client by four descriptors",
         {name: base % 7 for name in ("9", "10", "100", "2")},
         [["i915", "0000:00:02.0", 7, [2, 9, 10, 100]]]),
        ("two clients of a device", {"1": base % 1, "2": base % 2,
                                     "3": base % 1},
         [["i915", "0000:00:02.0", 1, [1, 3]],
          ["i915", "0000:00:02.0", 2, [2]]]),
        ("the same number on another device",
         {"1": base % 7, "2": base.replace("02.0", "03.0") % 7},
         [["i915", "0000:00:02.0", 7, [1]], ["i915", "0000:00:03.0", 7, [2]]]),
        ("no bus address", {"1": "drm-driver: msm\ndrm-client-id: 3\n",
                            "2": "drm-driver: msm\ndrm-client-id: 3\n"},
         [["msm", None, 3, [1, 2]]]),
        ("an address in one of them", {"1": "drm-driver: msm\ndrm-client-id: 3\n",
                                       "2": base.replace("i915", "msm") % 3},
         [["msm", None, 3, [1]], ["msm", "0000:00:02.0", 3, [2]]]),
        ("no number: nobody knows what is a duplicate",
         {"1": "drm-driver: msm\n", "2": "drm-driver: msm\n"},
         [["msm", None, None, [1]], ["msm", None, None, [2]]]),
        ("a number of 65 bits", {"1": base % (U64 + 1)},
         [["i915", "0000:00:02.0", None, [1]]]),
        ("the largest number", {"1": base % U64},
         [["i915", "0000:00:02.0", U64, [1]]]),
        ("no DRM device", {"1": "pos: 0\n", "2": "drm-total-x: 5\n",
                           "3": "", "x": base % 1,
                           "4": "drm-driver:\n"}, []),
        ("no line end", {"1": "drm-driver: msm"}, []),
    )
    for name, files, want in cases:
        expect("DRM: " + name, [key(client) for client in clients(files)],
               want)

    stats = ("resident", "total", "shared", "purgeable", "active")
    none = dict.fromkeys(stats)

    def regions(text):
        client = clients({"1": base % 1 + text})[0]
        return [client["unreadable_lines"],
                {region.pop("region"): region
                 for region in client["regions"]}]

    def region(legacy=False, **numbers):
        return dict(none, legacy=legacy, **numbers)

    cases = (
        ("no region", "", 0, {}),
        ("units", "drm-total-a: 3\ndrm-total-b:\t3 KiB\ndrm-total-c: 3 MiB\n"
         "drm-total-d:0\n", 0,
         {"a": region(total=3), "b": region(total=3072),
          "c": region(total=3 << 20), "d": region(total=0)}),
        ("every number", "".join("drm-%s-x: %d\n" % (stat, i + 1)
                                 for i, stat in enumerate(stats)), 0,
         {"x": region(**{stat: i + 1 for i, stat in enumerate(stats)})}),
        ("25 GB of system memory, as the driver calls it",
         "drm-total-gtt: 26214400 KiB\ndrm-total-vram: 5 MiB\n", 0,
         {"gtt": region(total=25 << 30), "vram": region(total=5 << 20)}),
        ("the older name", "drm-memory-x: 1 KiB\n", 0,
         {"x": region(True, resident=1024)}),
        ("both names", "drm-memory-x: 1 KiB\ndrm-resident-x: 2 KiB\n", 0,
         {"x": region(resident=2048)}),
        ("both names, the other way round",
         "drm-resident-x: 2 KiB\ndrm-memory-x: 1 KiB\n", 0,
         {"x": region(resident=2048)}),
        ("names of regions", "drm-total-vram-visible0: 1\ndrm-total-\x1b: 2\n",
         0, {"vram-visible0": region(total=1), "\x1b": region(total=2)}),
        ("engines, and what is not DRM's",
         "drm-engine-render: 5 ns\ndrm-cycles-x: 1\ndrm-maxfreq-x: 9 MHz\n"
         "amd-evicted-vram: 5 KiB\ntotal: 5\nno colon\n", 0, {}),
        ("the last that fits", "drm-total-a: %d KiB\n" % (2 ** 54 - 1), 0,
         {"a": region(total=U64 - 1023)}),
        ("a second one", "drm-total-a: 1\ndrm-total-a: 2\n", 1,
         {"a": region(total=1)}),
        ("a line that is cut off", "drm-total-a: 1\ndrm-total-b: 12", 1,
         {"a": region(total=1)}),
        ("no name", "drm-total-: 1\n", 1, {}),
        ("CRLF", "drm-total-a: 1 KiB\r\n", 0, {"a": region(total=1024)}),
    )
    for name, text, unreadable, want in cases:
        expect("DRM regions: " + name, regions(text), [unreadable, want])
    for value in ("", "x", "-1", "1 GiB", "1 kB", "1KiBx", "0x10", "1 2",
                  "1 KiB 2", str(U64 + 1), "%d KiB" % 2 ** 54,
                  "%d MiB" % 2 ** 44, "99999999999999999999999 KiB"):
        expect("DRM regions: %r is no number" % value,
               regions("drm-total-a: %s\ndrm-active-a: 0\n" % value),
               [1, {"a": region(active=0)}])
    clients({"1": "drm-driver: msm\ndrm-client-name: a\"\\\x1b\xff\n"})
    out = run_good(*gpu(sysfs))
    report('msm, client without a number, so this may be another one\'s '
           'duplicate "a"\\134\\033\\377", fd 1\n    tells nothing of memory\n'
           in out, "DRM: hostile names in the text", out.split("\n"))
    clients({})
    out = run_good(*gpu(sysfs))
    report("DRM clients (fdinfo)\n    None.\n\nSource" in out,
           "DRM: none, in the text", out.split("\n"))


# --- dmabuf ----------------------------------------------------------------

DMABUF_HEAD = "# generation 3 timestamp_ns 12000000034 walk_ns 1234567 " \
    "complete 1 list 0\n# buffer INO SIZE HOLDERS EXPORTER NAME\n" \
    "# holder INO TGID FDS MAPS IMPORTS MAPPED_BYTES SMAPS_RSS SMAPS_PSS PSS " \
    "COMM\n# exporter COUNT SIZE NAME\n"
LIST_HEAD = DMABUF_HEAD.replace("list 0", "list 1")
# A holds a descriptor, B maps a page, C has it three times.
DMABUF_ROWS = (
    "buffer 77 6291456 3 qcom,system gralloc\\040buf\n"
    "holder 77 12 3 1 1 4096 4096 2048 2097152 c\n"
    "holder 77 10 1 0 0 0 0 0 2097152 app one\n"
    "holder 77 11 0 1 0 4096 0 0 2097152 \\033b\"\\134\n"
    "buffer 5 8192 1 - -\n"
    "holder 5 11 0 0 2 0 0 0 8192 \\033b\"\\134\n")
DMABUF_EXPORTERS = "exporter 1 8192 -\nexporter 1 6291456 qcom,system\n"
FREE_ROW = "buffer 99 16384 0 system -\n"
STATS = "kernel/dmabuf/buffers/%s/size"

BY_PROCESS = """         app one:10   $
                  Name              Rss              Pss         nr_procs            Inode               Exporter
           gralloc buf          6144 kB          2048 kB                3               77             qcom,system
         PROCESS TOTAL          6144 kB          2048 kB                 $
----------------------
      \\033b"\\134:11   $
                  Name              Rss              Pss         nr_procs            Inode               Exporter
             <unknown>             8 kB             8 kB                1                5               <unknown>
           gralloc buf          6144 kB          2048 kB                3               77             qcom,system
         PROCESS TOTAL          6152 kB          2056 kB                 $
----------------------
               c:12   $
                  Name              Rss              Pss         nr_procs            Inode               Exporter
           gralloc buf          6144 kB          2048 kB                3               77             qcom,system
         PROCESS TOTAL          6144 kB          2048 kB                 $
----------------------
dmabuf total: TOTAL kB kernel_rss: KERNEL kB userspace_rss: 18440 kB userspace_pss: 6152 kB
""".replace("$\n", "\n")

GRID = """
----------------------- DMA-BUF Table buffer x process --------------------------
    Dmabuf Inode |            Size |   Fd Ref Counts |  Map Ref Counts |         app one:10    |      \\033b"\\134:11    |               c:12    |
               5 |            8 kB |               0 |               0 |                    -- |        0(     0) refs |                    -- |
              77 |         6144 kB |               2 |               2 |        1(     0) refs |        0(     1) refs |        3(     1) refs |
------------------------------------
TOTALS                     6152 kB |             n/a |             n/a |               6144 kB |               6152 kB |               6144 kB |
"""

BY_BUFFER = """

----------------------- DMA-BUF per-buffer stats -----------------------
    Dmabuf Inode |     Size(bytes) |    Exporter Name                    |
               5 |            8192 |        <unknown> $
              77 |         6291456 |      qcom,system $
""".replace("$\n", "\n")

BY_EXPORTER = """

----------------------- DMA-BUF exporter stats -----------------------
      Exporter Name              | Total Count |     Total Size(bytes)   |
                     qcom,system |            1| 6291456
                       <unknown> |            1| 8192


----------------------- DMA-BUF total stats -----------------------
Total DMA-BUF count: 2, Total DMA-BUF size(bytes): 6299648
"""

CSV_PROCESS = """\tapp one:10
"Name","Rss(kB)","Pss(kB)","nr_procs","Inode","Exporter"
"gralloc buf",6144,2048,3,77,"qcom,system"

PROCESS TOTAL
"Rss total(kB)","Pss total(kB)"
6144,2048
----------------------
\t\\033b\\042\\134:11
"Name","Rss(kB)","Pss(kB)","nr_procs","Inode","Exporter"
"<unknown>",8,8,1,5,<unknown>
"gralloc buf",6144,2048,3,77,"qcom,system"

PROCESS TOTAL
"Rss total(kB)","Pss total(kB)"
6152,2056
----------------------
\tc:12
"Name","Rss(kB)","Pss(kB)","nr_procs","Inode","Exporter"
"gralloc buf",6144,2048,3,77,"qcom,system"

PROCESS TOTAL
"Rss total(kB)","Pss total(kB)"
6144,2048
----------------------
\tTOTALS
"dmabuf total (kB)","kernel_rss (kB)","userspace_rss (kB)","userspace_pss (kB)"
TOTAL,KERNEL,18440,6152
"""

CSV_GRID = """
----------------------- DMA-BUF Table buffer x process --------------------------
"Dmabuf Inode","Size(kB)","Fd Ref Counts","Map Ref Counts","app one:10","\\033b\\042\\134:11","c:12"
5,8,0,0,"","0(0) refs",""
77,6144,2,2,"1(0) refs","0(1) refs","3(1) refs"
------------------------------------
"Total Size(kB)","app one:10 size(kB)","\\033b\\042\\134:11 size(kB)","c:12 size(kB)",
6152,6144,6152,6144
"""

CSV_EXPORTER = """

----------------------- DMA-BUF exporter stats -----------------------
"Exporter Name","Total Count","Total Size(bytes)"
"qcom,system",1,6291456
"<unknown>",1,8192


----------------------- DMA-BUF total stats -----------------------
"Total DMA-BUF count","Total DMA-BUF size(bytes)"
2,6299648
"""

CSV_BUFFER = """

----------------------- DMA-BUF per-buffer stats -----------------------
"Dmabuf Inode","Size(bytes)","Exporter Name"
5,8192,"<unknown>"
77,6291456,"qcom,system"
""" + CSV_EXPORTER


def make_dmabuf(sysfs, text):
    write(sysfs, {"kernel/debug/memledger/dmabuf": text})


def dmabuf(sysfs, *more):
    return ("dmabuf", "--sysfs", sysfs) + more


def test_dmabuf_text(directory):
    sysfs = make(directory)
    make_dmabuf(sysfs, DMABUF_HEAD + DMABUF_ROWS + DMABUF_EXPORTERS)

    def totals(text, total="-", kernel="-"):
        return text.replace("TOTAL kB ker", total + " kB ker") \
            .replace("KERNEL", kernel).replace("\nTOTAL,", "\n%s," % total)

    for name, args, want in (
            ("dmabuf", (), totals(BY_PROCESS)),
            ("dmabuf --by process", ("--by", "process"), totals(BY_PROCESS)),
            ("dmabuf -o raw", ("-o", "raw"), totals(BY_PROCESS)),
            ("dmabuf -a", ("-a",), GRID),
            ("dmabuf -b", ("-b",), BY_BUFFER + BY_EXPORTER),
            ("dmabuf --by buffer", ("--by", "buffer"),
             BY_BUFFER + BY_EXPORTER),
            ("dmabuf --by exporter", ("--by", "exporter"), BY_EXPORTER)):
        got, tail = run_good(*dmabuf(sysfs, *args)).split("\nSource: ")
        expect("golden text, " + name, got.split("\n"), want.split("\n"))
    expect("dmabuf: what is said below", kernel_line(tail).replace(
        sysfs, "SYSFS").split("\n"), [
            "SYSFS/kernel/debug/memledger/dmabuf, kernel RELEASE, snapshot 3, "
            "taken 12.000000034 s after boot in 1.234 ms",
            "Unavailable: unattributed_count unattributed_size: this kernel "
            "lets no module list DMA-BUFs that no process holds",
            "Unavailable: sysfs_only_count sysfs_only_size: there is no "
            "SYSFS/kernel/dmabuf/buffers: this kernel lacks "
            "CONFIG_DMABUF_SYSFS_STATS", ""])
    for name, args, want in (
            ("dmabuf --csv", ("--csv",), totals(CSV_PROCESS, "N/A", "N/A")),
            ("dmabuf -o csv", ("-o", "csv"),
             totals(CSV_PROCESS, "N/A", "N/A")),
            ("dmabuf -a -o csv", ("-a", "-o", "csv"), CSV_GRID),
            ("dmabuf -b -o csv", ("-b", "-o", "csv"), CSV_BUFFER),
            ("dmabuf --by exporter --csv", ("--by", "exporter", "--csv"),
             CSV_EXPORTER)):
        expect("exact CSV, " + name, run_good(*dmabuf(sysfs, *args)), want)
    rows = list(csv.reader(io.StringIO(run_good(*dmabuf(sysfs, "--csv")))))
    expect("dmabuf: a CSV reader's view",
           [row for row in rows if len(row) == 6 and row[0] != "Name"],
           [["gralloc buf", "6144", "2048", "3", "77", "qcom,system"],
            ["<unknown>", "8", "8", "1", "5", "<unknown>"],
            ["gralloc buf", "6144", "2048", "3", "77", "qcom,system"],
            ["gralloc buf", "6144", "2048", "3", "77", "qcom,system"]])

    # The kernel's own list has one that is held, and two that are not here.
    write(sysfs, {STATS % 77: "6291456\n", STATS % 98: "4096\n",
                  STATS % 99: "16384\n", STATS % "x": "5\n",
                  STATS % "100x": "5\n", STATS % 101: "words\n"})
    os.makedirs(os.path.join(sysfs, "kernel/dmabuf/buffers/102"))
    got, tail = run_good(*dmabuf(sysfs)).split("\nSource: ")
    expect("dmabuf: with the kernel's own list", got,
           totals(BY_PROCESS, "6172", "20"))
    lines = tail.split("\n")
    report("In %s/kernel/dmabuf/buffers alone: 2 buffers, 20 kB: in flight, "
           "held by drivers alone, or there at one of the two readings only" %
           sysfs in lines and any(line.startswith(
               "Unavailable: unattributed_count unattributed_size: ")
                                  for line in lines),
           "dmabuf: and what it is", lines)
    expect("dmabuf: CSV with the kernel's own list",
           run_good(*dmabuf(sysfs, "--csv")), totals(CSV_PROCESS, "6172",
                                                     "20"))
    # The module's list is the one that counts.
    make_dmabuf(sysfs, LIST_HEAD + DMABUF_ROWS + FREE_ROW +
                DMABUF_EXPORTERS + "exporter 1 16384 system\n")
    got, tail = run_good(*dmabuf(sysfs)).split("\nSource: ")
    expect("dmabuf: with the module's list", got,
           totals(BY_PROCESS, "6168", "16"))
    lines = tail.split("\n")
    report("Unattributed: 1 buffer, 16 kB: in flight, or held by drivers alone"
           in lines and any(line.startswith(
               "In %s/kernel/dmabuf/buffers alone: 1 buffer, 4 kB: " % sysfs)
                            for line in lines) and "Unavailable" not in tail,
           "dmabuf: unattributed", lines)


def test_dmabuf_json(directory):
    sysfs = make(directory)
    make_dmabuf(sysfs, DMABUF_HEAD + DMABUF_ROWS + DMABUF_EXPORTERS)
    data = run_json(*dmabuf(sysfs))
    hostile = '\x1bb"\\'
    names = "pid comm fds maps imports mapped smaps_rss smaps_pss pss".split()

    def holder(*values):
        return dict(zip(names, values))

    expect("dmabuf: JSON", data, {
        "pid": None, "comm": None, "generation": 3, "complete": True,
        "unit": "bytes",
        "source": sysfs + "/kernel/debug/memledger/dmabuf",
        "kernel": os.uname().release, "timestamp_ns": 12000000034,
        "walk_ns": 1234567, "list": False, "count": 2, "size": 6299648,
        "holders": 3, "dmabuf_rss": 18882560, "dmabuf_pss": 6299648,
        "unattributed_count": None, "unattributed_size": None,
        "sysfs_only_count": None, "sysfs_only_size": None,
        "buffers": [
            {"inode": 5, "size": 8192, "holders": 1, "exporter": None,
             "name": None, "held_by": [
                 holder(11, hostile, 0, 0, 2, 0, 0, 0, 8192)]},
            {"inode": 77, "size": 6291456, "holders": 3,
             "exporter": "qcom,system", "name": "gralloc buf", "held_by": [
                 holder(10, "app one", 1, 0, 0, 0, 0, 0, 2097152),
                 holder(11, hostile, 0, 1, 0, 4096, 0, 0, 2097152),
                 holder(12, "c", 3, 1, 1, 4096, 4096, 2048, 2097152)]}],
        "processes": [
            {"pid": pid, "comm": comm, "dmabuf_count": count,
             "dmabuf_rss": rss, "dmabuf_pss": pss, "dmabuf_smaps_rss": srss,
             "dmabuf_smaps_pss": spss}
            for pid, comm, count, rss, pss, srss, spss in (
                (10, "app one", 1, 6291456, 2097152, 0, 0),
                (11, hostile, 2, 6299648, 2105344, 0, 0),
                (12, "c", 1, 6291456, 2097152, 4096, 2048))],
        "exporters": [{"exporter": "qcom,system", "count": 1,
                       "size": 6291456},
                      {"exporter": None, "count": 1, "size": 8192}],
        "unavailable": ["unattributed_count", "unattributed_size",
                        "sysfs_only_count", "sysfs_only_size"],
        "reasons": data["reasons"]})
    expect("dmabuf: a reason for each null", sorted(data["reasons"]),
           sorted(data["unavailable"]))
    expect("dmabuf: JSON, whatever it is ordered by",
           [run_json(*dmabuf(sysfs, *args)) for args in
            (("-a",), ("-b",), ("--by", "exporter"))], [data] * 3)

    make_dmabuf(sysfs, LIST_HEAD + DMABUF_ROWS + FREE_ROW)
    write(sysfs, {STATS % 98: "4096\n", STATS % 99: "16384\n"})
    data = run_json(*dmabuf(sysfs))
    expect("dmabuf: unattributed in JSON",
           [data[key] for key in (
               "list", "count", "size", "unattributed_count",
               "unattributed_size", "sysfs_only_count", "sysfs_only_size",
               "dmabuf_rss", "dmabuf_pss", "unavailable", "reasons")],
           [True, 3, 6316032, 1, 16384, 1, 4096, 18882560, 6299648, [], {}])
    # Where the module does not list them they are made from the buffers.
    expect("dmabuf: exporters found",
           [list(row.values()) for row in data["exporters"]],
           [["qcom,system", 1, 6291456], ["system", 1, 16384],
            [None, 1, 8192]])


    make_dmabuf(sysfs, DMABUF_HEAD +
                "buffer 1 1 0 \\000 \\055\nbuffer 2 1 0 \\055 \\134000\n"
                "buffer 3 1 0 \\377\\400\\08 a\\\n")
    data = run_json(*dmabuf(sysfs))
    expect("dmabuf: names of all kinds",
           [[row["exporter"], row["name"]] for row in data["buffers"]],
           [["", "-"], ["-", "\\000"], ["\ufffd\\400\\08", "a\\"]])


def test_dmabuf_process(directory):
    sysfs = make(directory)
    args = dmabuf(sysfs, str(PID))
    rows = "buffer 77 6291456 3 system a\n" \
        "holder 77 4711 3 1 0 4096 4096 2048 2097152 app\n" \
        "buffer 6 4096 1 system -\n" \
        "holder 6 4711 1 0 0 0 0 0 4096 app\n"
    make_details(sysfs, PID, {"dmabuf": DMABUF_HEAD + rows})
    data = run_json(*args)
    nulls = ["unattributed_count", "unattributed_size", "sysfs_only_count",
             "sysfs_only_size"]
    expect("dmabuf PID: JSON",
           [data[key] for key in ("pid", "comm", "count", "size",
                                  "dmabuf_rss", "dmabuf_pss", "source",
                                  "unavailable")] +
           [[list(row.values()) for row in data["exporters"]],
            [row["holders"] for row in data["buffers"]]],
           [PID, "app", 2, 6295552, 6295552, 2101248,
            sysfs + "/kernel/debug/memledger/processes/4711/dmabuf", nulls,
            [["system", 2, 6295552]], [1, 3]])
    out = run_good(*args)
    report(out.startswith("             app:4711 \n") and
           "\ndmabuf total: - kB kernel_rss: - kB userspace_rss: 6148 kB "
           "userspace_pss: 2052 kB\n" in out and
           ": of one process: leave PID out to see all\n" in out,
           "dmabuf PID: text", out.split("\n"))
    report(run_good(*args, "--csv").endswith("\nN/A,N/A,6148,2052\n"),
           "dmabuf PID: CSV")
    module = os.path.join(sysfs, "kernel", "memledger")
    expect("dmabuf PID: tracked, and untracked",
           [read(module, "track"), read(module, "untrack")], [str(PID)] * 2)
    make_details(sysfs, PID, {"dmabuf": DMABUF_HEAD})
    data = run_json(*args)
    expect("dmabuf PID: none", [data["count"], data["processes"]], [0, []])
    for name, text in (
            ("no holder", "buffer 77 6291456 3 system a\n"),
            ("two holders", rows.replace("buffer 6 4096 1 system -\n", "")
             .replace("holder 6 ", "holder 77 ")),
            ("a buffer that nobody holds", "buffer 77 4096 0 system a\n"),
            ("exporters", rows + "exporter 2 5 system\n")):
        make_details(sysfs, PID, {"dmabuf": DMABUF_HEAD + text})
        done = run(*args)
        report(done.returncode == 1 and not done.stdout and
               b"the module's dmabuf file is" in done.stderr,
               "dmabuf PID: " + name, (done.returncode, done.stderr))


def test_dmabuf_errors(directory):
    sysfs = make(directory)
    one = "buffer 5 4096 1 system a\nholder 5 11 1 0 0 0 0 0 4096 b\n"
    buffer, holder = one.split("\n")[:2]
    cases = [("a word too few in a buffer (%d)" % i,
              " ".join(buffer.split()[:i] + buffer.split()[i + 1:]) + "\n" +
              holder + "\n") for i in range(6)]
    cases += [("a word too few in a holder (%d)" % i,
               buffer + "\n" +
               " ".join(holder.split()[:i] + holder.split()[i + 1:]) + "\n")
              for i in range(11)]
    cases += [
        ("a size of 65 bits", one.replace("4096", str(U64 + 1), 1)),
        ("a negative number", one.replace("4096", "-1", 1)),
        ("no number", one.replace("4096", "x", 1)),
        ("a pid that is none", one.replace(" 11 ", " 2147483648 ")),
        ("another buffer's holder", one.replace("holder 5", "holder 6")),
        ("a holder first", holder + "\n"),
        ("too few holders", buffer + "\n" + one.replace("5", "6")),
        ("too many holders", one + holder.replace(" 11 ", " 12 ") + "\n" +
         one.replace(" 5 ", " 6 ")),
        ("a holder twice", buffer.replace(" 1 ", " 2 ") + "\n" +
         2 * (holder + "\n")),
        ("a buffer twice", 2 * one),
        ("a buffer after the exporters",
         one + "exporter 1 4096 system\n" + one.replace(" 5 ", " 6 ")),
        ("a holder after the exporters",
         one + "exporter 1 4096 system\n" + holder + "\n"),
        ("an exporter without a name", one + "exporter 1 4096\n"),
        ("an exporter without a size", one + "exporter 1 system\n"),
        ("an empty line", one + "\n"), ("another line", one + "pool 1\n"),
        ("two blanks", one.replace("5 ", "5  ", 1)),
    ]
    for name, text in cases:
        make_dmabuf(sysfs, DMABUF_HEAD + text)
        fails("dmabuf file: " + name, "built with the module",
              *dmabuf(sysfs))
    head = DMABUF_HEAD.split("\n")[0]
    words = head.split()
    cases = [("a word too few (%d)" % i, " ".join(words[:i] + words[i + 1:]))
             for i in range(len(words))]
    cases += [("a word too many", head + " x"),
              ("complete 2", head.replace("complete 1", "complete 2")),
              ("nothing", "")]
    for name, line in cases:
        make_dmabuf(sysfs, line + "\n" + one)
        fails("dmabuf file, first line: " + name, "built with the module",
              *dmabuf(sysfs))
    make_dmabuf(sysfs, "")
    fails("dmabuf file: empty", "built with the module", *dmabuf(sysfs))
    for name, text in (("in a holder", one[:-3]), ("in a buffer", one[:9]),
                       ("before a holder", buffer + "\n"),
                       ("before the end of a line", one[:-1])):
        make_dmabuf(sysfs, DMABUF_HEAD + text)
        fails("dmabuf file: cut off " + name, "cut off", *dmabuf(sysfs))

    make_dmabuf(sysfs, LIST_HEAD + FREE_ROW)
    for args, size in (
            ((), "kernel_rss: 16 kB"), (("-a",), " 99 |           16 kB |"),
            (("-b",), " 99 |           16384 |"), (("--csv",), "\n16,16,0,0\n"),
            (("-a", "--csv"), "\n99,16,0,0\n"),
            (("-b", "--csv"), "\n99,16384,"), (("--json",), '"size":16384')):
        out = run_good(*dmabuf(sysfs, *args))
        report(size in out, "dmabuf: nothing but a buffer that nobody holds, "
               + " ".join(args), out.split("\n"))
    make_dmabuf(sysfs, DMABUF_HEAD)
    data = run_json(*dmabuf(sysfs))
    expect("dmabuf: none at all",
           [data[key] for key in ("count", "size", "holders", "buffers",
                                  "processes", "exporters")],
           [0, 0, 0, [], [], []])
    for args in ((), ("-a",), ("-b",), ("--csv",), ("-a", "--csv"),
                 ("-b", "--csv")):
        run_good(*dmabuf(sysfs, *args))
    make_dmabuf(sysfs, DMABUF_HEAD + "".join(
        "buffer %d %d 1 huge -\nholder %d 5 %d 0 0 %d %d %d %d x\n" %
        ((i, U64, i) + (U64,) * 5) for i in (1, 2)))
    data = run_json(*dmabuf(sysfs))
    expect("dmabuf: sums stop at the largest number",
           [data["size"], data["dmabuf_rss"], data["dmabuf_pss"]] +
           list(data["processes"][0].values())[3:] +
           [data["exporters"][0]["size"]], [U64] * 8)
    for args in ((), ("-a",), ("-b",), ("-a", "--csv")):
        run_good(*dmabuf(sysfs, *args))

    for args, line in (((), "\nIncomplete: not every process"),
                       (("--json",), '"complete":false'),
                       (("--csv",), "TOTALS")):
        make_dmabuf(sysfs, DMABUF_HEAD.replace("complete 1", "complete 0") +
                    one)
        done = run(*dmabuf(sysfs, *args))
        report(done.returncode == 0 and b"too small" in done.stderr and
               line in done.stdout.decode(),
               "dmabuf: incomplete, " + " ".join(args),
               (done.returncode, done.stderr, done.stdout))

    refresh = os.path.join(sysfs, "kernel/memledger/dmabuf/refresh")
    for name, code, message in (
            ("no snapshot", errno.ENODATA, "no snapshot of DMA-BUFs"),
            ("not permitted", errno.EPERM, "run as root"),
            ("no DMA-BUFs", errno.EOPNOTSUPP, "this kernel has no DMA-BUFs"),
            ("no memory", errno.ENOMEM, "Cannot allocate memory")):
        write(sysfs, {"kernel/memledger/dmabuf/refresh": ""})
        make_dmabuf(sysfs, fail_with(code))
        fails("dmabuf: " + name, message, *dmabuf(sysfs))
        expect("dmabuf: a snapshot was asked for, or not: " + name,
               read(refresh), "1" if code == errno.ENODATA else "")
    os.unlink(os.path.join(sysfs, "kernel/debug/memledger/dmabuf"))
    fails("dmabuf: a module without the file", "built with the module",
          *dmabuf(sysfs))
    fails("dmabuf PID: a module without the file", "built with the module",
          *dmabuf(sysfs, str(PID)))
    shutil.rmtree(os.path.join(sysfs, "kernel/debug"))
    for args in (dmabuf(sysfs), dmabuf(sysfs, str(PID)),
                 ("gpumem", "--sysfs", sysfs)):
        fails("debugfs is not mounted: " + " ".join(args[:2]),
              "mount -t debugfs none %s/kernel/debug" % sysfs, *args)
    shutil.rmtree(os.path.join(sysfs, "kernel/memledger"))
    for args in (dmabuf(sysfs), dmabuf(sysfs, str(PID)),
                 ("gpumem", "--sysfs", sysfs), gpu(sysfs)):
        fails("the module is not loaded: " + " ".join(args[:2]),
              "insmod memledger.ko", *args)


def test_dmabuf_many(directory):
    """10,000 buffers of 20 processes, all names alike."""
    sysfs = make(directory)
    rows = "".join(
        "buffer %d 4096 10 system n\n" % i + "".join(
            "holder %d %d 1 0 0 0 0 0 409 p\n" % (i, pid)
            for pid in range(i % 2, 20, 2)) for i in range(10000))
    make_dmabuf(sysfs, DMABUF_HEAD + rows)
    data = run_json(*dmabuf(sysfs))
    expect("dmabuf: 10,000 buffers and 100,000 holders",
           [data["count"], data["holders"], data["dmabuf_rss"],
            data["exporters"], data["processes"][19]["dmabuf_count"]],
           [10000, 20, 409600000,
            [{"exporter": "system", "count": 10000, "size": 40960000}], 5000])
    lines = run_good(*dmabuf(sysfs, "-a", "--csv")).split("\n")
    expect("dmabuf: their grid", [len(lines), lines[3].count("refs"),
                                  {line.count(",") for line in lines[2:10002]}],
           [10007, 10, {23}])


# --- gpumem ----------------------------------------------------------------

GPUMEM_ROWS = """Memory snapshot for GPU 0:
Global total: 500
Proc 12 total: 0
# Proc 12 has exited, and another has its number
Proc 13 total: 18446744073709551615
Memory snapshot for GPU 3:
Global total: N/A
Proc 13 total: 1
"""
GPUMEM_END = """# since 1000000002, events 5, lost 0, forgotten 7
# what was allocated before is unknown until its process's next event
# provider kgsl total 300
"""
GPUMEM_CAVEATS = """The totals include imported buffers and user memory, and not protected memory;
of what was allocated before the switch was on they know only after the
process's next event. They are no part of any sum of DMA-BUFs.
"""


def test_gpumem(directory):
    sysfs = make(directory)
    args = ("gpumem", "--sysfs", sysfs)

    def make_text(text):
        write(sysfs, {"kernel/debug/memledger/gpumem": text})

    make_text(GPUMEM_ROWS + GPUMEM_END)
    plain = "".join(line + "\n" for line in GPUMEM_ROWS.split("\n")[:-1]
                    if line[0] != "#")
    source = "\nSource: SYSFS/kernel/debug/memledger/gpumem, kernel RELEASE; " \
        "events %d, lost %d, forgotten %d, since 1.000000002 s after boot\n"
    expect("golden text, gpumem",
           kernel_line(run_good(*args)).replace(sysfs, "SYSFS"),
           plain + source % (5, 0, 7) +
           "GPU driver kgsl: its own total is 300, without imports; the "
           "tracepoint's of GPU 0 is 200 more.\n"
           "Of GPU 0's Proc 12: that process has exited, and another one has "
           "its number now.\n" + GPUMEM_CAVEATS)
    data = run_json(*args)
    expect("gpumem: JSON", data, {
        "unit": "bytes", "source": sysfs + "/kernel/debug/memledger/gpumem",
        "kernel": os.uname().release, "complete": True,
        "since_ns": 1000000002, "events": 5, "lost": 0, "forgotten": 7,
        "gpus": [
            {"gpu": 0, "global_total": 500, "processes": [
                {"pid": 12, "total": 0, "stale": True},
                {"pid": 13, "total": U64, "stale": False}]},
            {"gpu": 3, "global_total": None, "processes": [
                {"pid": 13, "total": 1, "stale": False}]}],
        "provider": "kgsl", "provider_total": 300,
        "unavailable": ["global_total"],
        "reasons": {"global_total": data["reasons"]["global_total"]}})

    end = "# since 1000000002, events 0, lost %d, forgotten 0\n"
    for name, text, nulls, line in (
            ("no event", "# no events yet\n" + end % 0 + "# no provider\n",
             ["provider", "provider_total"],
             "No event yet: nothing is known.\n"),
            ("no provider", plain + end % 0 + "# no provider\n",
             ["global_total", "provider", "provider_total"],
             "No GPU driver has told memledger its own total.\n"),
            ("a provider that cannot tell",
             plain + end % 0 + "# provider kgsl total unavailable\n",
             ["global_total", "provider_total"],
             "GPU driver kgsl: its own total is unavailable.\n"),
            ("less than the provider",
             "Memory snapshot for GPU 0:\nGlobal total: 1\n" + end % 0 +
             "# provider kgsl total 300\n", [],
             "300, without imports; the tracepoint's of GPU 0 is 299 less.\n"),
            ("GPU 0 unknown",
             "Memory snapshot for GPU 0:\nGlobal total: N/A\n" + end % 0 +
             "# provider kgsl total 300\n", ["global_total"],
             "300, without imports.\n"),
            ("another comment", "# x\n#\n#y\n" + end % 0 +
             "# provider kgsl total 1\n", [], "1, without imports.\n")):
        make_text(text)
        data = run_json(*args)
        out = run_good(*args)
        expect("gpumem: " + name,
               [data["unavailable"], sorted(data["reasons"]), line in out,
                [key for key in ("provider", "provider_total")
                 if data[key] is None]],
               [nulls, sorted(nulls), True,
                [key for key in nulls if key != "global_total"]])
    make_text(plain + end % 3 + "# no provider\n")
    out = run_good(*args)
    report("\nIncomplete: 3 events were lost" in out, "gpumem: lost events",
           out.split("\n"))
    expect("gpumem: lost events in JSON", run_json(*args)["complete"], False)

    gpu0 = "Memory snapshot for GPU 0:\nGlobal total: 5\n"
    for name, text in (
            ("a process first", "Proc 1 total: 5\n"),
            ("a global total first", "Global total: 5\n"),
            ("no global total", "Memory snapshot for GPU 0:\nProc 1 total: 5\n"),
            ("two global totals", gpu0 + "Global total: 5\n"),
            ("a GPU twice", 2 * gpu0),
            ("GPUs out of order", gpu0.replace("0:", "3:") + gpu0),
            ("processes out of order",
             gpu0 + "Proc 2 total: 5\nProc 1 total: 5\n"),
            ("a process twice", gpu0 + 2 * "Proc 1 total: 5\n"),
            ("a word", gpu0 + "Proc 1 total: five\n"),
            ("more", gpu0 + "Proc 1 total: 5 kB\n"),
            ("no total", gpu0 + "Proc 1 total:\n"),
            ("a total of 65 bits", gpu0 + "Proc 1 total: %d\n" % (U64 + 1)),
            ("a negative total", gpu0.replace("5", "-5")),
            ("a pid that is none", gpu0 + "Proc 2147483648 total: 5\n"),
            ("a GPU of 33 bits", gpu0.replace("0:", "4294967296:")),
            ("no colon", gpu0.replace("0:", "0")),
            ("another line", gpu0 + "hello\n"),
            ("another process's comment",
             gpu0 + "Proc 1 total: 5\n# Proc 2 has exited\n"),
            ("odd counts", end.replace("lost", "missed") % 0),
            ("no commas", end.replace(",", "") % 0),
            ("a comma too many", end.replace("forgotten 0", "forgotten 0,") % 0),
            ("a provider without a total", "# provider kgsl\n"),
            ("a provider's odd total", "# provider kgsl total 5x\n")):
        make_text(text + end % 0)
        fails("gpumem file: " + name, "built with the module", *args)
    for name, text in (("empty", ""), ("no end", gpu0),
                       ("half a line", gpu0 + end[:20]),
                       ("half a GPU", end % 0 + gpu0[:27])):
        make_text(text)
        fails("gpumem file: cut off: " + name, "cut off", *args)

    make_text(fail_with(errno.EOPNOTSUPP))
    fails("gpumem: switched off",
          "echo 1 > %s/kernel/memledger/gpu_totals" % sysfs, *args)
    write(sysfs, {"kernel/memledger/features/gpu_totals": "0\n"})
    fails("gpumem: no tracepoint", "CONFIG_TRACE_GPU_MEM", *args)
    make_text(fail_with(errno.EPERM))
    fails("gpumem: not permitted", "run as root", *args)
    os.unlink(os.path.join(sysfs, "kernel/debug/memledger/gpumem"))
    fails("gpumem: a module without the file", "built with the module", *args)


# --- the rows of meminfo ---------------------------------------------------

def test_mtrack(directory):
    rows = {"egl_mtrack": 90 << 20, "gl_mtrack": 2 << 20}
    sysfs = make(directory, rows=rows)
    args = ("meminfo", str(PID), "--sysfs", sysfs)
    out = run_good(*args)
    table = {line[:13].strip(): line[13:].split()[:1]
             for line in out.split("\n")}
    data = run_json(*args)
    expect("mtrack rows that a driver fills",
           [table.get(row) for row in ("EGL mtrack", "GL mtrack", "TOTAL")] +
           ["Unavailable" in out, data["unavailable"]] +
           [data["category"][row]["pss"] for row in MTRACK],
           [["92160"], ["2048"], ["94208"], False, [], 90 << 20, 2 << 20, 0])
    sysfs = make(directory, rows={"gl_mtrack": 2 << 20}, unavailable=8)
    data = run_json(*args)
    expect("EGL mtrack alone is unavailable",
           [data["unavailable"]] + [data["category"][row]["pss"]
                                    for row in MTRACK],
           [["egl_mtrack"], None, 2 << 20, 0])
    make(directory, unavailable=10)
    expect("mtrack rows are named once",
           run_json(*args)["unavailable"], list(MTRACK))


# --- the command line ------------------------------------------------------

def test_command_line():
    for args, message in (
            (("gpu",), "gpu needs one PID or NAME"),
            (("gpu", "1", "2"), "gpu needs one"),
            (("gpu", ""), "gpu needs one"),
            (("gpu", "1", "-a"), "gpu does not take"),
            (("gpu", "1", "--csv"), "gpu does not take"),
            (("gpu", "1", "--profile", "android16"), "gpu does not take"),
            (("dmabuf", "1", "2"), "dmabuf needs at most one PID or NAME"),
            (("dmabuf", ""), "dmabuf needs at most one"),
            (("dmabuf", "--by"), "by"),
            (("dmabuf", "--by", "name"), "process, buffer or exporter"),
            (("dmabuf", "-a", "-b"), "exclude each other"),
            (("dmabuf", "-a", "--by", "buffer"), "exclude each other"),
            (("dmabuf", "-b", "--by", "buffer"), "exclude each other"),
            (("dmabuf", "-o", "xml"), "-o takes raw or csv"),
            (("dmabuf", "-o"), "o"),
            (("dmabuf", "--csv", "--json"), "exclude each other"),
            (("dmabuf", "--checkin"), "dmabuf does not take"),
            (("dmabuf", "--entries"), "dmabuf does not take"),
            (("dmabuf", "--top", "3"), "dmabuf does not take"),
            (("dmabuf", "-d"), "dmabuf does not take"),
            (("gpumem", "1"), "gpumem needs nothing else"),
            (("gpumem", "--csv"), "gpumem does not take"),
            (("gpumem", "--by", "process"), "gpumem does not take"),
            (("meminfo", "1", "--csv"), "meminfo does not take"),
            (("meminfo", "1", "-b"), "meminfo does not take"),
            (("smaps", "-", "--entries"), "smaps does not take"),
            (("unknown", "-", "--proc", "/"), "unknown does not take")):
        done = run(*args)
        report(done.returncode == 2 and message in done.stderr.decode() and
               not done.stdout, "command line: " + repr(" ".join(args)),
               (done.returncode, done.stderr, done.stdout))


def test_all(directory):
    test_gpu_text(directory)
    test_gpu_json(directory)
    test_gpu_unavailable(directory)
    test_gpu_incomplete(directory)
    test_gpu_malformed(directory)
    test_drm(directory)
    test_dmabuf_text(directory)
    test_dmabuf_json(directory)
    test_dmabuf_process(directory)
    test_dmabuf_errors(directory)
    test_dmabuf_many(directory)
    test_gpumem(directory)
    test_mtrack(directory)
    test_command_line()
