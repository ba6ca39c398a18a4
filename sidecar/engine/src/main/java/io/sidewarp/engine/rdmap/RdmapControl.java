// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

/**
 * The RDMAP Control Field, which travels in the first ULP-reserved octet of the DDP header (RFC 5040 section 4.1), and
 * the rules that go with each opcode.
 *
 * <pre>
 *    0 1 2 3 4 5 6 7
 *   +-+-+-+-+-+-+-+-+
 *   |RV |Rsv| Opcode|
 *   +-+-+-+-+-+-+-+-+
 * </pre>
 */
public final class RdmapControl {

    public static final int VERSION_SHIFT = 6;
    public static final int OPCODE_MASK = 0x0F;

    public static final int RDMA_WRITE = 0x0;
    public static final int RDMA_READ_REQUEST = 0x1;
    public static final int RDMA_READ_RESPONSE = 0x2;
    public static final int SEND = 0x3;
    public static final int SEND_WITH_INVALIDATE = 0x4;
    public static final int SEND_WITH_SE = 0x5;
    public static final int SEND_WITH_SE_AND_INVALIDATE = 0x6;
    public static final int TERMINATE = 0x7;

    /** Queue number of the four Send types. */
    public static final int SEND_QUEUE = 0;
    /** Queue number of RDMA Read Requests. */
    public static final int READ_REQUEST_QUEUE = 1;
    /** Queue number of the Terminate. */
    public static final int TERMINATE_QUEUE = 2;
    /** Queue numbers 0 to 2 exist. */
    public static final int QUEUES = 3;

    private RdmapControl() {}

    /** Control octet with the reserved bits zero. */
    public static int of(int version, int opcode) {
        return version << VERSION_SHIFT | opcode;
    }

    /** RV. */
    public static int version(int control) {
        return control >>> VERSION_SHIFT;
    }

    public static int opcode(int control) {
        return control & OPCODE_MASK;
    }

    /** True for the opcodes that travel in tagged messages. */
    public static boolean isTagged(int opcode) {
        return opcode == RDMA_WRITE || opcode == RDMA_READ_RESPONSE;
    }

    /** True for the opcodes of RFC 5040. */
    public static boolean isDefined(int opcode) {
        return opcode <= TERMINATE;
    }

    /** Queue number of an untagged opcode. */
    public static int queueOf(int opcode) {
        return switch (opcode) {
            case RDMA_READ_REQUEST -> READ_REQUEST_QUEUE;
            case TERMINATE -> TERMINATE_QUEUE;
            default -> SEND_QUEUE;
        };
    }

    /** True for the two Send types with Invalidate. */
    public static boolean invalidates(int opcode) {
        return opcode == SEND_WITH_INVALIDATE || opcode == SEND_WITH_SE_AND_INVALIDATE;
    }

    /** True for the two Send types with Solicited Event. */
    public static boolean isSolicited(int opcode) {
        return opcode == SEND_WITH_SE || opcode == SEND_WITH_SE_AND_INVALIDATE;
    }

    /** The Send type with these properties. */
    public static int sendOpcode(boolean solicited, boolean invalidate) {
        if (invalidate) {
            return solicited ? SEND_WITH_SE_AND_INVALIDATE : SEND_WITH_INVALIDATE;
        }
        return solicited ? SEND_WITH_SE : SEND;
    }
}
