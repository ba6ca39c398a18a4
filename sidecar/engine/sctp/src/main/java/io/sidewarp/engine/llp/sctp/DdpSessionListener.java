// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import io.sidewarp.engine.llp.UpperLayer;

/**
 * Events of a DDP stream session's start that are reported to the Consumer (RFC 5043 section 6). All calls come on the
 * event loop that owns the association. Unless this side rejects or withdraws, exactly one of these methods is called.
 */
public interface DdpSessionListener {

    /**
     * Reports that the session is open. The active side received an Accept, or the passive side gave its Accept to
     * SCTP. An {@link UpperLayer} must be attached when this method returns.
     *
     * @param agreed agreed values. The Private Data comes from the Accept on the active side, and from the Initiate on
     *     the passive side. With an error the active side may send only the RDMAP Terminate for the error
     */
    void onEstablished(SessionStartup agreed);

    /**
     * Reports that the peer's Consumer rejected, on the active side only.
     *
     * @param reply Private Data of the peer, and the depths that the peer would need if it sent them
     */
    void onRejected(SessionStartup reply);

    /**
     * Reports that the session did not open. The peer's adaptation layer refused, the peer withdrew or broke the rules,
     * or the association ended.
     *
     * @param refused whether the peer answered with a Terminate. Too many requests wait there, or the peer does not
     *     know the enhanced messages
     * @param message description of the event for people
     */
    void onFailed(boolean refused, String message);
}
