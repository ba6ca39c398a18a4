// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Event loops and sockets: moves octets between TCP connections and the state machines of the lower layer. Knows nothing
 * of DDP and what is above.
 */
@NullMarked
package io.sidewarp.engine.net;

import org.jspecify.annotations.NullMarked;
