// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.https;

import java.time.Duration;

/**
 * Limits of an HTTPS server.
 *
 * @param connections largest number of connections; a further one replaces the one that has been waited for longest
 * @param pendingOctets largest number of bytes of requests in progress and unread answers, over all connections
 * @param body largest number of bytes of one body
 * @param requestTimeout time for a request to arrive, and for its answer to be read
 * @param idleTimeout time that a connection may be without a request; zero ends each connection after its answer
 * @param shutdownDelay time that the server still serves after its end has begun
 */
public record Limits(
        int connections,
        long pendingOctets,
        int body,
        Duration requestTimeout,
        Duration idleTimeout,
        Duration shutdownDelay) {}
