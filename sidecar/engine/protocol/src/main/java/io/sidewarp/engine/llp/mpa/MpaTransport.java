// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.memory.WireBuffer;

/**
 * Services that MPA needs from the TCP connection below. The I/O layer implements this interface. All calls come on the
 * event loop that owns the connection.
 *
 * <p>MPA may call {@link #requestOutput}, {@link #shutdownOutput}, {@link #close} and {@link #abort} from within
 * {@link MpaConnection#produce}. "Output given so far" then includes the bytes that the running call will return.
 */
public interface MpaTransport {

    /** Asks for a call of {@link MpaConnection#produce} as soon as TCP can take bytes. Cheap to repeat. */
    void requestOutput();

    /**
     * Sends a FIN after all output given so far. Input continues. The connection has ended when the peer's FIN was
     * passed to {@link MpaConnection#receiveEnd} as well, in either order.
     */
    void shutdownOutput();

    /**
     * Closes gracefully: sends a FIN after all output given so far, then waits for the peer's FIN, in bounded time.
     * Later input may be dropped, or passed to {@link MpaConnection#receive}, which discards it. The call may be
     * repeated.
     */
    void close();

    /** Closes at once with an RST. Output not yet on the wire is lost. */
    void abort();

    /** Current effective maximum segment size of the connection, in bytes (RFC 5044 section 4.5). */
    int emss();

    /** Returns a buffer of at least the given size in bytes, in which an FPDU that arrives in pieces is assembled. */
    WireBuffer acquireReassembly(int capacity);

    /**
     * Exchanges a reassembly buffer for a larger buffer of at least the given size in bytes.
     *
     * @param held bytes at the beginning of the buffer that are copied
     */
    default WireBuffer growReassembly(WireBuffer buffer, int held, int capacity) {
        WireBuffer larger = acquireReassembly(capacity);
        larger.putBytes(0, buffer, 0, held);
        releaseReassembly(buffer);
        return larger;
    }

    /** Takes back a reassembly buffer. */
    void releaseReassembly(WireBuffer buffer);
}
