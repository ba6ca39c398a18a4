// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.llp.UpperLayer;
import io.sidewarp.engine.verbs.LlpError;

/**
 * Events of start-up that MPA reports to the Consumer (RFC 5044 section 7.1). All calls come on the event loop that
 * owns the connection. Unless this side rejects, MPA calls exactly one of {@link #onEstablished}, {@link #onRejected},
 * {@link #onUnenhancedPeer} and {@link #onStartupFailed}.
 */
public interface MpaStartupListener {

    /**
     * Reports a valid Request, on the Responder only. Answer now or later with {@link MpaConnection#accept} or
     * {@link MpaConnection#reject}. The values {@code crc}, {@code sendMarkers} and {@code receiveMarkers} are those
     * that the current options would lead to.
     */
    default void onRequest(MpaStartup request) {
        throw new IllegalStateException("an Initiator gets no Request");
    }

    /**
     * Reports the begin of Full Operation. The Initiator received a Reply that accepts, or the Responder's Reply was
     * sent. An {@link UpperLayer} must be attached when this method returns. A Consumer that
     * refuses the Private Data may close the connection here instead.
     *
     * @param agreed values that both sides declared. The Private Data comes from the Reply on the Initiator, and from
     *     the Request on the Responder. With an error the Initiator may send only the Terminate for the error
     */
    void onEstablished(MpaStartup agreed);

    /**
     * Reports that the peer's Consumer rejected, on the Initiator only. MPA closes the TCP connection, or leaves it
     * open for other use ({@link MpaOptions#closeOnReject}).
     *
     * @param reply Private Data of the peer, and the depths that the peer would need if it sent them
     */
    default void onRejected(MpaStartup reply) {
        throw new IllegalStateException("a Responder gets no Reply");
    }

    /**
     * Reports a peer that does not know the enhanced start-up of this side's Request, on the Initiator only. Revision 1
     * is permitted then. The peer closed TCP without an answer, or sent an unenhanced answer. MPA closes the TCP
     * connection. The Consumer may connect again and ask with revision 1 (RFC 6581 section 10).
     *
     * @param message description of the event for people
     */
    default void onUnenhancedPeer(String message) {
        throw new IllegalStateException("a Responder asks for nothing");
    }

    /**
     * Reports that start-up failed. Either a frame was invalid ({@link LlpError#INVALID_STARTUP_FRAME}), or the TCP
     * connection ended or timed out ({@link LlpError#CONNECTION_LOST}). MPA closes the TCP connection.
     *
     * @param message description of the event for people
     */
    void onStartupFailed(LlpError reason, String message);
}
