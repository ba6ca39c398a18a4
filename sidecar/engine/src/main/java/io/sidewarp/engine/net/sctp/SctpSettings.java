// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import java.time.Duration;

/**
 * Settings of SCTP endpoints and of their associations.
 *
 * @param udpPort local UDP port of the encapsulation (RFC 6951 section 5.1); 0 takes any free one
 * @param udpBuffer octets that the UDP socket is asked to hold in each direction; the system may grant less
 * @param outputQueue octets of packets that wait for a full UDP socket, per endpoint; further ones are dropped, which
 *     SCTP repairs
 * @param streams streams of an association, in and out (RFC 5043 section 8), 1 to 65535
 * @param maxPathMtu octets of an IP packet at most, for paths narrower than the local interface, at least {@value
 *     #MIN_PATH_MTU}; 0 for what the interface takes
 * @param sendBuffer octets that an association holds unacknowledged or unsent
 * @param receiveBuffer octets that an association receives ahead of its user, which is the window that its peer gets, at
 *     least {@value #MIN_RECEIVE_BUFFER}
 * @param largestMessage octets of a received user message at most; an association with a longer one is aborted
 * @param heartbeatInterval how often an idle path is probed (RFC 4960 section 8.3)
 * @param sackDelay the longest wait before received data is acknowledged, at most 500 ms (RFC 4960 section 6.2)
 * @param rtoMin smallest retransmission time-out; more than the peer's {@code sackDelay}
 * @param rtoInitial retransmission time-out of a path that was not measured yet
 * @param rtoMax largest retransmission time-out
 * @param pathRetransmissions time-outs in a row after which a path counts as inactive
 * @param associationRetransmissions time-outs in a row after which an association is lost
 * @param maxAssociations of an endpoint that peers begin, further ones being refused; and as many that begin here, so that
 *     peers cannot keep this side from it
 * @param maxHalfOpen associations of an endpoint whose peer has not returned the cookie; one more takes the place of
 *     the oldest, and first of those of its own address where that has as many as it leaves to others, so that a flood
 *     shortens their life and does not shut others out
 * @param halfOpenTimeout how long an association may be half open: as long as a cookie is good (RFC 9260 section 16), for
 *     a peer that loses packets may take most of that to return it
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

    /** The port that is registered for SCTP in UDP. */
    public static final int DEFAULT_UDP_PORT = 9899;

    /** Octets of a message that every path has to take: a DDP Segment of 516 and its DDP-SSN (RFC 5043 section 9). */
    public static final int LEAST_MESSAGE = 518;

    /** Smallest {@link #maxPathMtu}: holds {@link #LEAST_MESSAGE} unfragmented and a SACK, in UDP over IPv6 as well. */
    public static final int MIN_PATH_MTU = 612;

    /**
     * Smallest {@link #receiveBuffer}. A message that has grown to half of it is passed on as far as it has come, and is taken
     * for one of more than 64 KiB.
     */
    public static final int MIN_RECEIVE_BUFFER = 2 * ((1 << 16) + 1);

    private static final int MAX_PORT = 65535;

    public SctpSettings {
        require(udpPort >= 0 && udpPort <= MAX_PORT, "a UDP port is 0 to 65535", udpPort);
        require(streams > 0 && streams <= MAX_PORT, "an association has 1 to 65535 streams", streams);
        require(maxPathMtu == 0 || maxPathMtu >= MIN_PATH_MTU, "the path MTU is 0 or at least 612 octets", maxPathMtu);
        require(sendBuffer >= 1 << 16, "the send buffer holds at least 65536 octets", sendBuffer);
        require(receiveBuffer >= MIN_RECEIVE_BUFFER, "the receive buffer holds at least 131074 octets", receiveBuffer);
        require(largestMessage >= 1 << 16, "the largest message has at least 65536 octets", largestMessage);
        require(maxHalfOpen > 0, "at least one association can be half open", maxHalfOpen);
    }

    private static void require(boolean condition, String rule, int value) {
        if (!condition) {
            throw new IllegalArgumentException(rule + ", not " + value);
        }
    }

    /**
     * Port 9899, 4 MiB UDP buffers, 4 MiB of queued packets, 1024 streams, the interface's MTU, 4 MiB to send, 4 MiB to
     * receive, messages of 64 KiB, heartbeats every 30 s, SACKs within 20 ms, a retransmission time-out of 1 s at first
     * and then 200 ms to 10 s, 5 retransmissions on a path and 10 in an association, 1024 associations, 128 half open
     * ones for 60 s, and 5 s to shut down.
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

    /** These settings, of which some are going to be changed. */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /** Changes settings by their names. */
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
