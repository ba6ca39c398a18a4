// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.settings;

import io.sidewarp.engine.verbs.CrcPolicy;
import io.sidewarp.engine.verbs.TlsUse;
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
 * environment variable ({@code SIDEWARP_API_SOCKET=...}). docs/configuration.md lists them all. A test compares that
 * table with this mapping.
 */
@ConfigMapping(prefix = "sidewarp")
public interface SidewarpConfig {

    /**
     * Provider that carries out verbs: the sidecar's own engine ({@code software}) or an iWARP device of the kernel
     * ({@code kernel}). The value {@code auto} means {@code kernel} if {@link #rdmaDevices} names any device, else
     * {@code software}.
     */
    @WithDefault("software")
    String provider();

    /**
     * Names of iWARP devices of the kernel. The first one that exists is used. Unset: the devices that the node agent
     * gave to the container. If there are none, the provider {@code kernel} uses any device.
     */
    @WithDefault("${SIDEWARP_RNIC_DEVICES:}")
    Optional<List<String>> rdmaDevices();

    /** Number of threads for the API and the connections. Unset: the number of available processors, at most 2. */
    OptionalInt eventLoops();

    /** Directory of the volume for shared regions. Empty: shared regions are switched off. */
    @WithDefault("/run/sidewarp/shared")
    Optional<String> sharedVolume();

    /** Enables Immediate Data and atomic operations (RFC 7306). */
    @WithDefault("true")
    @WithConverter(StrictBoolean.class)
    boolean extensions();

    /** Serves the status page on the management port, to browsers on the same host only. */
    @WithDefault("true")
    @WithConverter(StrictBoolean.class)
    boolean statusPage();

    /** Time after SIGTERM in which work in progress may finish and connections are closed. */
    @WithDefault("10s")
    Duration drainTimeout();

    Api api();

    Management management();

    Limits limits();

    Connection connection();

    IdentityConfig identity();

    Sctp sctp();

    AdvancedConfig advanced();

    /** Address of the gRPC API, and the users that may call it. */
    interface Api {

        /** Path of the Unix socket. */
        @WithDefault("/run/sidewarp/api.sock")
        String socket();

        /** Mode of the Unix socket, octal. */
        @WithDefault("0660")
        String socketMode();

        /** User ids that may call. Unset: all users that can open the socket. */
        Optional<List<Long>> allowedUids();

        /** Group ids that may call, in addition to the allowed users. Unset: all users that can open the socket. */
        Optional<List<Long>> allowedGids();

        Tcp tcp();

        /** Additional listener without peer credentials, for programs that cannot use Unix sockets. */
        interface Tcp {

            /** TCP port. Unset: no TCP listener. 0: any free port. */
            OptionalInt port();
        }
    }

    /** HTTP listener for health and metrics. */
    interface Management {

        @WithDefault("127.0.0.1")
        String host();

        /** TCP port. 0: any free port. */
        @WithDefault("9464")
        int port();

        /** Maximum number of connections. A new connection above the limit replaces the oldest. */
        @WithDefault("32")
        int connections();
    }

    /** Quotas of the resource manager (RFC 5040 section 8.1.2). */
    interface Limits {

        /** Connections to the API. One user may hold at most half. */
        @WithDefault("1024")
        int apiConnections();

        /** Calls in progress on one API connection. */
        @WithDefault("2100")
        int apiConnectionCalls();

        /**
         * Calls in progress on all API connections. Users, and the connections of one user, are limited to fair shares.
         */
        @WithDefault("6400")
        int apiCalls();

        /** Sessions of the sidecar. One user may hold at most half. */
        @WithDefault("256")
        int sessions();

        /** Regions of a session. */
        @WithDefault("1024")
        int regions();

        /**
         * Regions and rings of all sessions. They use file descriptors, mappings and heap of the sidecar. Users, and the sessions
         * of one user, are limited to fair shares.
         */
        @WithDefault("16384")
        int totalRegions();

        /** Bytes that a session registers, over all regions. */
        @WithDefault("68719476736")
        long registeredOctets();

        /** Bytes of one managed region. */
        @WithDefault("67108864")
        long managedRegionOctets();

        /**
         * Bytes of all managed regions of all sessions, which are memory of the sidecar itself. Users, and the sessions
         * of one user, are limited to fair shares.
         */
        @WithDefault("268435456")
        long managedOctets();

        /** Connections of a session. */
        @WithDefault("1024")
        int connections();

        /** Concurrent look-ups of peer names by a session. Each takes a thread. */
        @WithDefault("2")
        int lookups();

        /**
         * Completion queue entries of a session: as many as the entries of its connections' queues and shared receive
         * queues.
         */
        @WithDefault("1048576")
        long completionEntries();

        /**
         * Entries of the send queues, receive queues and shared receive queues of all sessions, which use heap of the
         * sidecar. Users, and the sessions of one user, are limited to fair shares.
         */
        @WithDefault("262144")
        long workEntries();

        /** Inbound RDMA Read Requests that are reserved for the connections of a session. */
        @WithDefault("16384")
        long readRequests();

