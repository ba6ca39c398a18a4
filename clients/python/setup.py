# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Generates the stubs before a build. A source distribution holds the stubs, and has no .proto files."""

import pathlib
import subprocess

import setuptools

here = pathlib.Path(__file__).resolve().parent
if (here / "../../proto/src/main/proto").is_dir():
    subprocess.run([here / "generate"], check=True)
setuptools.setup()
