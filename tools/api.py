#!/usr/bin/python3
# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/api, the reference of the contract, from the .proto files and their comments.

    tools/api.py            writes the pages
    tools/api.py --check    ends with 1 if a page is not what this program would write

Needs Debian's protobuf-compiler, libprotobuf-dev and python3-protobuf.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Field
from google.protobuf.descriptor_pb2 import FileDescriptorSet

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROTOS = ROOT / "proto/src/main/proto"
PACKAGE = "sidewarp/v1"
PAGES = ROOT / "docs/api"
TITLES = {
    "device": "Device and sessions",
    "memory": "Memory",
    "connection": "Connections",
    "transfer": "Work requests and queues",
    "shared_receive_queue": "Shared receive queues",
    "ring": "Rings",
    "types": "Common types",
}
NOTE = "<!-- Written by tools/api.py from the .proto files. Change those. -->\n\n"
INTRO = """\
[The contract](../../proto/README.md) tells how the calls belong together, [Errors](../errors.md) what an error means.

"""
# Numbers of members in descriptor.proto; a location of a comment is a path of such numbers and of indexes.
MESSAGE, ENUM, SERVICE = 4, 5, 6
MEMBER = 2


def load():
    """Returns the descriptors of the contract's files, with their comments."""
    with tempfile.NamedTemporaryFile() as out:
        files = [f"{PACKAGE}/{name}.proto" for name in TITLES]
        subprocess.run(
            ["protoc", "-I", PROTOS, "-I", "/usr/include", "--include_source_info", "-o", out.name, *files], check=True
        )
        files = FileDescriptorSet.FromString(pathlib.Path(out.name).read_bytes()).file
        return [next(file for file in files if file.name == f"{PACKAGE}/{name}.proto") for name in TITLES]


def page_of(file):
    return pathlib.Path(file.name).stem.replace("_", "-") + ".md"


class Page:
    """Formats one file of the contract."""

    def __init__(self, file, pages):
        self.file = file
        self.pages = pages
        self.comments = {tuple(place.path): place.leading_comments for place in file.source_code_info.location}

    def link(self, name, label):
        page = "" if self.pages[name] == page_of(self.file) else self.pages[name]
        return f"[{label}]({page}#{name.lower()})"

    def comment(self, *path):
        """Returns the paragraphs of a member's comment in Markdown. Marks names with an underscore as code."""
        pieces = re.sub(r"([<>|{}*])", r"\\\1", self.comments.get(path, "")).split("`")
        pieces[::2] = [re.sub(r"(?<!\.)\b[a-z]+(_[a-z]+)+\b", r"`\g<0>`", piece) for piece in pieces[::2]]
        text = re.sub(r"\bdocs/(\w+)\.md", r"[\1.md](../\1.md)", "`".join(pieces))
        paragraphs = [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text)]
        return [re.sub(r"\b([A-Z]\w+)\.(\w+)", self.member, paragraph) for paragraph in paragraphs if paragraph]

    def member(self, match):
        known = match.group(1) in self.pages
        return self.link(match.group(1), f"`{match.group(1)}.{match.group(2)}`") if known else match.group()

    def type(self, name):
        return self.link(name.rsplit(".", 1)[1], name.rsplit(".", 1)[1]) if "sidewarp" in name else name.lstrip(".")

    def entry(self, head, path):
        comment = self.comment(*path)
        return "- " + head + "".join("\n\n  " + paragraph for paragraph in comment) + "\n\n"

    def service(self, index, service):
        text = "\n\n".join([f"## {service.name}", *self.comment(SERVICE, index)]) + "\n\n"
        for number, method in enumerate(service.method):
            request = self.type(method.input_type)
            response = ("stream of " if method.server_streaming else "") + self.type(method.output_type)
            if method.client_streaming:
                request = "stream of " + request
            comment = self.comment(SERVICE, index, MEMBER, number)
            text += "\n\n".join([f"### {method.name}", f"{request} → {response}", *comment]) + "\n\n"
        return text

    def message(self, path, message):
        text = "\n\n".join([f"### {message.name}", *self.comment(*path)]) + "\n\n"
        for number, field in enumerate(message.field):
            label = "repeated " if field.label == Field.LABEL_REPEATED else "optional " if field.proto3_optional else ""
            if field.HasField("oneof_index") and not field.proto3_optional:
                label = f"one of `{message.oneof_decl[field.oneof_index].name}`, "
            kind = self.type(field.type_name) or Field.Type.Name(field.type).removeprefix("TYPE_").lower()
            text += self.entry(f"**`{field.name}`** = {field.number}, {label}{kind}", (*path, MEMBER, number))
        return text if message.field else text + "No fields.\n\n"

    def enum(self, path, enum):
        text = "\n\n".join([f"### {enum.name}", *self.comment(*path)]) + "\n\n"
        for number, value in enumerate(enum.value):
            text += self.entry(f"`{value.name}` = {value.number}", (*path, MEMBER, number))
        return text

    def text(self):
        title = TITLES[pathlib.Path(self.file.name).stem]
        text = f"# {title}\n\n{NOTE}`{self.file.name}`, package `{self.file.package}`\n\n"
        text += "".join(self.service(index, service) for index, service in enumerate(self.file.service))
        text += "## Messages\n\n" + "".join(self.message((MESSAGE, i), m) for i, m in enumerate(self.file.message_type))
        if self.file.enum_type:
            text += "## Enums\n\n" + "".join(self.enum((ENUM, i), enum) for i, enum in enumerate(self.file.enum_type))
        return text.rstrip() + "\n"

    def index(self):
        """Returns rows of a table: each call with its first sentence."""
        page = page_of(self.file)
        for index, service in enumerate(self.file.service):
            for number, method in enumerate(service.method):
                first = re.split(r"(?<=\.)\s", " ".join(self.comment(SERVICE, index, MEMBER, number)))[0]
                yield f"| {service.name} | [{method.name}]({page}#{method.name.lower()}) | {first} |\n"


def reference():
    """Returns the text of each page by its name."""
    files = load()
    pages = {kind.name: page_of(file) for file in files for kind in [*file.service, *file.message_type, *file.enum_type]}
    formatted = [Page(file, pages) for file in files]
    rows = "".join(row for page in formatted for row in page.index())
    index = f"# API reference\n\n{NOTE}{INTRO}| Service | Call | What it does |\n|---|---|---|\n{rows}"
    return {"README.md": index} | {page_of(page.file): page.text() for page in formatted}


def main(arguments):
    texts = reference()
    if "--check" in arguments:
        present = {path.name: path.read_text() for path in PAGES.glob("*.md")}
        stale = sorted(name for name in {*texts, *present} if texts.get(name) != present.get(name))
        if stale:
            print(f"docs/api differs from the contract: {', '.join(stale)}. Run tools/api.py, and commit docs/api.")
        return 1 if stale else 0
    PAGES.mkdir(exist_ok=True)
    for name, text in texts.items():
        (PAGES / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
