// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.time.Duration;

/**
 * How to listen.
 *
 * @param backlog connection requests that may wait for an answer; further ones are rejected
 * @param startupConnections connections that may be in start-up (before a complete request); further ones are closed
 * @param startupTimeout time from the TCP connection to the complete request (RFC 5044 section 7.1.2 rule 10)
 */
public record ListenAttributes(Llp llp, int backlog, int startupConnections, Duration startupTimeout) {}
