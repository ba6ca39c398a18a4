// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** One cache line between two processors, the limit of everything that two processes tell each other. */
@NullMarked
package io.sidewarp.bench.end.line;

import org.jspecify.annotations.NullMarked;
