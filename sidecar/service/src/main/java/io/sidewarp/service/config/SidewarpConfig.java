// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.config;

import io.sidewarp.engine.llp.RtrKind;
import io.sidewarp.engine.llp.mpa.CrcPolicy;
import io.sidewarp.engine.llp.mpa.DepthNegotiation;
import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Settings of the sidecar. Each can be given as a system property ({@code -Dsidewarp.api.socket=...}) or as an
 * environment variable ({@code SIDEWARP_API_SOCKET=...}). docs/configuration.md lists them all; a test holds that table
 * and this mapping together.
 */
@ConfigMapping(prefix = "sidewarp")
public interface SidewarpConfig {

    /**
     * What carries out verbs: software, the sidecar's own engine; kernel, an iWARP device of the kernel; or auto, the latter
     * where {@link #rdmaDevices} names any.
     */
    @WithDefault("software")
    String provider();

    /**
     * Names of iWARP devices of the kernel, of which the first that is there is used. Unset: those that the node agent has
     * given to the container, or else, with the provider kernel, any.
     */
    @WithDefault("${SIDEWARP_RNIC_DEVICES:}")
    Optional<List<String>> rdmaDevices();

    /** Threads that run the API and the connections. Unset: the processors that are available, at most 2. */
    OptionalInt eventLoops();

    /**
     * Microseconds that a thread of the connections polls at most before it sleeps. Unset: 300, or 0 where the machine
     * has one processor only or a control group gives the sidecar less than the time of one.
     */
    OptionalInt busyPollMicros();

    /** Threads for what blocks: registration of memory. */
    @WithDefault("2")
    int workerThreads();

    /** Directory of the volume for shared regions. Empty: shared regions are switched off. */
    @WithDefault("/run/sidewarp/shared")
    Optional<String> sharedVolume();

    /** Whether connections have Immediate Data and atomic operations (RFC 7306). */
    @WithDefault("true")
    @WithConverter(StrictBoolean.class)
    boolean extensions();

    /** Time after SIGTERM for work under way to finish, and for connections to be closed. */
    @WithDefault("10s")
    Duration drainTimeout();

    /** Whether the sidecar serves on after SIGTERM until all sessions have ended, at most for the time above. */
    @WithDefault("false")
    @WithConverter(StrictBoolean.class)
    boolean outliveSessions();

    Api api();

    Management management();

    Limits limits();

    Connection connection();

    Sctp sctp();

    Telemetry telemetry();

    Log log();

    /** Where the gRPC API is, and who may use it. */
    interface Api {

        /** Path of the Unix socket. */
        @WithDefault("/run/sidewarp/api.sock")
        String socket();

        /** Mode of the Unix socket, octal. */
        @WithDefault("0660")
        String socketMode();

        /** User ids that may call. Unset: all that can open the socket. */
        Optional<List<Long>> allowedUids();

        /** Group ids that may call, in addition to the allowed users. Unset: all that can open the socket. */
        Optional<List<Long>> allowedGids();

        Tcp tcp();

        /** An additional listener without peer credentials, for programs that cannot use Unix sockets. */
        interface Tcp {

            /** A loopback address. */
            @WithDefault("127.0.0.1")
            String host();

            /** Unset: no TCP listener. 0: any free port. */
            OptionalInt port();
        }
    }

    /** The HTTP listener for health and metrics. */
    interface Management {

        @WithDefault("true")
        @WithConverter(StrictBoolean.class)
        boolean enabled();

        @WithDefault("127.0.0.1")
        String host();

        /** 0: any free port. */
        @WithDefault("9464")
        int port();

        /** Connections to it. One more takes the place of the oldest. */
        @WithDefault("32")
        int connections();
    }

    /** The resource manager's quotas (RFC 5040 section 8.1.2). */
    interface Limits {

        /** Connections with the API. A user may hold no more than it leaves to the others. */
        @WithDefault("1024")
        int apiConnections();

        /** Calls under way on one connection with the API. */
        @WithDefault("2100")
        int apiConnectionCalls();

        /** Calls under way on all connections with the API. Users, and connections of a user, hold no more than they leave. */
        @WithDefault("6400")
        int apiCalls();

        /** Sessions of the sidecar. Users have no more than they leave to others. */
        @WithDefault("256")
        int sessions();

        /** Regions of a session. */
        @WithDefault("1024")
        int regions();

