// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Event loops and sockets. They move bytes between TCP connections and the state machines of the lower layer. This
 * package knows nothing of DDP and the layers above.
 */
@NullMarked
package io.sidewarp.engine.net;

import org.jspecify.annotations.NullMarked;
