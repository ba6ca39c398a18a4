// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.util.OptionalInt;

/**
 * What a peer said of RDMA Reads in start-up (RFC 6581 section 9.1).
 *
 * @param ird reads of ours that it serves at a time; empty if it did not say
 * @param ord reads that it wants us to serve at a time; empty if it did not say
 */
public record ReadDepths(OptionalInt ird, OptionalInt ord) {

    /** Of a peer that said nothing. */
    public static final ReadDepths UNKNOWN = new ReadDepths(OptionalInt.empty(), OptionalInt.empty());
}
