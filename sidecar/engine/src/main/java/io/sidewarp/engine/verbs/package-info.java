// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * What an application sees, in the vocabulary of verbs: a {@link io.sidewarp.engine.verbs.Device} with protection
 * domains, memory regions, queue pairs and completion queues; work requests that are posted, and completions that are
 * polled. The states of a connection are those of {@link io.sidewarp.engine.verbs.QueuePairState}. Interfaces and
 * values only: a {@link io.sidewarp.engine.verbs.Device} comes from a provider.
 */
@NullMarked
package io.sidewarp.engine.verbs;

import org.jspecify.annotations.NullMarked;
