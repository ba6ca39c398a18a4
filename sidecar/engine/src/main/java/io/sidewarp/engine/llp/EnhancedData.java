// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp;

import java.util.List;

/**
 * Enhanced RDMA connection establishment data: the first 4 bytes of the Private Data of a frame with S=1 (RFC 6581
 * section 9).
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *  |A|B|            IRD            |C|D|            ORD            |
 *  +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * </pre>
 *
 * @param peerToPeer A: the peer-to-peer model, in which the Initiator's first message is a ready-to-receive indication
 * @param rtrSend B: a zero-length Send can be that message
 * @param rtrWrite C: a zero-length RDMA Write can be that message
 * @param rtrRead D: a zero-length RDMA Read can be that message
 * @param ird inbound RDMA Read queue depth, 0 to 0x3FFF
 * @param ord outbound RDMA Read queue depth, 0 to 0x3FFF
 */
public record EnhancedData(boolean peerToPeer, boolean rtrSend, boolean rtrWrite, boolean rtrRead, int ird, int ord) {

    /** Bytes of it. */
    public static final int LENGTH = 4;
    /** A value of IRD or ORD that leaves the negotiation to the ULPs (section 9.1). */
    public static final int NOT_NEGOTIATED = 0x3FFF;

    private static final int A_FLAG = 0x8000_0000;
    private static final int B_FLAG = 0x4000_0000;
    private static final int C_FLAG = 0x0000_8000;
    private static final int D_FLAG = 0x0000_4000;
    private static final int IRD_SHIFT = 16;
    private static final int DEPTH_MASK = 0x3FFF;

    public EnhancedData {
        if ((ird & ~DEPTH_MASK) != 0 || (ord & ~DEPTH_MASK) != 0) {
            throw new IllegalArgumentException("IRD " + ird + " and ORD " + ord + " have to be in 0.." + DEPTH_MASK);
        }
    }

    /** Client-server model: no ready-to-receive indication. */
    public static EnhancedData clientServer(int ird, int ord) {
        return new EnhancedData(false, false, false, false, ird, ord);
    }

    /** The peer-to-peer model with these kinds of indication. */
    public static EnhancedData peerToPeer(List<RtrKind> rtr, int ird, int ord) {
        return new EnhancedData(
                true, rtr.contains(RtrKind.SEND), rtr.contains(RtrKind.WRITE), rtr.contains(RtrKind.READ), ird, ord);
    }

    /** From the wire. Without A, the flags B, C and D are ignored (section 9.2). */
    public static EnhancedData decode(int word) {
        boolean a = (word & A_FLAG) != 0;
        return new EnhancedData(
                a,
                a && (word & B_FLAG) != 0,
                a && (word & C_FLAG) != 0,
                a && (word & D_FLAG) != 0,
                word >>> IRD_SHIFT & DEPTH_MASK,
                word & DEPTH_MASK);
    }

    /** For the wire. */
    public int encode() {
        return (peerToPeer ? A_FLAG : 0)
                | (rtrSend ? B_FLAG : 0)
                | (rtrWrite ? C_FLAG : 0)
                | (rtrRead ? D_FLAG : 0)
                | ird << IRD_SHIFT
                | ord;
    }

    /** Whether it offers, or asks for, this kind of indication. */
    public boolean offers(RtrKind kind) {
        return switch (kind) {
            case SEND -> rtrSend;
            case WRITE -> rtrWrite;
            case READ -> rtrRead;
        };
    }
}
