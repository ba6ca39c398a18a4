// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** The parts of the benchmark: which measurements each makes, and in which order. */
@NullMarked
package io.sidewarp.bench.part;

import org.jspecify.annotations.NullMarked;
