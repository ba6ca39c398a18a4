// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Processes of a measurement as the bench command sees them. The command starts, pins, asks and ends them. */
@NullMarked
package io.sidewarp.bench.process;

import org.jspecify.annotations.NullMarked;
