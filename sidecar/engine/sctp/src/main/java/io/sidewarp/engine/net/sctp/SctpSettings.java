// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import java.time.Duration;

/**
 * Settings of SCTP endpoints and of their associations.
 *
 * @param udpPort local UDP port of the encapsulation (RFC 6951 section 5.1); 0 takes any free one
 * @param udpBuffer bytes that the UDP socket is asked to hold in each direction; the system may grant less
 * @param outputQueue bytes of packets that may wait for a full UDP socket, per endpoint. Further packets are dropped;
 *     SCTP sends them again.
 * @param streams streams of an association, in and out (RFC 5043 section 8), 1 to 65535
 * @param maxPathMtu most bytes of an IP packet, for paths narrower than the local interface, at least
 *     {@value #MIN_PATH_MTU}; 0 for the MTU of the interface
 * @param sendBuffer bytes that an association holds unacknowledged or unsent
 * @param receiveBuffer bytes that an association receives ahead of its user, at least {@value #MIN_RECEIVE_BUFFER}.
 *     This is the window that its peer gets.
 * @param largestMessage most bytes of a received user message; an association with a longer message is aborted
 * @param heartbeatInterval interval between two probes of an idle path (RFC 4960 section 8.3)
 * @param sackDelay longest wait before received data is acknowledged, at most 500 ms (RFC 4960 section 6.2)
 * @param rtoMin smallest retransmission time-out; must exceed the peer's {@code sackDelay}
 * @param rtoInitial retransmission time-out of a path before the first measurement
 * @param rtoMax largest retransmission time-out
 * @param pathRetransmissions time-outs in a row after which a path counts as inactive
 * @param associationRetransmissions time-outs in a row after which an association is lost
 * @param maxAssociations most associations of an endpoint that peers begin; further ones are refused. The same number
 *     may begin on this side, so that peers cannot keep this side from beginning associations.
 * @param maxHalfOpen most associations of an endpoint whose peer has not returned the cookie. Another one evicts the
 *     oldest. If its own address holds as many as it leaves free for others, it evicts the oldest of this address. A
 *     flood therefore shortens their life and does not shut others out.
 * @param halfOpenTimeout how long an association may be half open. It should be as long as a cookie is valid (RFC 9260
 *     section 16): a peer that loses packets may need most of this time to return the cookie.
 * @param shutdownTimeout how long a graceful end may take before the association is aborted
 */
