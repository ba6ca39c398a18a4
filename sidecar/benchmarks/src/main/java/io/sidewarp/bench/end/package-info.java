// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The two ends of a measurement. Each end is a process of its own. It reads commands from standard input, one JSON
 * object a line, and answers each by one line on standard output.
 */
@NullMarked
package io.sidewarp.bench.end;

import org.jspecify.annotations.NullMarked;
