// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** The bench command: measures Sidewarp beside other programs that move data, in one run on one machine. */
@NullMarked
package io.sidewarp.bench;

import org.jspecify.annotations.NullMarked;
