#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The report's page in a browser, as TAP.

browser.py BUILD_DIR [SHOTS [RECORDING...]]: makes recordings, has
BUILD_DIR/memledger make pages of them, and opens these in Chromium without a
window: each draws, says nothing on the console, loads nothing, and has the
numbers of export --csv. Pictures are left in SHOTS, if given, to be looked at. Of
recordings of real processes that are given the same is asked.
"""

import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib

import journal
from common import TOOL, expect, report, results, run_good
from test_record import Page, compare_page, export, read_bytes, write

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def find_browser():
    for name in BROWSERS:
        for directory in os.environ.get("PATH", "").split(":"):
            path = os.path.join(directory, name)
            if os.access(path, os.X_OK):
                return path
    return None


def browse(browser, page, *options):
    """Output, and what pages said on the console or tried to load."""
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, "--headless=new", "--disable-gpu",
                   "--hide-scrollbars", "--user-data-dir=" + profile,
                   "--no-first-run", "--disable-background-networking",
                   "--enable-logging=stderr", "--log-level=0"]
        if os.getuid() == 0:
            command.append("--no-sandbox")
        done = subprocess.run(command + list(options) + ["file://" + page],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False, timeout=300)
    said = [line for line in done.stderr.decode(errors="replace").splitlines()
            if re.search(r"CONSOLE[:(]", line)]
    return done.stdout.decode(), said


def pixels(path):
    """How often each colour is in a PNG of 8-bit RGB or RGBA."""
    data = read_bytes(path)
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert depth == 8 and colour in (2, 6)
        elif kind == b"IDAT":
            packed += body
        at += size + 12
    step = 3 if colour == 2 else 4
    return width, height, count_pixels(zlib.decompress(packed), width, height,
                                       step)


def unfilter(kind, line, above, step):
    """A line of a PNG from its differences."""
    for i, byte in enumerate(line):
        left = line[i - step] if i >= step else 0
        up = above[i]
        corner = above[i - step] if i >= step else 0
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = up
        elif kind == 3:
            guess = (left + up) // 2
        else:
            sides = ((abs(up - corner), 0, left), (abs(left - corner), 1, up),
                     (abs(left + up - 2 * corner), 2, corner))
            guess = min(sides)[2]
        line[i] = (byte + guess) & 0xff


def count_pixels(raw, width, height, step):
    counts = {}
    above = bytearray(width * step)
    for y in range(height):
        at = y * (width * step + 1)
        line = bytearray(raw[at + 1:at + 1 + width * step])
        if raw[at]:
            unfilter(raw[at], line, above, step)
        for x in range(0, len(line), step):
            colour = bytes(line[x:x + 3])
            counts[colour] = counts.get(colour, 0) + 1
        above = line
    return counts


def colours_of(text):
    """Of the style: those of the charts, in the light and in the dark."""
    light = re.findall(r"--c(\d):#([0-9a-f]{6})",
                       text.split("@media(prefers-color-scheme:dark)")[0])
    return {name: bytes.fromhex(colour) for name, colour in light}


def shoot(browser, page, shot, width, height, *options):
    _, said = browse(browser, page, "--window-size=%d,%d" % (width, height),
                     "--screenshot=" + shot, *options)
    return said


def test_console(browser, directory):
    """Lest the other tests see nothing because they cannot see anything."""
    page = write(directory, "bad.html",
                 b"<!DOCTYPE html><script>console.error('seen')</script>")
    _, said = browse(browser, page, "--dump-dom")
    report(any("seen" in line for line in said),
           "browser: an error on the console is seen", said)


def areas(text):
    """Colours that the first picture of a page is drawn with."""
    colours = colours_of(text)
    picture = text.split("<svg", 1)[-1].split("</svg>")[0]
    return {name: colours[name] for name in
            re.findall(r'fill="var\(--c(\d)\)"', picture)}


def test_page(browser, directory, name, data, shots, least):
    """least: how many pixels each area of the first picture has."""
    path = write(directory, name, data)
    page = path + ".html"
    run_good("report", path, "-o", page)
    dom, said = browse(browser, page, "--dump-dom")
    expect("browser, %s: nothing on the console" % name, said, [])
    compare_page("browser, " + name, Page(dom), export(path))
    text = read_bytes(page).decode()
    for what, width, height, options in (
            ("desktop", 1100, 1000, ()), ("phone", 390, 900, ()),
            ("dark", 1100, 1000, ("--force-dark-mode",))):
        shot = os.path.join(shots, "%s-%s.png" % (name, what))
        said = shoot(browser, page, shot, width, height, *options)
        wide, high, counts = pixels(shot)
        expect("browser, %s: %s is drawn without a word" % (name, what),
               (said, wide, high), ([], width, height))
        most = max(counts, key=counts.get)
        expect("browser, %s: %s has the page's background" % (name, what),
               most.hex(), "15181c" if what == "dark" else "ffffff")
        if what == "desktop":
            # The last colour is that of what is left.
            thin = [key for key, colour in areas(text).items()
                    if counts.get(colour, 0) < least and key < "8"]
            expect("browser, %s: all areas are drawn" % name, thin, [])
    pdf = os.path.join(shots, name + ".pdf")
    _, said = browse(browser, page, "--no-pdf-header-footer",
                     "--print-to-pdf=" + pdf)
    report(not said and read_bytes(pdf).startswith(b"%PDF"),
           "browser, %s: is printed" % name, said)


def main():
    browser = find_browser()
    if not browser:
        print("Bail out! no Chromium: scripts/install-deps report")
        return 1
    with tempfile.TemporaryDirectory() as directory:
        shots = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else \
            directory
        os.makedirs(shots, exist_ok=True)
        test_console(browser, directory)
        test_page(browser, directory, "story", journal.story().data, shots,
                  100)
        test_page(browser, directory, "hostile",
                  journal.story(gpu=False, comm=journal.HOSTILE[:24]).data,
                  shots, 100)
        for path in sys.argv[3:]:
            # Areas may be as thin as memory is small.
            test_page(browser, directory, os.path.basename(path),
                      read_bytes(path), shots, 0)
    print("1..%d" % results["count"])
    return 1 if results["failed"] else 0


if __name__ == "__main__":
    assert TOOL
    sys.exit(main())
