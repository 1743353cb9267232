# SPDX-License-Identifier: GPL-2.0-only
"""Recordings as docs/recording.rst has them, written by other code than the
tool's.
"""

import math
import random
import struct
import zlib

from common import CATEGORIES, CLASSES, GRAPHICS_FIELDS, USAGES

SESSION, SAMPLE, NAME, MARK, RETAINED = range(1, 6)
FIELDS = ("pss swap_pss rss private_dirty private_clean shared_dirty "
          "shared_clean swap vmas").split()
ROWS = ["total"] + CATEGORIES + ["unknown." + name for name in CLASSES]
GRAPHICS = GRAPHICS_FIELDS + ["usage." + name for name in USAGES]
NO_SWAP_PSS, NO_MTRACK, NO_ANON_NAMES = 1, 2, 4
NO_DMABUF, NO_NAMES, NO_START = 0x10000, 0x20000, 0x40000
MAPPINGS, EXPORTERS = 0, 1


def number(value):
    data = bytearray()
    while True:
        data.append(value & 0x7f | (0x80 if value > 0x7f else 0))
        value >>= 7
        if not value:
            return bytes(data)


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return number(len(data)) + data


def frame(kind, payload):
    data = struct.pack("<II", len(payload), kind) + payload
    return data + struct.pack("<I", zlib.crc32(data))


class Journal:
    """The bytes of a recording, record by record."""

    def __init__(self, version=1):
        self.data = b"memlrec\n" + struct.pack("<II", version, 0)
        self.names = []
        self.ends = [len(self.data)]

    def add(self, kind, payload):
        self.data += frame(kind, payload)
        self.ends.append(len(self.data))

    def session(self, pairs, time=0, real=0):
        words = b"".join(word.encode(errors="surrogateescape") + b"\0"
                         for pair in pairs for word in pair)
        self.names = []
        self.add(SESSION, number(time) + number(real) + text(words))

    def sample(self, time, rows, pid=77, start=1000, generation=1, flags=1,
               unavailable=0, graphics=(), dmabuf=(0, 0, 0), names=()):
        """rows: numbers by field by row; names: (text, what, category,
        bytes, count).
        """
        payload = b"".join(map(number, (time, 5000, pid, start, generation,
                                        flags, unavailable, len(rows))))
        for row, fields in rows.items():
            payload += number(ROWS.index(row))
            for field in FIELDS:
                payload += number(fields.get(field, 0))
        payload += number(len(dict(graphics)))
        for name, value in dict(graphics).items():
            payload += number(GRAPHICS.index(name)) + number(value)
        payload += b"".join(map(number, dmabuf)) + number(len(names))
        for name, what, category, size, count in names:
            if name not in self.names:
                self.add(NAME, number(len(self.names)) + text(name))
                self.names.append(name)
            payload += b"".join(map(number, (
                self.names.index(name), what,
                CATEGORIES.index(category) if what == MAPPINGS else 0, size,
                count)))
        self.add(SAMPLE, payload)

    def mark(self, time, label, pid=77):
        self.add(MARK, number(time) + number(pid) + text(label))

    def retained(self, time, age, kind, ident, size, what, holders, pid=77):
        self.add(RETAINED, b"".join(map(number, (
            time, age, pid, kind, ident, size))) + text(what) + text(holders))


def row(size, swap=0, vmas=1, clean=0):
    """Private memory: so many bytes in RAM and in swap."""
    return {"pss": size, "rss": size, "private_dirty": size - clean,
            "private_clean": clean, "swap": swap, "swap_pss": swap,
            "vmas": vmas}


def total(rows):
    """Rows with their total, which the rows of Unknown are not part of."""
    fields = {field: sum(rows[name].get(field, 0) for name in rows
                         if name in CATEGORIES) for field in FIELDS}
    return dict(rows, total=fields)


HOSTILE = "</script><img src=x onerror=alert(1)>&\"'\x1b[31m\n\u202e"


def story(rounds=120, comm="com.example.app", seed=1, gpu=True):
    """An app that leaks native memory and graphics buffers, with all there
    can be on a page.
    """
    rng = random.Random(seed)
    journal = Journal()
    journal.session([("process", comm + " [77]"),
                     ("kernel", "6.12.0-test x86_64"), ("page_size", "4096"),
                     ("profile", "android16"), ("source", "/sys/kernel/x"),
                     ("unavailable", "none"), ("features_off", "vma_lock")],
                    time=10 ** 9, real=1700000000 * 10 ** 9)

    def kb(amount, noise=0):
        return max(0, int(amount + rng.gauss(0, noise))) * 1024

    for i in range(rounds):
        leak = kb(64 * i)
        texture = kb(4096 * (i // 3))
        warm = kb(9000 * (1 - math.exp(-i / 8)), 60)
        unnamed, bss = kb(5000, 40), kb(1200)
        rows = {
            "native_heap": row(kb(30000, 80) + leak, kb(3000 + 10 * i),
                               20 + i),
            "dalvik_heap": row(kb(16000 + 900 * (i % 10), 50), vmas=12),
            "dalvik_other": row(warm, vmas=40),
            "so_mmap": row(kb(24000), vmas=300, clean=kb(21000)),
            "dex_mmap": row(kb(9000), vmas=30, clean=kb(9000)),
            "apk_mmap": row(kb(1500), vmas=8, clean=kb(1500)),
            "stack": row(kb(1800, 8), vmas=44),
            "ashmem": row(kb(300), vmas=3),
            "gfx_dev": row(kb(6000), vmas=60),
            "unknown": row(unnamed + bss, vmas=90),
            "unknown.unnamed_data": row(unnamed, vmas=50),
            "unknown.linker": row(bss, vmas=40),
            "unknown.named_other": row(0, vmas=0),
        }
        if gpu:
            rows["gl_mtrack"] = row(kb(12000) + texture, vmas=0)
            rows["egl_mtrack"] = row(kb(24000), vmas=0)
        if i == rounds // 3:
            journal.mark((i + 1) * 10 ** 9, "opened")
        if i == 2 * rounds // 3:
            journal.mark((i + 1) * 10 ** 9, "closed " + HOSTILE)
        journal.sample(
            (i + 1) * 10 ** 9, total(rows), generation=i + 1,
            unavailable=0 if gpu else NO_MTRACK | NO_DMABUF,
            graphics={"gpumem_unmapped": 12000 << 10, "imported_mem":
                      24000 << 10, "usage.texture": (8000 << 10) + texture,
                      "usage.egl_surface": 24000 << 10,
                      "usage.command": 4000 << 10} if gpu else (),
            dmabuf=(6 + i // 3, (24000 << 10) + texture, (24000 << 10) +
                    texture) if gpu else (0, 0, 0),
            names=[("[anon:scudo:primary]", MAPPINGS, "native_heap",
                    (30000 << 10) + leak, 20 + i),
                   (HOSTILE, MAPPINGS, "unknown", bss, 40),
                   ("", MAPPINGS, "unknown", unnamed, 50)] +
            ([("system", EXPORTERS, "", (24000 << 10) + texture,
               6 + i // 3)] if gpu else []))
    if gpu:
        for i in range(5):
            journal.retained(rounds * 10 ** 9, (20 + i) * 10 ** 9, 0, 4711 + i,
                             4096 << 10, "system",
                             "%s[77] fd %d\nsurfaceflinger[12] mapping" %
                             (comm, 30 + i))
        journal.retained(rounds * 10 ** 9, 9 * 10 ** 9, 2, 0x7f0012340000,
                         65536, HOSTILE, "app[77] mapping")
    return journal
