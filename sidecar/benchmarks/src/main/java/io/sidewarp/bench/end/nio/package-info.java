// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Bare TCP over socket channels of the JDK. A run is a connection, which ends when the active end shuts its output. */
@NullMarked
package io.sidewarp.bench.end.nio;

import org.jspecify.annotations.NullMarked;
