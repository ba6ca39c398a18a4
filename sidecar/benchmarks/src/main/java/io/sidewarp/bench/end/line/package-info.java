// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** One cache line between two processors, the limit of all communication between two processes. */
@NullMarked
package io.sidewarp.bench.end.line;

import org.jspecify.annotations.NullMarked;
