// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import java.time.Duration;

/**
 * The protocol's facts about an association with one path. {@link SctpAssociationFacts} and {@link SctpPathFacts}
 * describe each of them.
 */
public record SctpSocketStatus(
        boolean pathActive,
        Duration smoothedRtt,
        Duration rto,
        long congestionWindow,
        int pathMtu,
        long peerWindow,
        int inboundStreams,
        int outboundStreams) {}
