// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Applications of the engine as a library. An application has a device with one event loop, one completion queue, and a
 * {@link io.sidewarp.bench.end.engine.Duty} that polls the queue.
 */
@NullMarked
package io.sidewarp.bench.end.engine;

import org.jspecify.annotations.NullMarked;
