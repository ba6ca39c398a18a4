// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Copies in memory, the limit of everything that moves bytes. */
@NullMarked
package io.sidewarp.bench.end.copy;

import org.jspecify.annotations.NullMarked;