        /** Entries of the receive queues of a session, both of connections and shared ones. */
        @WithDefault("524288")
        long receives();

        /** Shared receive queues of a session. */
        @WithDefault("64")
        int sharedReceiveQueues();

        /** Connections to one remote address, over all sessions. */
        @WithDefault("4096")
        int peerConnections();

        /** Inbound RDMA Read Requests that are reserved for the connections to one remote address. */
        @WithDefault("65536")
        long peerReadRequests();

        /** Listeners of a session. */
        @WithDefault("16")
        int listeners();

        /** Protection domains of a session. */
        @WithDefault("1024")
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
         * Connections of one listener that have not sent a complete request, or that failed or were rejected and are
         * not closed yet.
         */
        @WithDefault("256")
        int startupConnections();

        /**
         * Number of 256 KiB buffers that the connections of one event loop can use for full sockets. As many again can
         * hold the beginnings of long FPDUs.
         */
        @WithDefault("128")
        int outputBuffers();

        /** Number of these output buffers that have 784 KiB. Streams get large buffers first, while there are any. */
        @WithDefault("8")
        int largeOutputBuffers();

        /**
         * Bytes of an event loop's buffers above 4 KiB for further beginnings of long FPDUs, which are copied there.
         */
        @WithDefault("33554432")
        long reassemblyOctets();

        /** Segments of one inbound message with less than 64 bytes of payload, not counting its last segment. */
        @WithDefault("4096")
        int shortSegments();
    }

    /** Defaults for connection options that the caller leaves unset. */
    interface Connection {

        /**
         * Address to listen at if the caller names none. Unset: all addresses. If set, callers can listen at no other
         * address.
         */
        Optional<String> listenAddress();

        /** Time limit for the set-up of a connection. */
        @WithDefault("10s")
        Duration timeout();

        /**
         * Maximum time that a peer may stall: acknowledge no data (also after this side has closed), leave an FPDU
         * incomplete, or not read from a buffer for which others wait.
         */
        @WithDefault("60s")
        Duration stallTimeout();

        /** Silence of a peer in whole seconds after which TCP probes the peer. 0: never. */
        @WithDefault("60s")
        Duration keepAlive();

        /**
         * Name of TCP's congestion control in Linux. Unset: the default of the machine or of the pod's network
         * namespace; {@code reno} if both ends are in the same namespace.
         */
        Optional<String> congestionControl();

        /** Delay between the peer's MPA Reply and the initiator's first FPDU. */
        @WithDefault("0s")
        Duration firstFpduDelay();

        /** CRC policy: required, preferred or refused. */
        @WithDefault("preferred")
        CrcPolicy crc();

        /** Lets callers request connections without CRCs (RFC 5044 section 4.4). */
        @WithDefault("false")
        @WithConverter(StrictBoolean.class)
        boolean allowCrcOff();

        /**
         * Mechanism that protects the integrity of data from end to end at least as well as CRCs, where these may be
         * off.
         */
        Optional<String> integrityProtection();

        /** Revisions of MPA that peers may use. */
        @WithDefault("0,1,2")
        Set<Integer> mpaRevisions();

        /** Revision of MPA in connection requests of this side. */
        @WithDefault("1")
        int mpaRequestRevision();

        /** TLS below MPA, with certificates of both sides. Needs an identity. */
        @WithDefault("plain")
        TlsUse security();

        /**
         * Patterns of the SPIFFE IDs of peers that may connect to listeners. If set, connections need TLS whatever
         * callers ask for, unless {@link #plainPeers} is true.
         */
        Optional<List<String>> peers();

        /** Permits connections without TLS although {@link #peers} is set. */
        @WithDefault("false")
        @WithConverter(StrictBoolean.class)
        boolean plainPeers();
    }

    /** SCTP implementations that a sidecar can use. */
    enum SctpStackKind {
        /** User-space SCTP, encapsulated in UDP (RFC 6951). */
        UDP,
        /** SCTP of the kernel, directly on IP. */
        KERNEL
    }

    /** Settings of SCTP, the other lower layer (RFC 5043). */
    interface Sctp {

        /** SCTP implementation. */
        @WithDefault("udp")
        SctpStackKind stack();

        /** Local addresses of one SCTP endpoint. Unset: each address is an endpoint of its own. */
        Optional<List<String>> addresses();

        /** Local UDP port of the encapsulation. 0: any free port, which suits a sidecar that does not listen. */
        @WithDefault("9899")
        int udpPort();

        /** Associations at one local address that peers initiate. As many again can be initiated by this side. */
        @WithDefault("1024")
        int associations();

        /** Associations at one local address whose peer has not returned the cookie. */
        @WithDefault("128")
        int halfOpenAssociations();

        /** Bytes of one association's chunks that wait for an earlier chunk. */
        @WithDefault("16777216")
        int reorderOctets();

        /** Bytes of chunks that wait for an earlier chunk, over all associations. */
        @WithDefault("33554432")
        int totalReorderOctets();
    }
}
