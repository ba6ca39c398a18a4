// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/** Way in which both sides of a connection tell each other their IRD and ORD. */
public enum ReadDepthExchange {
    /** Uses the enhanced data of MPA revision 2. Other revisions do not negotiate (RFC 6581 section 9.1). */
    ENHANCED,
    /**
     * Works as {@link #ENHANCED} with revision 2. With other revisions, the first 8 bytes of the private data carry the
     * depths, as Windows does for SMB Direct.
     */
    PRIVATE_DATA,
    /**
     * Does not negotiate: the applications must choose matching depths. An accepting side still respects the depths
     * that a request announces.
     */
    NONE
}