        /**
         * Regions of all sessions: file descriptors, mappings and heap of the sidecar. Users, and sessions of a user, have no
         * more than they leave to others.
         */
        @WithDefault("16384")
        int totalRegions();

        /** Octets registered by a session, over all regions. */
        @WithDefault("68719476736")
        long registeredOctets();

        /** Octets of one managed region. */
        @WithDefault("67108864")
        long managedRegionOctets();

        /**
         * Octets of all managed regions of all sessions: memory of the sidecar itself. Users, and sessions of a user, have no
         * more than they leave to others.
         */
        @WithDefault("268435456")
        long managedOctets();

        /** Connections of a session. */
        @WithDefault("1024")
        int connections();

        /** Names of peers that a session has looked up at a time. Each takes a thread. */
        @WithDefault("2")
        int lookups();

        /** Completion queue entries of a session: as many as its connections' and shared receive queues have. */
        @WithDefault("1048576")
        long completionEntries();

        /**
         * Entries of the send queues, receive queues and shared receive queues of all sessions: heap of the sidecar. Users, and
         * sessions of a user, have no more than they leave to others.
         */
        @WithDefault("262144")
        long workEntries();

        /** Inbound RDMA Read Requests that are reserved for the connections of a session. */
        @WithDefault("16384")
        long readRequests();

        /** Entries of the receive queues of a session, those of connections and shared ones. */
        @WithDefault("524288")
        long receives();

        /** Shared receive queues of a session. */
        @WithDefault("64")
        int sharedReceiveQueues();

        /** Connections with one remote address, of all sessions. */
        @WithDefault("4096")
        int peerConnections();

        /** Inbound RDMA Read Requests that are reserved for the connections with one remote address. */
        @WithDefault("65536")
        long peerReadRequests();

        /** Listeners of a session. */
        @WithDefault("16")
        int listeners();

        /** Protection domains of a session. */
        @WithDefault("64")
        int protectionDomains();

        /** Work requests outstanding on the send queue of a connection. */
        @WithDefault("4096")
        int sendQueue();

        /** Receives outstanding on a connection or a shared receive queue. */
        @WithDefault("4096")
        int receiveQueue();

        /** Inbound RDMA Read Requests and Atomic Requests of a connection. */
        @WithDefault("64")
        int ird();

        /** Outbound RDMA Read Requests and Atomic Requests of a connection. */
        @WithDefault("64")
        int ord();

        /** Work requests outstanding on one Queue call. */
        @WithDefault("8192")
        int queueOutstanding();

        /** Connection requests of one listener that wait for a decision. */
        @WithDefault("1024")
        int backlog();

        /**
         * Connections of one listener that are in start-up before their request is complete, or that failed or were rejected
         * and are not closed yet.
         */
        @WithDefault("256")
        int startupConnections();

        /**
         * Buffers of 256 KiB that the connections of one event loop can have in sockets that are full, and as many that hold
         * the beginnings of long FPDUs.
         */
        @WithDefault("128")
        int outputBuffers();

        /** Of these, those of 784 KiB, which streams get as long as there are some. */
        @WithDefault("8")
        int largeOutputBuffers();

        /** Octets of an event loop's buffers of more than 4 KiB into which the other beginnings of long FPDUs are copied. */
        @WithDefault("33554432")
        long reassemblyOctets();

        /** Segments of one inbound message with less than 64 octets of payload, its last one aside. */
        @WithDefault("4096")
        int shortSegments();
    }

    /** What a connection gets when its options do not say. */
    interface Connection {

        /** Address to listen at when a caller names none. Unset: all; if set, callers can listen at no other. */
        Optional<String> listenAddress();

        /** Time for the set-up of a connection. */
        @WithDefault("10s")
        Duration timeout();

        /**
         * Time that a peer may acknowledge nothing of what it is sent, also when this side has closed, leave an FPDU incomplete,
         * or not read what is in a buffer for which others wait.
         */
        @WithDefault("60s")
        Duration stallTimeout();

        /** Time that a peer gets to close its side, from when it has acknowledged the close of this side. */
        @WithDefault("5s")
        Duration lingerTimeout();

        /** Silence of a peer after which TCP probes whether it is still there, whole seconds. 0: never. */
        @WithDefault("60s")
        Duration keepAlive();

