// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.net.InetSocketAddress;

/**
 * What start-up agreed on.
 *
 * @param privateData the peer's
 * @param mpaRevision revision of MPA in use; 0 before start-up ended and on SCTP
 * @param mulpdu octets of the largest segment that is sent now
 */
public record ConnectionAttributes(
        Llp llp,
        boolean initiator,
        InetSocketAddress localAddress,
        InetSocketAddress remoteAddress,
        byte[] privateData,
        int ird,
        int ord,
        boolean crc,
        boolean receiveMarkers,
        boolean sendMarkers,
        int mpaRevision,
        int mulpdu) {}
