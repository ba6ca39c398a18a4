// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import java.util.List;

/**
 * How an association does.
 *
 * @param paths one for each address of the peer, the primary one first
 * @param peerWindow octets that the peer can receive
 * @param inboundStreams that the peer may use
 * @param outboundStreams that this side may use
 * @param unacknowledgedChunks sent, and not known to have arrived
 * @param pendingChunks given to SCTP and not sent yet
 */
public record SctpAssociationFacts(
        List<SctpPathFacts> paths,
        long peerWindow,
        int inboundStreams,
        int outboundStreams,
        long unacknowledgedChunks,
        long pendingChunks) {

    /** Of an association that has ended. */
    public static final SctpAssociationFacts NONE = new SctpAssociationFacts(List.of(), 0, 0, 0, 0, 0);
}