        /**
         * Name of TCP's congestion control in Linux. Unset: that of the machine, or of the pod's network namespace; {@code
         * reno} when both ends are in that.
         */
        Optional<String> congestionControl();

        /** Time that an initiator waits behind the peer's MPA Reply before it sends. */
        @WithDefault("0s")
        Duration firstFpduDelay();

        /** Whether CRCs are required, preferred or refused. */
        @WithDefault("preferred")
        CrcPolicy crc();

        /** Whether callers may ask for connections without CRCs (RFC 5044 section 4.4). */
        @WithDefault("false")
        @WithConverter(StrictBoolean.class)
        boolean allowCrcOff();

        /** What protects the integrity of data from end to end at least as well as CRCs, where these may be off. */
        Optional<String> integrityProtection();

        /** Whether peers have to insert MPA Markers. */
        @WithDefault("false")
        @WithConverter(StrictBoolean.class)
        boolean receiveMarkers();

        /** Upper bound of an FPDU in octets, 0 for none but the path's. */
        @WithDefault("0")
        int maxFpdu();

        /** Revisions of MPA that peers may use. */
        @WithDefault("0,1,2")
        Set<Integer> mpaRevisions();

        /** Revision of MPA that connections are asked for with. */
        @WithDefault("1")
        int mpaRequestRevision();

        /** Whether connections are asked for in the peer-to-peer model. */
        @WithDefault("false")
        @WithConverter(StrictBoolean.class)
        boolean peerToPeer();

        /** Ready-to-receive indications, the one liked best first. */
        @WithDefault("write,read,send")
        List<RtrKind> readyIndications();

        /** How IRD and ORD are negotiated. */
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

    /** SCTP, the other lower layer (RFC 5043). */
    interface Sctp {

        /** Whose SCTP it is. */
        @WithDefault("udp")
        SctpStackKind stack();

        /** Local addresses that make up one endpoint. Unset: each address is one. */
        Optional<List<String>> addresses();

        /** Local UDP port of the encapsulation. 0: any free one, which suits a sidecar that does not listen. */
        @WithDefault("9899")
        int udpPort();

        /** Streams of an association, and so connections that share it. */
        @WithDefault("1024")
        int streams();

        /** Octets of an IP packet at most. 0: what the local interface takes. */
        @WithDefault("0")
        int maxPathMtu();

        /** Octets that an association holds unacknowledged or unsent. */
        @WithDefault("4194304")
        int sendBuffer();

        /** Octets that an association receives ahead of its connections. */
        @WithDefault("4194304")
        int receiveBuffer();

        /** How often an idle path is probed. */
        @WithDefault("30s")
        Duration heartbeatInterval();

        /** The longest wait before received data is acknowledged. */
        @WithDefault("20ms")
        Duration sackDelay();

        /** Smallest retransmission time-out. */
        @WithDefault("200ms")
        Duration rtoMin();

        /** Retransmission time-out of a path that was not measured yet. */
        @WithDefault("1s")
        Duration rtoInitial();

        /** Largest retransmission time-out. */
        @WithDefault("10s")
        Duration rtoMax();

        /** Time-outs in a row after which a path counts as inactive. */
        @WithDefault("5")
        int pathRetransmissions();

        /** Time-outs in a row after which an association is lost. */
        @WithDefault("10")
        int associationRetransmissions();

        /** Associations at one local address that peers begin, and as many that begin here. */
        @WithDefault("1024")
        int associations();

        /** Associations at one local address whose peer has not returned the cookie. */
        @WithDefault("128")
        int halfOpenAssociations();

        /** Octets of one association's chunks that wait for an earlier one. */
        @WithDefault("16777216")
        int reorderOctets();

        /** Octets of such chunks of all associations. */
        @WithDefault("33554432")
        int totalReorderOctets();
    }

    /** Traces and metrics. Exporters are set by the standard OTEL_ variables. */
    interface Telemetry {

        /** One of so many work requests, by chance, has its latency measured. */
        @WithDefault("16")
        int latencySampling();

        /** Time that exporters get at the end to deliver what they hold. */
        @WithDefault("2s")
        Duration shutdownTimeout();
    }

    /** Logging. */
    interface Log {

        /** Messages of one kind that peers and callers can cause in a minute; further ones are counted, not written. */
        @WithDefault("10")
        int messagesPerMinute();
    }
}
