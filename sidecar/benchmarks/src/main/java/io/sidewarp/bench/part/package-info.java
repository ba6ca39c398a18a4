// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** The parts of the benchmark. Each part determines its programs and plans, and which of them take turns. */
@NullMarked
package io.sidewarp.bench.part;

import org.jspecify.annotations.NullMarked;
