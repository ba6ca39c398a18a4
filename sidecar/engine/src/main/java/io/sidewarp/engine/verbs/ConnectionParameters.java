// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import io.sidewarp.engine.llp.mpa.MpaPolicy;
import java.time.Duration;
import java.util.function.UnaryOperator;

/**
 * What one side wants of a connection.
 *
 * @param privateData for the peer's application, at most 512 bytes less what MPA takes of them to negotiate IRD and ORD
 *     (RFC 5044 section 7.1.1, RFC 6581 section 6)
 * @param ird inbound RDMA Read Requests and Atomic Requests served at a time (RFC 5040 section 6.1)
 * @param ord outbound RDMA Read Requests and Atomic Requests at a time
 * @param mpa how start-up goes. On SCTP only what it says of RFC 6581 counts: a Request of revision 2 is an Enhanced
 *     Initiate there
 * @param udpPort of the peer, where SCTP is encapsulated in UDP (RFC 6951)
 * @param timeout for the start-up
 * @param reachTimeout the part of it in which TCP, or the SCTP association, has to be up; else the peer is unreachable
 */
public record ConnectionParameters(
        Llp llp,
        byte[] privateData,
        int ird,
        int ord,
        MpaPolicy mpa,
        int udpPort,
        Duration timeout,
        Duration reachTimeout) {

    /** UDP port that is registered for SCTP (RFC 6951 section 5.1). */
    public static final int DEFAULT_UDP_PORT = 9899;

    /** TCP, no private data, IRD and ORD 16, the default policy, 10 s. */
    public static ConnectionParameters defaults() {
        Duration timeout = Duration.ofSeconds(10);
        return new ConnectionParameters(
                Llp.TCP, new byte[0], 16, 16, MpaPolicy.defaults(), DEFAULT_UDP_PORT, timeout, timeout);
    }

    public ConnectionParameters withLlp(Llp newLlp) {
        return new ConnectionParameters(newLlp, privateData, ird, ord, mpa, udpPort, timeout, reachTimeout);
    }

    public ConnectionParameters withUdpPort(int port) {
        return new ConnectionParameters(llp, privateData, ird, ord, mpa, port, timeout, reachTimeout);
    }

    public ConnectionParameters withPrivateData(byte[] data) {
        return new ConnectionParameters(llp, data, ird, ord, mpa, udpPort, timeout, reachTimeout);
    }

    public ConnectionParameters withReadDepth(int newIrd, int newOrd) {
        return new ConnectionParameters(llp, privateData, newIrd, newOrd, mpa, udpPort, timeout, reachTimeout);
    }

    /** With a changed policy. */
    public ConnectionParameters withMpa(UnaryOperator<MpaPolicy> change) {
        return new ConnectionParameters(llp, privateData, ird, ord, change.apply(mpa), udpPort, timeout, reachTimeout);
    }

    /** With another time, all of which reaching the peer may take. */
    public ConnectionParameters withTimeout(Duration newTimeout) {
        return new ConnectionParameters(llp, privateData, ird, ord, mpa, udpPort, newTimeout, newTimeout);
    }

    public ConnectionParameters withReachTimeout(Duration newTimeout) {
        return new ConnectionParameters(llp, privateData, ird, ord, mpa, udpPort, timeout, newTimeout);
    }
}
