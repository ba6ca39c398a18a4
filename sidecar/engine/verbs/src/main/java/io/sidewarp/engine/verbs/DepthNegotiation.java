// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/** Ways to negotiate the RDMA Reads that a side serves (IRD) and wants (ORD). */
public enum DepthNegotiation {
    /** Revision 2 carries the depths in the enhanced data. Other revisions do not negotiate (RFC 6581 section 9.1). */
    ENHANCED,
    /**
     * Revision 2 works as with {@link #ENHANCED}. Other revisions carry the depths in the first 8 bytes of the Private
     * Data, as Windows does for SMB Direct: IRD and ORD, 32 bits each, big-endian.
     */
    PRIVATE_DATA,
    /**
     * The depths are left to the applications. Revision 2 states this with 0x3FFF. A Responder's ORD still does not
     * exceed the IRD of the Request (RFC 6581 section 9.1).
     */
    NONE
}
