// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Interfaces and values that an application sees, in the vocabulary of verbs. A {@link io.sidewarp.engine.verbs.Device}
 * has protection domains, memory regions, queue pairs and completion queues. Work requests are posted, and completions
 * are polled. {@link io.sidewarp.engine.verbs.QueuePairState} lists the states of a connection. A
 * {@link io.sidewarp.engine.verbs.Device} comes from a provider.
 */
@NullMarked
package io.sidewarp.engine.verbs;

import org.jspecify.annotations.NullMarked;
