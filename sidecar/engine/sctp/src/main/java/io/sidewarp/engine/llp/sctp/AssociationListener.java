// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

/**
 * Receives events of an association for the owner of the association. All calls come on the association's event loop.
 */
public interface AssociationListener {

    /** Reports that the association is up and the peer supports DDP. Sessions can begin. */
    void onEstablished();

    /**
     * Reports that the peer asks for a session. Answer now or later with {@link DdpStreamSession#accept} or
     * {@link DdpStreamSession#reject}. Set the listener with {@link DdpStreamSession#listen} before this method
     * returns.
     *
     * @param asked Private Data and depths of the peer's request
     * @return false if the Consumer accepts no more requests now; the peer then gets a Terminate (RFC 5043 section 6.4)
     */
    boolean onInitiate(DdpStreamSession session, SessionStartup asked);

    /** Reports that the last session has ended. The owner must end an idle association (RFC 5041 section 3 item 10). */
    void onIdle();

    /** Reports that the association has ended. Listeners of all sessions were notified before. No call follows. */
    void onClosed(boolean graceful, String cause);
}