public record SctpSettings(
        int udpPort,
        int udpBuffer,
        int outputQueue,
        int streams,
        int maxPathMtu,
        int sendBuffer,
        int receiveBuffer,
        int largestMessage,
        Duration heartbeatInterval,
        Duration sackDelay,
        Duration rtoMin,
        Duration rtoInitial,
        Duration rtoMax,
        int pathRetransmissions,
        int associationRetransmissions,
        int maxAssociations,
        int maxHalfOpen,
        Duration halfOpenTimeout,
        Duration shutdownTimeout) {

    /** Port that is registered for SCTP in UDP. */
    public static final int DEFAULT_UDP_PORT = 9899;

    /** Bytes of a message that every path must carry: a DDP Segment of 516 and its DDP-SSN (RFC 5043 section 9). */
    public static final int LEAST_MESSAGE = 518;

    /** Smallest {@link #maxPathMtu}. Holds {@link #LEAST_MESSAGE} unfragmented and a SACK, also in UDP over IPv6. */
    public static final int MIN_PATH_MTU = 612;

    /**
     * Smallest {@link #receiveBuffer}. A message that has grown to half of the receive buffer is passed on incomplete.
     * Such a message counts as one of more than 64 KiB.
     */
    public static final int MIN_RECEIVE_BUFFER = 2 * ((1 << 16) + 1);

    private static final int MAX_PORT = 65535;

    public SctpSettings {
        require(udpPort >= 0 && udpPort <= MAX_PORT, "a UDP port is 0 to 65535", udpPort);
        require(streams > 0 && streams <= MAX_PORT, "an association has 1 to 65535 streams", streams);
        require(maxPathMtu == 0 || maxPathMtu >= MIN_PATH_MTU, "the path MTU is 0 or at least 612 bytes", maxPathMtu);
        require(sendBuffer >= 1 << 16, "the send buffer holds at least 65536 bytes", sendBuffer);
        require(receiveBuffer >= MIN_RECEIVE_BUFFER, "the receive buffer holds at least 131074 bytes", receiveBuffer);
        require(largestMessage >= 1 << 16, "the largest message has at least 65536 bytes", largestMessage);
        require(maxHalfOpen > 0, "at least one association can be half open", maxHalfOpen);
    }

    private static void require(boolean condition, String rule, int value) {
        if (!condition) {
            throw new IllegalArgumentException(rule + ", not " + value);
        }
    }

    /**
     * Returns the defaults:
     *
     * <ul>
     *   <li>UDP port 9899, 4 MiB UDP buffers, 4 MiB of queued packets, 1024 streams, the interface's MTU.
     *   <li>4 MiB to send, 4 MiB to receive, messages of 64 KiB.
     *   <li>Heartbeats every 30 s, SACKs within 20 ms.
     *   <li>A retransmission time-out of 1 s at first, and then of 200 ms to 10 s.
     *   <li>5 retransmissions on a path, 10 in an association.
     *   <li>1024 associations, 128 half-open associations for 60 s, and 5 s to shut down.
     * </ul>
     */
    public static SctpSettings defaults() {
        return new SctpSettings(
                DEFAULT_UDP_PORT,
                4 << 20,
                4 << 20,
                1024,
                0,
                4 << 20,
                4 << 20,
                1 << 16,
                Duration.ofSeconds(30),
                Duration.ofMillis(20),
                Duration.ofMillis(200),
                Duration.ofSeconds(1),
                Duration.ofSeconds(10),
                5,
                10,
                1024,
                128,
                Duration.ofSeconds(60),
                Duration.ofSeconds(5));
    }

    /** Returns a builder that begins with these settings. */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /** Builder that changes settings by their names. */
    public static final class Builder {

        private final SctpSettings base;
        private int udpPort;
        private int udpBuffer;
        private int streams;
        private int maxPathMtu;
        private int sendBuffer;
        private int receiveBuffer;
        private Duration heartbeatInterval;
        private Duration sackDelay;
        private Duration rtoMin;
        private Duration rtoInitial;
        private Duration rtoMax;
        private int pathRetransmissions;
        private int associationRetransmissions;
        private int maxAssociations;
        private int maxHalfOpen;
        private Duration halfOpenTimeout;

        private Builder(SctpSettings base) {
            this.base = base;
            udpPort = base.udpPort;
            udpBuffer = base.udpBuffer;
            streams = base.streams;
            maxPathMtu = base.maxPathMtu;
            sendBuffer = base.sendBuffer;
            receiveBuffer = base.receiveBuffer;
            heartbeatInterval = base.heartbeatInterval;
            sackDelay = base.sackDelay;
            rtoMin = base.rtoMin;
            rtoInitial = base.rtoInitial;
            rtoMax = base.rtoMax;
            pathRetransmissions = base.pathRetransmissions;
            associationRetransmissions = base.associationRetransmissions;
            maxAssociations = base.maxAssociations;
            maxHalfOpen = base.maxHalfOpen;
            halfOpenTimeout = base.halfOpenTimeout;
        }

        public Builder udpPort(int port) {
            udpPort = port;
            return this;
        }

        public Builder udpBuffer(int octets) {
            udpBuffer = octets;
            return this;
        }

        public Builder streams(int number) {
            streams = number;
            return this;
        }

        public Builder maxPathMtu(int octets) {
            maxPathMtu = octets;
            return this;
        }

        public Builder sendBuffer(int octets) {
            sendBuffer = octets;
            return this;
        }

        public Builder receiveBuffer(int octets) {
            receiveBuffer = octets;
            return this;
        }

        public Builder heartbeatInterval(Duration interval) {
            heartbeatInterval = interval;
            return this;
        }

        public Builder sackDelay(Duration delay) {
            sackDelay = delay;
            return this;
        }

        public Builder rtoMin(Duration timeout) {
            rtoMin = timeout;
            return this;
        }

        public Builder rtoInitial(Duration timeout) {
            rtoInitial = timeout;
            return this;
        }

        public Builder rtoMax(Duration timeout) {
            rtoMax = timeout;
            return this;
        }

        public Builder pathRetransmissions(int number) {
            pathRetransmissions = number;
            return this;
        }

        public Builder associationRetransmissions(int number) {
            associationRetransmissions = number;
            return this;
        }

        public Builder maxAssociations(int number) {
            maxAssociations = number;
            return this;
        }

        public Builder maxHalfOpen(int number) {
            maxHalfOpen = number;
            return this;
        }

        public Builder halfOpenTimeout(Duration timeout) {
            halfOpenTimeout = timeout;
            return this;
        }

        public SctpSettings build() {
            return new SctpSettings(
                    udpPort,
                    udpBuffer,
                    base.outputQueue,
                    streams,
                    maxPathMtu,
                    sendBuffer,
                    receiveBuffer,
                    base.largestMessage,
                    heartbeatInterval,
                    sackDelay,
                    rtoMin,
                    rtoInitial,
                    rtoMax,
                    pathRetransmissions,
                    associationRetransmissions,
                    maxAssociations,
                    maxHalfOpen,
                    halfOpenTimeout,
                    base.shutdownTimeout);
        }
    }
}
