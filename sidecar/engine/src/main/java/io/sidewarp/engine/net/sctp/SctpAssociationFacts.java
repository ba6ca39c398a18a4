// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import java.time.Duration;

/**
 * How an association does.
 *
 * @param pathActive false when the primary path does not answer
 * @param smoothedRtt of the primary path
 * @param rto retransmission time-out of the primary path
 * @param congestionWindow of the primary path, octets
 * @param pathMtu octets of an SCTP packet on the primary path
 * @param peerWindow octets that the peer can receive
 * @param inboundStreams that the peer may use
 * @param outboundStreams that this side may use
 * @param unacknowledgedChunks sent, and not known to have arrived
 * @param pendingChunks given to SCTP and not sent yet
 * @param retransmittedChunks so far
 */
public record SctpAssociationFacts(
        boolean pathActive,
        Duration smoothedRtt,
        Duration rto,
        long congestionWindow,
        int pathMtu,
        long peerWindow,
        int inboundStreams,
        int outboundStreams,
        long unacknowledgedChunks,
        long pendingChunks,
        long retransmittedChunks) {}
