// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import io.sidewarp.engine.llp.mpa.MpaPolicy;
import java.time.Duration;

/**
 * How to listen.
 *
 * @param mpa which peers get as far as a connection request, on TCP. Its other parts count for rejections only: a
 *     connection gets what it is accepted with
 * @param backlog connection requests that may wait for an answer; further ones are rejected
 * @param startupConnections connections that may be in start-up (before a complete request), or may have come to nothing and not
 *     be closed yet; further ones are closed. For TCP
 * @param startupTimeout time from the TCP connection to the complete request (RFC 5044 section 7.1.2 rule 10), and from the
 *     request to its answer
 */
public record ListenAttributes(Llp llp, MpaPolicy mpa, int backlog, int startupConnections, Duration startupTimeout) {}
