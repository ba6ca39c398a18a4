// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.llp.LlpError;

/**
 * What MPA tells the Consumer about start-up (RFC 5044 section 7.1). All calls come on the event loop that owns the
 * connection. Unless this side rejects, exactly one of {@link #onEstablished}, {@link #onRejected},
 * {@link #onUnenhancedPeer} and {@link #onStartupFailed} is called.
 */
public interface MpaStartupListener {

    /**
     * Responder only: a valid Request arrived. Answer now or later with {@link MpaConnection#accept} or
     * {@link MpaConnection#reject}. The {@code crc}, {@code sendMarkers} and {@code receiveMarkers} given here are
     * what would be agreed with the options in force.
     */
    void onRequest(MpaStartup request);

    /**
     * Full Operation begins: the Initiator got a Reply that accepts, or the Responder's Reply went out. An
     * {@link io.sidewarp.engine.llp.UpperLayer} has to be attached when this returns, unless the Consumer closes the
     * connection here because it does not like the Private Data.
     *
     * @param agreed what both sides declared; the Private Data is the Reply's on the Initiator, the Request's on the
     *     Responder. With an error the Initiator may send nothing but the Terminate for it
     */
    void onEstablished(MpaStartup agreed);

    /**
     * Initiator only: the peer's Consumer rejected. MPA closes the TCP connection, or has left it open for other use
     * ({@link MpaOptions#closeOnReject}).
     *
     * @param reply its Private Data, and the depths that the peer would have needed if it told them
     */
    void onRejected(MpaStartup reply);

    /**
     * Initiator only: the peer does not know the enhanced start-up that this side asked for, and revision 1 is permitted.
     * It closed TCP without an answer, or answered unenhanced. MPA closes the TCP connection; the Consumer may connect
     * again and ask with revision 1 (RFC 6581 section 10).
     *
     * @param message what happened, for people
     */
    void onUnenhancedPeer(String message);

    /**
     * Start-up failed: an invalid frame ({@link LlpError#INVALID_STARTUP_FRAME}), or the TCP connection ended or timed
     * out ({@link LlpError#CONNECTION_LOST}). MPA closes the TCP connection.
     *
     * @param message what happened, for people
     */
    void onStartupFailed(LlpError reason, String message);
}
