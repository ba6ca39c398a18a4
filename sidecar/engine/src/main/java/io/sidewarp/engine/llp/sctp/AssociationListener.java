// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

/** What the adaptation tells whoever keeps associations. All calls come on the event loop that owns the association. */
public interface AssociationListener {

    /** The peer speaks DDP too, and sessions can begin. */
    void onEstablished();

    /**
     * The peer asks for a session. Answer now or later with {@link DdpStreamSession#accept} or
     * {@link DdpStreamSession#reject}; tell who listens with {@link DdpStreamSession#listen} before this returns.
     *
     * @return false when the Consumer can be asked no more at present; the peer then gets a Terminate (RFC 5043 section
     *     6.4)
     */
    boolean onInitiate(DdpStreamSession session, SessionStartup asked);

    /** The last session is over: the association has nothing to carry (RFC 5041 section 3 item 10). */
    void onIdle();

    /** The association is gone, and every session has been told. The last call. */
    void onClosed(boolean graceful, String cause);
}
