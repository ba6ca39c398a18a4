// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import com.google.protobuf.ByteString;
import io.sidewarp.v1.CrcPreference;
import io.sidewarp.v1.Llp;
import io.sidewarp.v1.ReadDepthNegotiation;
import io.sidewarp.v1.ReadyIndication;
import java.time.Duration;
import java.util.List;

/** What is asked of a connection, by the side that connects or the side that accepts. Everything has a default. */
public final class ConnectionOptions {

    private static final ConnectionOptions DEFAULTS = builder().build();

    private final io.sidewarp.v1.ConnectionOptions proto;
    private final ByteString privateData;

    private ConnectionOptions(Builder builder) {
        proto = builder.proto.build();
        privateData = builder.privateData;
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

    /**
     * Collects options; see the contract's ConnectionOptions for what the defaults are. What is beyond {@link
     * Session#limits()} fails with RESOURCE_EXHAUSTED where the options are used, and other values that cannot be with
     * INVALID_ARGUMENT.
     */
    public static final class Builder {

        private final io.sidewarp.v1.ConnectionOptions.Builder proto = io.sidewarp.v1.ConnectionOptions.newBuilder();
        private ByteString privateData = ByteString.EMPTY;

        private Builder() {}

        public Builder llp(Llp value) {
            proto.setLlp(value);
            return this;
        }

        public Builder protectionDomain(ProtectionDomain value) {
            proto.setProtectionDomain(value.id());
            return this;
        }

        /**
         * Inbound RDMA Read Requests and Atomic Requests that are served at a time, at most {@code Limits.max_ird}. Without
         * negotiation the peer's ord should be the same.
         */
        public Builder ird(int value) {
            proto.setIrd(value);
            return this;
        }

        /**
         * Outbound RDMA Read Requests and Atomic Requests at a time, at most {@code Limits.max_ord}. Without negotiation it
         * must not exceed the peer's ird.
         */
        public Builder ord(int value) {
            proto.setOrd(value);
            return this;
        }

        /** True: CRCs whatever the peer prefers. False: none if the peer agrees and the administrator allows it. */
        public Builder crc(boolean value) {
            proto.setCrc(value ? CrcPreference.CRC_PREFERENCE_ON : CrcPreference.CRC_PREFERENCE_OFF);
            return this;
        }

        /** CRCs, and no connection with a peer that does not ask for them too. */
        public Builder requireCrc() {
            proto.setCrc(CrcPreference.CRC_PREFERENCE_REQUIRED);
            return this;
        }

        /** MPA revisions that the peer may use: 0 (RDMAC peers), 1 and 2. */
        public Builder mpaRevisions(int... revisions) {
            proto.getMpaBuilder().clearRevisions();
            for (int revision : revisions) {
                proto.getMpaBuilder().addRevisions(revision);
            }
            return this;
        }

        /** MPA revision of a request to connect: 1, or 2, which negotiates IRD and ORD and falls back to 1. */
        public Builder mpaRequestRevision(int revision) {
            proto.getMpaBuilder().setRequestRevision(revision);
            return this;
        }

        /** Ask for the peer-to-peer model, in which either side may send first. It leaves 508 octets for private data. */
        public Builder peerToPeer(boolean value) {
            proto.getMpaBuilder().setPeerToPeer(value);
            return this;
        }

        /** Ready-to-receive indications that this side can send and take, the one it likes best first. */
        public Builder readyIndications(ReadyIndication... kinds) {
            proto.getMpaBuilder().clearReadyIndications().addAllReadyIndications(List.of(kinds));
            return this;
        }

        /** How both sides tell each other their IRD and ORD. */
        public Builder readDepths(ReadDepthNegotiation negotiation) {
            proto.getMpaBuilder().setReadDepths(negotiation);
            return this;
        }

        /** Ask the peer to insert MPA Markers. Linux siw refuses such connections. */
        public Builder receiveMarkers(boolean value) {
            proto.setReceiveMarkers(value);
            return this;
        }

        /**
         * Work requests that can be outstanding on the send queue of the connection, all kinds but receives: at most
         * {@code Limits.max_send_queue}, 0 for the sidecar's default.
         */
        public Builder sendQueue(int value) {
            proto.setSendQueue(value);
            return this;
        }

        /**
         * Receives that can be outstanding on the connection, at most {@code Limits.max_receive_queue}; 0 for the sidecar's
         * default.
         */
        public Builder receiveQueue(int value) {
            proto.setReceiveQueue(value);
            return this;
        }

        /**
         * Messages take their receives from there. The connection is of the same protection domain and has no receives of
         * its own: {@link #receiveQueue} does not go with it.
         */
        public Builder sharedReceives(SharedReceiveQueue queue) {
            proto.setSharedReceiveQueue(queue.id());
            return this;
        }

        /** Upper bound of an FPDU in octets; 0 for the sidecar's default, which is none but the path's. */
        public Builder maxFpdu(int octets) {
            proto.setMaxFpdu(octets);
            return this;
        }

        /** The peer's UDP port, where SCTP is encapsulated in UDP. */
        public Builder udpPort(int port) {
            proto.setUdpPort(port);
            return this;
        }

        /**
         * Time for the set-up, 1 ms to 1 h. Of a listener: that a peer has for its start-up, and the application then for its
         * decision. It has no effect where a request is accepted.
         */
        public Builder timeout(Duration value) {
            proto.setTimeout(Protos.duration(value));
            return this;
        }

        /**
         * For the peer's application: see Limits.max_private_data for how much, and where a request is accepted
         * ConnectionRequest.max_private_data.
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
