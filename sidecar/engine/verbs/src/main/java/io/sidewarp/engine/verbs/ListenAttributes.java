// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.time.Duration;

/**
 * Attributes of a listener.
 *
 * @param mpa policy that decides which peers get as far as a connection request, on TCP. Its other parts apply to
 *     rejections only: a connection uses the policy that it is accepted with
 * @param backlog connection requests that may wait for an answer; further requests are rejected
 * @param startupConnections TCP connections that may be in start-up, before a complete request. Failed connections that
 *     are not closed yet count as well. Further connections are closed
 * @param startupTimeout maximum time from the TCP connection to the complete request (RFC 5044 section 7.1.2 rule 10),
 *     and from the request to its answer
 * @param security policy about TLS and the identity of peers
 */
public record ListenAttributes(
        Llp llp, MpaPolicy mpa, int backlog, int startupConnections, Duration startupTimeout, SecurityPolicy security) {

    /** Creates the attributes of a listener without TLS. */
    public ListenAttributes(Llp llp, MpaPolicy mpa, int backlog, int startupConnections, Duration startupTimeout) {
        this(llp, mpa, backlog, startupConnections, startupTimeout, SecurityPolicy.PLAIN);
    }

    public ListenAttributes withSecurity(SecurityPolicy policy) {
        return new ListenAttributes(llp, mpa, backlog, startupConnections, startupTimeout, policy);
    }
}
