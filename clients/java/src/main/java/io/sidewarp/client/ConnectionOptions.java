// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import com.google.protobuf.ByteString;
import io.sidewarp.v1.CrcPreference;
import java.time.Duration;
import java.util.List;

/** Options of a connection, for the side that connects or the side that accepts. Each option has a default. */
public final class ConnectionOptions {

    private static final ConnectionOptions DEFAULTS = builder().build();

    private final io.sidewarp.v1.ConnectionOptions proto;
    private final ByteString privateData;
    private final List<String> allowedPeers;

    private ConnectionOptions(Builder builder) {
        proto = builder.proto.build();
        privateData = builder.privateData;
        allowedPeers = builder.allowedPeers;
    }

    public static ConnectionOptions defaults() {
        return DEFAULTS;
    }

    public static Builder builder() {
        return new Builder();
    }

    io.sidewarp.v1.ConnectionOptions proto() {
        return proto;
    }

    ByteString privateData() {
        return privateData;
    }

    List<String> allowedPeers() {
        return allowedPeers;
    }

    /**
     * Collects options. The contract's ConnectionOptions lists the defaults. The use of a value beyond
     * {@link Session#limits()} fails with RESOURCE_EXHAUSTED. The use of another invalid value fails with
     * INVALID_ARGUMENT.
     */
    public static final class Builder {

        private final io.sidewarp.v1.ConnectionOptions.Builder proto = io.sidewarp.v1.ConnectionOptions.newBuilder();
        private ByteString privateData = ByteString.EMPTY;
        private List<String> allowedPeers = List.of();

        private Builder() {}

        /**
         * Sets the lower layer protocol. The default is TCP to connect, and the listener's protocol to accept.
         */
        public Builder llp(LowerLayerProtocol value) {
            proto.setLlpValue(Protos.number(value));
            return this;
        }

        public Builder protectionDomain(ProtectionDomain value) {
            proto.setProtectionDomain(value.id());
            return this;
        }

        /**
         * Sets the inbound RDMA Read Requests and Atomic Requests that are served at a time, at most
         * {@link SessionLimits#maxIrd()}. Without negotiation, set the peer's ord to the same value.
         */
        public Builder ird(int value) {
            proto.setIrd(value);
            return this;
        }

        /**
         * Sets the outbound RDMA Read Requests and Atomic Requests at a time, at most {@link SessionLimits#maxOrd()}. Without
         * negotiation, the value must not exceed the peer's ird.
         */
        public Builder ord(int value) {
            proto.setOrd(value);
            return this;
        }

        /**
         * Sets the preference for CRCs. True: CRCs, whatever the peer prefers. False: no CRCs if the peer agrees and
         * the administrator allows it.
         */
        public Builder crc(boolean value) {
            proto.setCrc(value ? CrcPreference.CRC_PREFERENCE_ON : CrcPreference.CRC_PREFERENCE_OFF);
            return this;
        }

        /** Requires CRCs. A peer that does not ask for CRCs as well is refused. */
        public Builder requireCrc() {
            proto.setCrc(CrcPreference.CRC_PREFERENCE_REQUIRED);
            return this;
        }

        /** Sets the MPA revisions that the peer may use: 0 (RDMAC peers), 1 and 2. */
        public Builder mpaRevisions(int... revisions) {
            proto.getMpaBuilder().clearRevisions();
            for (int revision : revisions) {
                proto.getMpaBuilder().addRevisions(revision);
            }
            return this;
        }

        /**
         * Sets the MPA revision of a request to connect: 1 or 2. Revision 2 negotiates IRD and ORD, and falls back to
         * 1.
         */
        public Builder mpaRequestRevision(int revision) {
            proto.getMpaBuilder().setRequestRevision(revision);
            return this;
        }

        /**
         * Asks for the peer-to-peer model, in which either side may send first. The model leaves 508 bytes for private
         * data.
         */
        public Builder peerToPeer(boolean value) {
            proto.getMpaBuilder().setPeerToPeer(value);
            return this;
        }

        /** Sets the ready-to-receive indications that this side can send and accept, in order of preference. */
        public Builder readyIndications(ReadyToReceive... kinds) {
            proto.getMpaBuilder().clearReadyIndications();
            for (ReadyToReceive kind : kinds) {
                proto.getMpaBuilder().addReadyIndicationsValue(Protos.number(kind));
            }
            return this;
        }

        /** Sets the way in which both sides tell each other their IRD and ORD. */
        public Builder readDepths(ReadDepthExchange exchange) {
            proto.getMpaBuilder().setReadDepthsValue(Protos.number(exchange));
            return this;
        }

        /** Asks the peer to insert MPA Markers. Linux siw refuses such connections. */
        public Builder receiveMarkers(boolean value) {
            proto.setReceiveMarkers(value);
            return this;
        }

        /**
         * Sets the work requests that can be outstanding on the send queue of the connection: all kinds except
         * receives. At most {@link SessionLimits#maxSendQueue()}; 0 for the sidecar's default.
         */
        public Builder sendQueue(int value) {
            proto.setSendQueue(value);
            return this;
        }

        /**
         * Sets the receives that can be outstanding on the connection, at most {@link SessionLimits#maxReceiveQueue()}; 0 for
         * the sidecar's default.
         */
        public Builder receiveQueue(int value) {
            proto.setReceiveQueue(value);
            return this;
        }

        /**
         * Takes the connection's receives from a shared receive queue. The connection belongs to the same protection
         * domain and has no receive queue of its own: {@link #receiveQueue} cannot be combined with this option.
         */
        public Builder sharedReceives(SharedReceiveQueue queue) {
            proto.setSharedReceiveQueue(queue.id());
            return this;
        }

        /**
         * Sets the upper bound of an FPDU in bytes; 0 for the sidecar's default, which leaves the bound to the path.
         */
        public Builder maxFpdu(int octets) {
            proto.setMaxFpdu(octets);
            return this;
        }

        /** Sets the peer's UDP port where SCTP is encapsulated in UDP. */
        public Builder udpPort(int port) {
            proto.setUdpPort(port);
            return this;
        }

        /**
         * Sets the time limit of the set-up, 1 ms to 1 h. For a listener, the limit applies to the peer's start-up and
         * then to the application's decision. The option has no effect where a request is accepted.
         */
        public Builder timeout(Duration value) {
            proto.setTimeout(Protos.duration(value));
            return this;
        }

        /** Sets the wish for TLS. The default is the sidecar's, or REQUIRED with {@link #allowedPeers}. */
        public Builder security(Security value) {
            proto.setSecurityValue(Protos.number(value));
            return this;
        }

        /**
         * Sets the peers that may connect to a listener, or that connect may reach. TLS verifies the peer before
         * private data is sent, and before a listener's handler is asked. Without this option, connect reaches peers of
         * this side's own namespace. The option has no effect where a request is accepted.
         *
         * @param patterns patterns of SPIFFE IDs, such as {@code spiffe://example.org/ns/shop/sa/cart}, or {@code
         *     ns/shop/sa/*} for the own trust domain
         */
        public Builder allowedPeers(String... patterns) {
            allowedPeers = List.of(patterns);
            return this;
        }

        /**
         * Sets the private data for the peer's application. {@link SessionLimits#maxPrivateData()} is the limit for
         * connect; {@link IncomingConnection#maxPrivateData()} is the limit for accept.
         */
        public Builder privateData(byte[] value) {
            privateData = ByteString.copyFrom(value);
            return this;
        }

        public ConnectionOptions build() {
            return new ConnectionOptions(this);
        }
    }
}
