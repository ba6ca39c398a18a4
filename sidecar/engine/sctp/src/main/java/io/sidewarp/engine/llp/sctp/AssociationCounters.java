// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

/** Counters of an association: its chunks, and the faults of the peer. Only the event loop uses them. */
public final class AssociationCounters {

    long chunksSent;
    long chunksReceived;
    long earlyChunks;
    long violations;
    long refusedInitiates;

    AssociationCounters() {}

    /** Chunks given to SCTP. */
    public long chunksSent() {
        return chunksSent;
    }

    /** Chunks that SCTP delivered. */
    public long chunksReceived() {
        return chunksReceived;
    }

    /** Chunks that had to wait for an earlier chunk. */
    public long earlyChunks() {
        return earlyChunks;
    }

    /** Sessions that ended because the peer sent messages outside every legal sequence (RFC 5043 section 6.1). */
    public long violations() {
        return violations;
    }

    /** Initiates that were answered with a Terminate because too many waited for the Consumer (section 6.4). */
    public long refusedInitiates() {
        return refusedInitiates;
    }
}
