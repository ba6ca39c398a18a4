// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

/** How the two sides tell each other how many RDMA Reads they serve (IRD) and want (ORD). */
public enum DepthNegotiation {
    /** In the enhanced data of revision 2, and not at all with other revisions (RFC 6581 section 9.1). */
    ENHANCED,
    /**
     * As {@link #ENHANCED}, and with other revisions in the first 8 bytes of the Private Data, as Windows does for SMB
     * Direct: IRD and ORD, 32 bits each, big-endian.
     */
    PRIVATE_DATA,
    /**
     * Not at all: the applications see to it. Revision 2 says so with 0x3FFF. A Responder's ORD does not exceed the IRD of
     * the Request all the same (RFC 6581 section 9.1).
     */
    NONE
}
