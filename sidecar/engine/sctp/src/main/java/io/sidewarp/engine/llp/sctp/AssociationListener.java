// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

/** Events of an association, for the owner of associations. All calls come on the association's event loop. */
public interface AssociationListener {

    /** Reports that the peer supports DDP too, and that sessions can begin. */
    void onEstablished();

    /**
     * Reports that the peer asks for a session. Answer now or later with {@link DdpStreamSession#accept} or
     * {@link DdpStreamSession#reject}. Set the listener with {@link DdpStreamSession#listen} before this method
     * returns.
     *
     * @return false when the Consumer takes no more requests at present; the peer then gets a Terminate (RFC 5043
     *     section 6.4)
     */
    boolean onInitiate(DdpStreamSession session, SessionStartup asked);

    /** Reports that the last session is over, so the association carries nothing (RFC 5041 section 3 item 10). */
    void onIdle();

    /** Reports that the association is gone and that every session has been told. No call follows. */
    void onClosed(boolean graceful, String cause);
}
