// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.settings;

import io.sidewarp.engine.verbs.DepthNegotiation;
import io.sidewarp.engine.verbs.RtrKind;
import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Settings that hardly anybody changes. Their defaults suit almost all pods and networks. */
public interface AdvancedConfig {

    /**
     * Maximum time in microseconds that a thread of the connections polls before it sleeps. Unset: 300. The default is
     * 0 if the machine has one processor, or if a control group gives the sidecar less than one processor.
     */
    OptionalInt busyPollMicros();

    /** Number of threads for blocking work: registration of memory. */
    @WithDefault("2")
    int workerThreads();

    /**
     * Keeps the sidecar serving after SIGTERM until all sessions have ended, at most for
     * {@link SidewarpConfig#drainTimeout}.
     */
    @WithDefault("false")
    @WithConverter(StrictBoolean.class)
    boolean outliveSessions();

    /**
     * File for the secrets of all TLS connections, in the NSS format that Wireshark reads. For debugging only: whoever
     * reads the file can decrypt the connections and forge their data.
     */
    Optional<Path> tlsKeyLog();

    Api api();

    Management management();

    Connection connection();

    Sctp sctp();

    Telemetry telemetry();

    Log log();

    /** Address of the additional TCP listener of the API. */
    interface Api {

        Tcp tcp();

        /** The TCP listener. */
        interface Tcp {

            /** Loopback address to listen at. */
            @WithDefault("127.0.0.1")
            String host();
        }
    }

    /** HTTP listener for health and metrics. */
    interface Management {

        @WithDefault("true")
        @WithConverter(StrictBoolean.class)
        boolean enabled();
    }

    /** Timing of connections, and defaults for connection options that the caller leaves unset. */
    interface Connection {

        /** Maximum time between the peer's acknowledgement of this side's close and the close of the peer's side. */
        @WithDefault("5s")
        Duration lingerTimeout();

        /** Requires peers to insert MPA Markers. */
        @WithDefault("false")
        @WithConverter(StrictBoolean.class)
        boolean receiveMarkers();

        /** Maximum length of an FPDU in bytes. 0: only the limit of the path applies. */
        @WithDefault("0")
        int maxFpdu();

        /** Requests connections in the peer-to-peer model. */
        @WithDefault("false")
        @WithConverter(StrictBoolean.class)
        boolean peerToPeer();

        /** Ready-to-receive indications in order of preference. */
        @WithDefault("write,read,send")
        List<RtrKind> readyIndications();

        /** Negotiation of IRD and ORD. */
        @WithDefault("enhanced")
        DepthNegotiation readDepths();

        /** UDP port of peers on SCTP. */
        @WithDefault("9899")
        int udpPort();

        /** Inbound RDMA Read Requests. */
        @WithDefault("16")
        int ird();

        /** Outbound RDMA Read Requests. */
        @WithDefault("16")
        int ord();

        /** Entries of the send queue. */
        @WithDefault("256")
        int sendQueue();

        /** Entries of the receive queue. */
        @WithDefault("256")
        int receiveQueue();

        /** Work requests outstanding on a Queue call. */
        @WithDefault("256")
        int queueOutstanding();

        /** Connection requests of one listener that may wait for a decision. */
        @WithDefault("128")
        int backlog();
    }

    /** Timing, buffers and streams of SCTP. */
    interface Sctp {

        /** Streams of an association: the maximum number of connections that share it. */
        @WithDefault("1024")
        int streams();

        /** Maximum length of an IP packet in bytes. 0: the MTU of the local interface. */
        @WithDefault("0")
        int maxPathMtu();

        /** Bytes that an association holds unacknowledged or unsent. */
        @WithDefault("4194304")
        int sendBuffer();

        /** Bytes that an association receives ahead of its connections. */
        @WithDefault("4194304")
        int receiveBuffer();

        /** Interval between probes of an idle path. */
        @WithDefault("30s")
        Duration heartbeatInterval();

        /** Maximum delay before received data is acknowledged. */
        @WithDefault("20ms")
        Duration sackDelay();

        /** Smallest retransmission time-out. */
        @WithDefault("200ms")
        Duration rtoMin();

        /** Retransmission time-out of a path without a round trip measurement. */
        @WithDefault("1s")
        Duration rtoInitial();

        /** Largest retransmission time-out. */
        @WithDefault("10s")
        Duration rtoMax();

        /** Consecutive time-outs after which a path counts as inactive. */
        @WithDefault("5")
        int pathRetransmissions();

        /** Consecutive time-outs after which an association is lost. */
        @WithDefault("10")
        int associationRetransmissions();
    }

    /** Traces and metrics. Exporters are set by the standard OTEL_ variables. */
    interface Telemetry {

        /** Average number of work requests per latency measurement. The sample is random. */
        @WithDefault("16")
        int latencySampling();

        /** Time for exporters to deliver their data at shutdown. */
        @WithDefault("2s")
        Duration shutdownTimeout();
    }

    /** Logging. */
    interface Log {

        /**
         * Messages of one kind per minute about what peers and callers cause. Further messages are counted, not
         * written.
         */
        @WithDefault("10")
        int messagesPerMinute();
    }
}
