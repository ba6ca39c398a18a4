// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import java.time.Duration;

/**
 * What the protocol knows about an association with one path; {@link SctpAssociationFacts} and {@link SctpPathFacts} say
 * what each is.
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
