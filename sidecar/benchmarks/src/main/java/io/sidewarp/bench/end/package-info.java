// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The two ends of a measurement: each is a process of its own that takes commands, one JSON object a line, from
 * standard input and answers each by one line on standard output.
 */
@NullMarked
package io.sidewarp.bench.end;

import org.jspecify.annotations.NullMarked;
