// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.time.Duration;

/**
 * What one side wants of a connection.
 *
 * @param privateData at most 512 octets for the peer's application (RFC 5044 section 7.1.1)
 * @param ird inbound RDMA Read Requests and Atomic Requests served at a time (RFC 5040 section 6.1)
 * @param ord outbound RDMA Read Requests and Atomic Requests at a time
 * @param crc whether this side needs CRCs; they are used if either side does (RFC 5044 section 4.4)
 * @param receiveMarkers whether the peer has to insert Markers (RFC 5044 section 4.3)
 * @param maxFpdu octets, 0 for no cap but the path's
 * @param timeout for the start-up
 */
public record ConnectionParameters(
        Llp llp,
        byte[] privateData,
        int ird,
        int ord,
        boolean crc,
        boolean receiveMarkers,
        int maxFpdu,
        Duration timeout) {

    /** TCP, no private data, IRD and ORD 16, CRC on, no Markers, no cap, 10 s. */
    public static ConnectionParameters defaults() {
        return new ConnectionParameters(Llp.TCP, new byte[0], 16, 16, true, false, 0, Duration.ofSeconds(10));
    }

    public ConnectionParameters withPrivateData(byte[] data) {
        return new ConnectionParameters(llp, data, ird, ord, crc, receiveMarkers, maxFpdu, timeout);
    }

    public ConnectionParameters withReadDepth(int newIrd, int newOrd) {
        return new ConnectionParameters(llp, privateData, newIrd, newOrd, crc, receiveMarkers, maxFpdu, timeout);
    }

    public ConnectionParameters withCrc(boolean newCrc) {
        return new ConnectionParameters(llp, privateData, ird, ord, newCrc, receiveMarkers, maxFpdu, timeout);
    }

    public ConnectionParameters withReceiveMarkers(boolean markers) {
        return new ConnectionParameters(llp, privateData, ird, ord, crc, markers, maxFpdu, timeout);
    }

    public ConnectionParameters withMaxFpdu(int octets) {
        return new ConnectionParameters(llp, privateData, ird, ord, crc, receiveMarkers, octets, timeout);
    }

    public ConnectionParameters withTimeout(Duration newTimeout) {
        return new ConnectionParameters(llp, privateData, ird, ord, crc, receiveMarkers, maxFpdu, newTimeout);
    }
}
