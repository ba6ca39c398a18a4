#!/usr/bin/env python3
# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Counts lines, files and types of each module, and the settings of the sidecar.

    tools/size.py [REVISION...]

Without a revision it counts the committed state. Product code is src/main/java without benchmarks, the conformance
suite and test support. The last lines name shared names of public types, and files above 500 lines.
"""
import collections
import os
import re
import subprocess
import sys

NO_PRODUCT = ("sidecar/benchmarks/", "sidecar/conformance/", "operator/testing/")
MOST_LINES = 500
PUBLIC = re.compile(r"^public [\w ]*?\b(?:class|interface|enum|record|@interface) (\w+)", re.MULTILINE)
# A setting stands in a row of the first table of this document.
SETTINGS = "docs/configuration.md"


def git(*arguments):
    return subprocess.run(("git", *arguments), check=True, capture_output=True).stdout


def texts(revision):
    """Yields path and text of each Java file, and of the document of settings."""
    listed = git("ls-tree", "-r", "-z", revision).decode().split("\0")
    entries = [line.split(None, 2)[2].split("\t") for line in listed if line]
    wanted = [(blob, path) for blob, path in entries if path.endswith(".java") or path == SETTINGS]
    answer = subprocess.run(
        ("git", "cat-file", "--batch"),
        input="".join(blob + "\n" for blob, _ in wanted).encode(),
        check=True,
        capture_output=True,
    ).stdout
    at = 0
    for _, path in wanted:
        end = answer.index(b"\n", at)
        size = int(answer[at:end].split()[2])
        yield path, answer[end + 1 : end + 1 + size].decode()
        at = end + 1 + size + 1


def count(revision):
    lines, files, tests = collections.Counter(), collections.Counter(), 0
    long, names, settings = [], collections.defaultdict(set), 0
    for path, text in texts(revision):
        if path == SETTINGS:
            settings = len(re.findall(r"^\| `sidewarp\.", text.split("\n## ")[0], re.MULTILINE))
            continue
        length = text.count("\n")
        if "/src/main/java/" in path and not path.startswith(NO_PRODUCT):
            module = path.split("/src/")[0]
            lines[module] += length
            files[module] += 1
            for name in PUBLIC.findall(text):
                names[name].add(os.path.dirname(path))
        elif "/src/test/java/" in path:
            tests += length
        if length > MOST_LINES:
            long.append(f"{os.path.basename(path)} {length}")
    print(f"{revision}:")
    for module in sorted(lines):
        print(f"  {module:28} {lines[module]:7} lines {files[module]:5} files")
    print(f"  {'product':28} {sum(lines.values()):7} lines {sum(files.values()):5} files")
    print(f"  {'tests':28} {tests:7} lines")
    print(f"  settings in the main table: {settings}")
    shared = sorted(name for name, places in names.items() if len(places) > 1)
    print(f"  public types that share a simple name: {len(shared)} {' '.join(shared)}")
    print(f"  files above {MOST_LINES} lines: {len(long)} {', '.join(sorted(long))}")


for each in sys.argv[1:] or ["HEAD"]:
    count(each)
