// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

/**
 * What a DDP stream session tells the Consumer about its start (RFC 5043 section 6). All calls come on the event loop
 * that owns the association. Unless this side rejects or gives up, exactly one of them is called.
 */
public interface SessionListener {

    /**
     * The session is open: the active side got an Accept, or the passive side's Accept was given to SCTP. An
     * {@link io.sidewarp.engine.llp.UpperLayer} has to be attached when this returns.
     *
     * @param agreed its Private Data is the Accept's on the active side, the Initiate's on the passive one. With an error
     *     the active side may send nothing but the RDMAP Terminate for it
     */
    void onEstablished(SessionStartup agreed);

    /**
     * Active side only: the peer's Consumer rejected.
     *
     * @param reply its Private Data, and the depths that the peer would have needed if it told them
     */
    void onRejected(SessionStartup reply);

    /**
     * The session did not come about: the peer's adaptation layer refused it, the peer withdrew, broke the rules, or the
     * association went.
     *
     * @param refused whether the peer answered with a Terminate: too many requests wait there, or it does not know the
     *     enhanced messages
     * @param message what happened, for people
     */
    void onFailed(boolean refused, String message);
}
