// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.memory.WireBuffer;

/**
 * What MPA asks of the TCP connection below it; the I/O layer implements it. All calls come on the event loop that owns
 * the connection.
 *
 * <p>MPA may call {@link #requestOutput}, {@link #shutdownOutput}, {@link #close} and {@link #abort} from within
 * {@link MpaConnection#produce}. "Output given so far" then includes what that very call is about to return.
 */
public interface MpaTransport {

    /** Asks for a call of {@link MpaConnection#produce} as soon as TCP can take bytes. Cheap to repeat. */
    void requestOutput();

    /**
     * Sends a FIN behind all output given so far. Input goes on. The connection has ended when the peer's FIN was
     * passed to {@link MpaConnection#receiveEnd} too, in either order.
     */
    void shutdownOutput();

    /**
     * Closes gracefully: a FIN behind all output given so far, then wait for the peer's, in bounded time. What still
     * arrives may be passed to {@link MpaConnection#receive}, which discards it, or dropped. May be repeated.
     */
    void close();

    /** Closes at once with an RST. Output not yet on the wire is lost. */
    void abort();

    /** Effective maximum segment size of the connection at present, in bytes (RFC 5044 section 4.5). */
    int emss();

    /** A buffer of at least the given bytes in which an FPDU that came in pieces is put together. */
    WireBuffer acquireReassembly(int capacity);

    /**
     * Exchanges such a buffer for a larger one of at least the given bytes.
     *
     * @param held bytes at its begin that are copied
     */
    default WireBuffer growReassembly(WireBuffer buffer, int held, int capacity) {
        WireBuffer larger = acquireReassembly(capacity);
        larger.putBytes(0, buffer, 0, held);
        releaseReassembly(buffer);
        return larger;
    }

    /** Takes back a buffer got from one of these. */
    void releaseReassembly(WireBuffer buffer);
}
