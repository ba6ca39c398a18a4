// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.time.Duration;
import java.util.function.UnaryOperator;

/**
 * Parameters that one side asks for in a connection.
 *
 * @param privateData data for the peer's application, at most 512 bytes. MPA uses some of these bytes to negotiate IRD
 *     and ORD (RFC 5044 section 7.1.1, RFC 6581 section 6)
 * @param ird inbound RDMA Read Requests and Atomic Requests that are served at a time (RFC 5040 section 6.1)
 * @param ord outbound RDMA Read Requests and Atomic Requests at a time
 * @param mpa policy of start-up. On SCTP only its RFC 6581 part applies: a Request of revision 2 is an Enhanced
 *     Initiate there
 * @param udpPort UDP port of the peer when SCTP is encapsulated in UDP (RFC 6951)
 * @param timeout maximum time of start-up
 * @param reachTimeout part of {@code timeout} in which TCP or the SCTP association must be up; the peer is unreachable
 *     otherwise
 * @param security policy about TLS and the identity of the peer
 */
public record ConnectionParameters(
        Llp llp,
        byte[] privateData,
        int ird,
        int ord,
        MpaPolicy mpa,
        int udpPort,
        Duration timeout,
        Duration reachTimeout,
        SecurityPolicy security) {

    /** UDP port that is registered for SCTP (RFC 6951 section 5.1). */
    public static final int DEFAULT_UDP_PORT = 9899;

    /** Creates the parameters of a connection without TLS. */
    public ConnectionParameters(
            Llp llp,
            byte[] privateData,
            int ird,
            int ord,
            MpaPolicy mpa,
            int udpPort,
            Duration timeout,
            Duration reachTimeout) {
        this(llp, privateData, ird, ord, mpa, udpPort, timeout, reachTimeout, SecurityPolicy.PLAIN);
    }

    /** Returns TCP, no private data, IRD and ORD 16, the default policy, and 10 s for start-up. */
    public static ConnectionParameters defaults() {
        Duration timeout = Duration.ofSeconds(10);
        return new ConnectionParameters(
                Llp.TCP, new byte[0], 16, 16, MpaPolicy.defaults(), DEFAULT_UDP_PORT, timeout, timeout);
    }

    public ConnectionParameters withLlp(Llp newLlp) {
        return new ConnectionParameters(newLlp, privateData, ird, ord, mpa, udpPort, timeout, reachTimeout, security);
    }

    public ConnectionParameters withUdpPort(int port) {
        return new ConnectionParameters(llp, privateData, ird, ord, mpa, port, timeout, reachTimeout, security);
    }

    public ConnectionParameters withPrivateData(byte[] data) {
        return new ConnectionParameters(llp, data, ird, ord, mpa, udpPort, timeout, reachTimeout, security);
    }

    public ConnectionParameters withReadDepth(int newIrd, int newOrd) {
        return new ConnectionParameters(
                llp, privateData, newIrd, newOrd, mpa, udpPort, timeout, reachTimeout, security);
    }

    /** Returns a copy with a changed policy. */
    public ConnectionParameters withMpa(UnaryOperator<MpaPolicy> change) {
        return new ConnectionParameters(
                llp, privateData, ird, ord, change.apply(mpa), udpPort, timeout, reachTimeout, security);
    }

    /** Returns a copy with another time-out, all of which may be used to reach the peer. */
    public ConnectionParameters withTimeout(Duration newTimeout) {
        return new ConnectionParameters(llp, privateData, ird, ord, mpa, udpPort, newTimeout, newTimeout, security);
    }

    public ConnectionParameters withReachTimeout(Duration newTimeout) {
        return new ConnectionParameters(llp, privateData, ird, ord, mpa, udpPort, timeout, newTimeout, security);
    }

    public ConnectionParameters withSecurity(SecurityPolicy policy) {
        return new ConnectionParameters(llp, privateData, ird, ord, mpa, udpPort, timeout, reachTimeout, policy);
    }
}
