// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp;

import io.sidewarp.engine.memory.WireBuffer;

/**
 * What DDP asks of a lower layer protocol (RFC 5041 section 3): a reliable stream of ULPDUs whose boundaries and
 * lengths are kept. One instance serves one DDP stream: all of a TCP connection, or one stream of an SCTP association.
 *
 * <p>Output is pulled, never pushed. When the transport can take more, the lower layer calls
 * {@link UpperLayer#produce()}; during that call, and only then, DDP claims room for a ULPDU, writes it in place and
 * commits it. So nothing waits in a queue between the work request and the transport, and back-pressure needs no
 * further mechanism. All methods belong to the event loop that owns the connection; nothing here is thread-safe.
 */
public interface LowerLayer {

    /**
     * Bytes of the largest ULPDU that is taken now, 128 to 64768 on MPA (RFC 5044 sections 3 and 4.5), at least 516 on
     * SCTP (RFC 5043 section 9). It may change between two calls of {@link UpperLayer#produce()}.
     */
    int mulpdu();

    /** Version that DDP writes into DV and RDMAP into RV: 1, or 0 after start-up with an RDMAC peer (RFC 5044 C.1). */
    int protocolVersion();

    /**
     * Claims room for one ULPDU. Legal only during {@link UpperLayer#produce()}.
     *
     * <p>A claim that is not committed is void: the next claim takes its place.
     *
     * @param ulpduLength bytes of the ULPDU, at most {@link #mulpdu()}
     * @return false when the transport takes no more at present; then nothing was claimed
     */
    boolean claim(int ulpduLength);

    /** Buffer that holds the claimed ULPDU. */
    WireBuffer buffer();

    /** Offset of the claimed ULPDU's first byte in {@link #buffer()}. */
    int offset();

    /** Hands the claimed ULPDU, now complete, to the lower layer. */
    void commit();

    /** Position behind the ULPDU committed last. Grows with every commit; the unit is the lower layer's own. */
    long committedPosition();

    /**
     * Everything committed up to this position was taken over by the transport's reliable transfer (the condition for
     * completion at the source, RFC 5041 section 5.4).
     */
    long transferredPosition();

    /**
     * False while the rules of the lower layer forbid any output, so that a Terminate cannot be sent: an MPA responder
     * before its first valid FPDU (RFC 5044 section 7.1.2 rule 4), or an output direction that was closed.
     */
    boolean outputPermitted();

    /** Asks for a call of {@link UpperLayer#produce()} as soon as the transport can take bytes. Cheap to repeat. */
    void requestOutput();

    /** Ends the outbound direction gracefully, behind everything committed. Reception goes on (RFC 5041 6.2.1). */
    void closeOutput();

    /** Ends the stream gracefully in both directions, behind everything committed. What still arrives is discarded. */
    void close();

    /** Ends the stream at once, and the connection where it cannot live without the stream. */
    void abort();

    /**
     * Whether the peer can tell an {@link #abort} from a graceful end. It cannot where the stream is one of several: SCTP
     * can reset an association only, and a session ends with the same message either way (RFC 5043 section 6.2).
     */
    boolean abortReachesPeer();
}
