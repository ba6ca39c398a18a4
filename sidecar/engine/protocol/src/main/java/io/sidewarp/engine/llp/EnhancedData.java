// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp;

import io.sidewarp.engine.verbs.RtrKind;
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
 * @param peerToPeer A flag: the peer-to-peer model, in which the Initiator's first message is a ready-to-receive
 *     indication
 * @param rtrSend B flag: the indication may be a zero-length Send
 * @param rtrWrite C flag: the indication may be a zero-length RDMA Write
 * @param rtrRead D flag: the indication may be a zero-length RDMA Read
 * @param ird inbound RDMA Read queue depth, 0 to 0x3FFF
 * @param ord outbound RDMA Read queue depth, 0 to 0x3FFF
 */
public record EnhancedData(boolean peerToPeer, boolean rtrSend, boolean rtrWrite, boolean rtrRead, int ird, int ord) {

    /** Length in bytes. */
    public static final int LENGTH = 4;
    /** Value of IRD or ORD that leaves the negotiation to the ULPs (section 9.1). */
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

    /** Creates the data for the client-server model, which has no ready-to-receive indication. */
    public static EnhancedData clientServer(int ird, int ord) {
        return new EnhancedData(false, false, false, false, ird, ord);
    }

    /** Creates the data for the peer-to-peer model with these kinds of indication. */
    public static EnhancedData peerToPeer(List<RtrKind> rtr, int ird, int ord) {
        return new EnhancedData(
                true, rtr.contains(RtrKind.SEND), rtr.contains(RtrKind.WRITE), rtr.contains(RtrKind.READ), ird, ord);
    }

    /** Decodes the word of a frame. Without flag A, the flags B, C and D are ignored (section 9.2). */
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

    /** Encodes the word of a frame. */
    public int encode() {
        return (peerToPeer ? A_FLAG : 0)
                | (rtrSend ? B_FLAG : 0)
                | (rtrWrite ? C_FLAG : 0)
                | (rtrRead ? D_FLAG : 0)
                | ird << IRD_SHIFT
                | ord;
    }

    /** Returns whether the data offers this kind of indication or asks for it. */
    public boolean offers(RtrKind kind) {
        return switch (kind) {
            case SEND -> rtrSend;
            case WRITE -> rtrWrite;
            case READ -> rtrRead;
        };
    }
}
