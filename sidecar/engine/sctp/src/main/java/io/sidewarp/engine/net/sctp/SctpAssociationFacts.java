// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.verbs.AssociationPath;
import java.util.List;

/**
 * State of an association.
 *
 * @param paths one for each address of the peer, the primary one first
 * @param peerWindow bytes that the peer can receive
 * @param inboundStreams number of streams that the peer may use
 * @param outboundStreams number of streams that this side may use
 * @param unacknowledgedChunks chunks that were sent and are not known to have arrived
 * @param pendingChunks chunks that were given to SCTP and are not sent yet
 */
public record SctpAssociationFacts(
        List<AssociationPath> paths,
        long peerWindow,
        int inboundStreams,
        int outboundStreams,
        long unacknowledgedChunks,
        long pendingChunks) {

    /** Facts of an association that has ended. */
    public static final SctpAssociationFacts NONE = new SctpAssociationFacts(List.of(), 0, 0, 0, 0, 0);
}
