// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.util.OptionalInt;

/**
 * IRD and ORD that a peer stated in start-up (RFC 6581 section 9.1).
 *
 * @param ird RDMA Reads of this side that the peer serves at a time; empty if the peer did not state a number
 * @param ord RDMA Reads that the peer wants this side to serve at a time; empty if the peer did not state a number
 */
public record ReadDepths(OptionalInt ird, OptionalInt ord) {

    /** Depths of a peer that stated none. */
    public static final ReadDepths UNKNOWN = new ReadDepths(OptionalInt.empty(), OptionalInt.empty());
}
