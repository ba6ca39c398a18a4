// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

import io.sidewarp.engine.verbs.QueuePair;

/**
 * A connection of a plan.
 *
 * @param peer the memory at the other end
 */
record Link(QueuePair queuePair, PeerMemory peer) {}
