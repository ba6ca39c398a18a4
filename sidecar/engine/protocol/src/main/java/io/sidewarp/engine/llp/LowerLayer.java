// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp;

import io.sidewarp.engine.memory.WireBuffer;

/**
 * Services that DDP needs from a lower layer protocol (RFC 5041 section 3). The lower layer is a reliable stream of
 * ULPDUs that keeps their boundaries and lengths. One instance serves one DDP stream: all of a TCP connection, or one
 * stream of an SCTP association.
 *
 * <p>Output is pulled, never pushed. When the transport can take more, the lower layer calls
 * {@link UpperLayer#produce()}. Only during that call, DDP claims room for a ULPDU, writes the ULPDU in place and
 * commits it. Nothing therefore waits in a queue between the work request and the transport, and back-pressure needs no
 * other mechanism. All methods belong to the event loop that owns the connection. Nothing here is thread-safe.
 */
public interface LowerLayer {

    /**
     * Current size in bytes of the largest ULPDU. On MPA the size is 128 to 64768 bytes (RFC 5044 sections 3 and 4.5).
     * On SCTP the size is at least 516 bytes (RFC 5043 section 9). The size may change between two calls of
     * {@link UpperLayer#produce()}.
     */
    int mulpdu();

    /** Version for the fields DV of DDP and RV of RDMAP: 1, or 0 after start-up with an RDMAC peer (RFC 5044 C.1). */
    int protocolVersion();

    /**
     * Claims room for one ULPDU. Legal only during {@link UpperLayer#produce()}.
     *
     * <p>A claim without a commit has no effect: the next claim replaces it.
     *
     * @param ulpduLength bytes of the ULPDU, at most {@link #mulpdu()}
     * @return false when the transport takes no more at present; nothing is claimed then
     */
    boolean claim(int ulpduLength);

    /** Returns the buffer that holds the claimed ULPDU. */
    WireBuffer buffer();

    /** Offset in {@link #buffer()} of the first byte of the claimed ULPDU. */
    int offset();

    /** Hands the claimed and complete ULPDU to the lower layer. */
    void commit();

    /** Position after the last committed ULPDU. Grows with every commit, in a unit of the lower layer's own. */
    long committedPosition();

    /**
     * Position up to which the reliable transfer of the transport took over all committed ULPDUs. This is the condition
     * for completion at the source (RFC 5041 section 5.4).
     */
    long transferredPosition();

    /**
     * Returns false while the rules of the lower layer forbid all output, even a Terminate. An MPA responder may not
     * send before its first valid FPDU (RFC 5044 section 7.1.2 rule 4). A closed output direction forbids output as
     * well.
     */
    boolean outputPermitted();

    /** Asks for a call of {@link UpperLayer#produce()} as soon as the transport can take bytes. Cheap to repeat. */
    void requestOutput();

    /**
     * Ends the outbound direction gracefully, after all committed ULPDUs. Reception continues (RFC 5041 section 6.2.1).
     */
    void closeOutput();

    /** Ends the stream gracefully in both directions, after all committed ULPDUs. Later input is discarded. */
    void close();

    /** Ends the stream at once, and also the connection where the connection cannot exist without the stream. */
    void abort();

    /**
     * Returns whether the peer can distinguish an {@link #abort} from a graceful end. The peer cannot where the stream
     * is one of several. SCTP can only reset a whole association, and a session ends with the same message either way
     * (RFC 5043 section 6.2).
     */
    boolean abortReachesPeer();
}
