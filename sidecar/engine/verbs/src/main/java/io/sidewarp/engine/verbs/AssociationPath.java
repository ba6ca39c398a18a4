// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.net.InetAddress;
import java.time.Duration;

/**
 * A path of an SCTP association (RFC 9260 section 6.4).
 *
 * @param remote address of the peer
 * @param primary whether new data takes this path while the path answers
 * @param active false when the path does not answer
 * @param smoothedRtt smoothed round-trip time, zero before the first measurement
 * @param rto retransmission time-out
 * @param congestionWindow congestion window in bytes
 * @param pathMtu largest SCTP packet in bytes
 */
public record AssociationPath(
        InetAddress remote,
        boolean primary,
        boolean active,
        Duration smoothedRtt,
        Duration rto,
        long congestionWindow,
        int pathMtu) {}
