#!/usr/bin/env python3
# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the language of comments: how they begin, and how long their sentences are (CONTRIBUTING.md, Language).

    tools/language.py [--list] [FILE...]

Prints the number of places that break a rule, for each directory and rule. With --list it prints each place instead.
Ends with 1 if there are any.
"""
import collections
import pathlib
import re
import subprocess
import sys

MAX_WORDS = 25
FORBIDDEN = re.compile(r"(Of|Who|Whoever|What|Whatever|Those|That which|How|Whether it|Which)\b", re.IGNORECASE)
ROOT = pathlib.Path(__file__).resolve().parent.parent

JAVA_COMMENT = re.compile(
    r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|/\*\*?(.*?)\*/|((?:^[ \t]*//[^\n]*\n)+)|//([^\n]*)',
    re.DOTALL | re.MULTILINE,
)
HASH_COMMENT = re.compile(r"((?:^[ \t]*#(?!!)[^\n]*\n)+)", re.MULTILINE)
IGNORED = re.compile(r"Copyright|SPDX-License|Unless required by applicable law|^\s*$|^(noinspection|spotless|shellcheck|@formatter)")
KINDS = {
    ".java": JAVA_COMMENT,
    ".proto": JAVA_COMMENT,
    ".c": JAVA_COMMENT,
    ".h": JAVA_COMMENT,
    ".yaml": HASH_COMMENT,
    ".py": HASH_COMMENT,
    ".sh": HASH_COMMENT,
}


def comments(path):
    """Yields line and text of each comment, without what frames it."""
    text = path.read_text(encoding="utf-8")
    for match in KINDS[path.suffix].finditer(text):
        body = next((group for group in match.groups() if group is not None), None)
        if body is None:
            continue
        line = text.count("\n", 0, match.start()) + 1
        body = re.sub(r"^[ \t]*(\*(?!/)|//|#+)[ ]?", "", body, flags=re.MULTILINE)
        yield line, body


def paragraphs(body):
    """Yields the pieces of a comment that hold sentences of their own: a paragraph, an item, a tag of Javadoc."""
    body = re.sub(r"<pre>.*?</pre>", "\n\n", body, flags=re.DOTALL)
    body = re.sub(r"</?(p|ul|ol|li|table|tr|td|th|h\d)[^>]*>", "\n\n", body)
    for piece in re.split(r"\n\s*\n|\n(?=\s*@)|\n(?=\s*[-*] )|\n(?=\s{4,})", body):
        tag = re.match(r"\s*@(param|throws|exception)\s+\S+\s*|\s*@\w+\s*", piece)
        text = piece[tag.end():] if tag else piece
        yield " ".join(text.split()), tag is None


def sentences(text):
    text = re.sub(r"\{@\w+\s+([^{}]*)\}", lambda m: m.group(1).split()[-1] if m.group(1).split() else "x", text)
    text = re.sub(r"`[^`]*`|<code>.*?</code>", "code", text)
    text = re.sub(r"\b(e\.g|i\.e|etc|vs|cf)\.", r"\1", text)
    return [part for part in re.split(r"(?<=[.!?:;])\s+(?=[A-Z({`]|\d)|;\s+|:\s+", text) if part]


def check(path):
    """Yields line, rule and text of each place that breaks a rule."""
    for line, body in comments(path):
        first = True
        for text, prose in paragraphs(body):
            if IGNORED.search(text):
                continue
            if first and prose and FORBIDDEN.match(text):
                yield line, "opening", text
            first = False
            for sentence in sentences(text):
                if len(sentence.split()) > MAX_WORDS:
                    yield line, "length", sentence


def directory(path):
    parts = path.parts
    if "src" in parts:
        source = parts.index("src")
        return "/".join(parts[: source + 2])
    return parts[0] if len(parts) > 1 else "."


def main(arguments):
    listing = "--list" in arguments
    names = [name for name in arguments if not name.startswith("--")]
    if not names:
        names = subprocess.run(
            ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.splitlines()
    counts = collections.Counter()
    for name in names:
        path = ROOT / name
        if path.suffix not in KINDS or not path.is_file():
            continue
        for line, rule, text in check(path):
            counts[directory(pathlib.Path(name)), rule] += 1
            if listing:
                print(f"{name}:{line}: {rule}: {text}")
    if not listing:
        for (name, rule), count in sorted(counts.items()):
            print(f"{name} {rule} {count}")
    return 1 if counts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
