// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

/**
 * The RDMAP Control Field, in the first ULP-reserved byte of the DDP header (RFC 5040 section 4.1). Also holds the
 * rules for each opcode.
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
    /** First opcode of RFC 7306. All higher opcodes belong to RFC 7306 as well. */
    public static final int IMMEDIATE = 0x8;

    public static final int IMMEDIATE_WITH_SE = 0x9;
    public static final int ATOMIC_REQUEST = 0xA;
    public static final int ATOMIC_RESPONSE = 0xB;

    /** Queue number of the four Send types and of Immediate Data. */
    public static final int SEND_QUEUE = 0;
    /** Queue number of RDMA Read Requests and Atomic Requests. */
    public static final int REQUEST_QUEUE = 1;
    /** Queue number of the Terminate. */
    public static final int TERMINATE_QUEUE = 2;
    /** Queue number of Atomic Responses. */
    public static final int ATOMIC_RESPONSE_QUEUE = 3;
    /** Number of queues. Queue numbers 0 to 3 exist. */
    public static final int QUEUES = 4;
    /** Number of queues without RFC 7306. Queue numbers 0 to 2 exist. */
    public static final int QUEUES_WITHOUT_EXTENSIONS = 3;

    private RdmapControl() {}

    /** Returns the control byte with reserved bits zero. */
    public static int of(int version, int opcode) {
        return version << VERSION_SHIFT | opcode;
    }

    /** RV field: version of RDMAP. */
    public static int version(int control) {
        return control >>> VERSION_SHIFT;
    }

    public static int opcode(int control) {
        return control & OPCODE_MASK;
    }

    /** True for the opcodes of tagged messages. */
    public static boolean isTagged(int opcode) {
        return opcode == RDMA_WRITE || opcode == RDMA_READ_RESPONSE;
    }

    /**
     * True for the opcodes of RFC 5040 and of RFC 7306.
     *
     * @param extensions whether RFC 7306 is in use
     */
    public static boolean isDefined(int opcode, boolean extensions) {
        return opcode <= (extensions ? ATOMIC_RESPONSE : TERMINATE);
    }

    /** Returns the queue number of an untagged opcode. */
    public static int queueOf(int opcode) {
        return switch (opcode) {
            case RDMA_READ_REQUEST, ATOMIC_REQUEST -> REQUEST_QUEUE;
            case TERMINATE -> TERMINATE_QUEUE;
            case ATOMIC_RESPONSE -> ATOMIC_RESPONSE_QUEUE;
            default -> SEND_QUEUE;
        };
    }

    /** True for the two Send types with Invalidate. */
    public static boolean invalidates(int opcode) {
        return opcode == SEND_WITH_INVALIDATE || opcode == SEND_WITH_SE_AND_INVALIDATE;
    }

    /** True for the two Send types and the Immediate Data with Solicited Event. */
    public static boolean isSolicited(int opcode) {
        return opcode == SEND_WITH_SE || opcode == SEND_WITH_SE_AND_INVALIDATE || opcode == IMMEDIATE_WITH_SE;
    }

    /** True for the two types of Immediate Data. */
    public static boolean isImmediate(int opcode) {
        return opcode == IMMEDIATE || opcode == IMMEDIATE_WITH_SE;
    }

    /** True for the requests that the peer answers. */
    public static boolean isRequest(int opcode) {
        return opcode == RDMA_READ_REQUEST || opcode == ATOMIC_REQUEST;
    }

    /** Returns the Send type with these properties. */
    public static int sendOpcode(boolean solicited, boolean invalidate) {
        if (invalidate) {
            return solicited ? SEND_WITH_SE_AND_INVALIDATE : SEND_WITH_INVALIDATE;
        }
        return solicited ? SEND_WITH_SE : SEND;
    }

    /** Returns the type of Immediate Data with this property. */
    public static int immediateOpcode(boolean solicited) {
        return solicited ? IMMEDIATE_WITH_SE : IMMEDIATE;
    }
}
