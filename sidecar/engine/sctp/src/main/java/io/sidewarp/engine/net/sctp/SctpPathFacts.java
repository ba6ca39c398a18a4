// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import java.net.InetAddress;
import java.time.Duration;

/**
 * State of a path of an association (RFC 9260 section 6.4).
 *
 * @param remote address of the peer
 * @param primary whether new data uses this path while it answers
 * @param active false when the path does not answer
 * @param smoothedRtt zero before the first measurement
 * @param rto retransmission time-out
 * @param congestionWindow bytes of the congestion window
 * @param pathMtu bytes of an SCTP packet
 */
public record SctpPathFacts(
        InetAddress remote,
        boolean primary,
        boolean active,
        Duration smoothedRtt,
        Duration rto,
        long congestionWindow,
        int pathMtu) {}
