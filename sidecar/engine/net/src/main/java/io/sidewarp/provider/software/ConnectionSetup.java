// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.sidewarp.engine.llp.EnhancedData;
import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.llp.UpperLayer;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.llp.mpa.MpaStartup;
import io.sidewarp.engine.net.TcpTransport;
import io.sidewarp.engine.rdmap.RdmapStream;
import io.sidewarp.engine.rdmap.StreamSettings;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionFailedException.Kind;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.CrcPolicy;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.LlpError;
import io.sidewarp.engine.verbs.ReadDepths;
import io.sidewarp.engine.verbs.SecurityPolicy;
import io.sidewarp.engine.verbs.TlsAttributes;
import java.net.InetSocketAddress;
import java.util.OptionalInt;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Common parts of set-up in both directions and on all lower layers: limits, options, and the step into RDMA mode. */
public abstract class ConnectionSetup {

    private final SoftwareDevice device;

    protected ConnectionSetup(SoftwareDevice device) {
        this.device = device;
    }

    protected final SoftwareDevice device() {
        return device;
    }

    /** Ends the set-up at once. Runs on the event loop. */
    protected abstract void abort();

    /** Returns why these parameters are not possible here, or null. */
    static @Nullable ConnectionFailedException check(SoftwareSettings settings, ConnectionParameters parameters) {
        String problem = null;
        if (parameters.ird() < 0 || parameters.ird() > maxDepth(settings.maxIrd())) {
            problem = "IRD " + parameters.ird() + " is not in 0.." + maxDepth(settings.maxIrd());
        } else if (parameters.ord() < 0 || parameters.ord() > maxDepth(settings.maxOrd())) {
            problem = "ORD " + parameters.ord() + " is not in 0.." + maxDepth(settings.maxOrd());
        }
        return problem == null ? null : new ConnectionFailedException(Kind.INVALID_PARAMETERS, problem);
    }

    /** Returns why private data does not fit into the room of a start-up message, or null if it fits. */
    static @Nullable ConnectionFailedException checkPrivateData(byte[] privateData, int room) {
        return privateData.length <= room
                ? null
                : new ConnectionFailedException(
                        Kind.INVALID_PARAMETERS,
                        "private data of " + privateData.length + " bytes; at most " + room
                                + " can be carried in this start-up");
    }

    /** Returns the failure of start-up with the peer. A lost connection carries no error of the lower layer. */
    static ConnectionFailedException startupFailure(InetSocketAddress remote, LlpError reason, String message) {
        String text = "start-up with " + remote + " failed: " + message;
        return reason == LlpError.CONNECTION_LOST
                ? new ConnectionFailedException(Kind.PROTOCOL, text)
                : new ConnectionFailedException(reason, text);
    }

    /** Converts checked parameters into options of start-up. */
    protected static MpaOptions options(ConnectionParameters parameters) {
        return MpaOptions.defaults()
                .withPolicy(parameters.mpa())
                .withDepths(parameters.ird(), parameters.ord())
                .withPrivateData(parameters.privateData().clone());
    }

    /** Returns the options for a connection with TLS. */
    static MpaOptions inTls(MpaOptions options, SecurityPolicy policy) {
        boolean crcOff = policy.tlsReplacesCrc() && options.policy().crc() == CrcPolicy.PREFERRED;
        return crcOff ? options.with(mpa -> mpa.withCrc(CrcPolicy.REFUSED)) : options;
    }

    /** Limits a depth of this device to the maximum that can be negotiated. */
    static int maxDepth(int depth) {
        return Math.min(depth, MpaOptions.MAX_DEPTH);
    }

    /** Returns the failure of a set-up because of a fault on this side. */
    static ConnectionFailedException failureHere(InetSocketAddress remote, Throwable fault) {
        return new ConnectionFailedException(
                Kind.INTERNAL, "the connection with " + remote + " failed on this side: " + fault, fault);
    }

    /** Returns the depths that the peer stated, if any. */
    protected static ReadDepths depths(@Nullable EnhancedData peer) {
        return peer == null ? ReadDepths.UNKNOWN : new ReadDepths(depth(peer.ird()), depth(peer.ord()));
    }

    /** Returns the attributes of a connection over TCP, whose start-up is complete. */
    static ConnectionAttributes attributes(
            TcpTransport transport, MpaStartup agreed, RdmapStream stream, boolean initiator) {
        return new ConnectionAttributes(
                Llp.TCP,
                initiator,
                transport.localAddress(),
                transport.remoteAddress(),
                agreed.privateData(),
                agreed.ird(),
                agreed.ord(),
                depths(agreed.peer()),
                agreed.peerToPeer(),
                agreed.crc(),
                agreed.receiveMarkers(),
                agreed.sendMarkers(),
                agreed.revision(),
                agreed.protocolVersion(),
                stream.mulpdu(),
                0,
                0,
                transport.tlsAttributes());
    }

    private static OptionalInt depth(int told) {
        return told == EnhancedData.NOT_NEGOTIATED ? OptionalInt.empty() : OptionalInt.of(told);
    }

    /** Explains why the active side cannot use the passive side's answer (RFC 6581 section 9). */
    static String refusal(LlpError error, @Nullable EnhancedData peer) {
        return switch (error) {
            case INSUFFICIENT_IRD ->
                "the peer wants " + depths(peer).ord().orElse(0)
                        + " RDMA Reads at a time, more than this side serves; raise the IRD, or lower the peer's ORD";
            case NO_MATCHING_RTR ->
                "the peer offers no ready-to-receive indication that this side can send; permit more kinds, or the"
                        + " client-server model";
            case LOCAL_CATASTROPHIC -> "the peer does not declare CRCs (C=0), which are required here";
            default -> error.description();
        };
    }

    /** Puts the RDMAP stream on top of a lower layer that is ready, without TLS. */
    protected final RdmapStream attachStream(
            SoftwareQueuePair queuePair, LowerLayer lower, int ird, int ord, Consumer<UpperLayer> attach) {
        return attachStream(queuePair, lower, null, ird, ord, attach);
    }

    /** Puts the RDMAP stream on top of a lower layer that is ready. */
    final RdmapStream attachStream(
            SoftwareQueuePair queuePair,
            LowerLayer lower,
            @Nullable TlsAttributes tls,
            int ird,
            int ord,
            Consumer<UpperLayer> attach) {
        if (tls != null) {
            queuePair.setPeer(tls.peer().id().toString());
        }
        RdmapStream stream = device.streamMaker()
                .apply(
                        lower,
                        new StreamSettings(
                                queuePair.regionUser(),
                                device.stags(),
                                queuePair.sendQueue(),
                                queuePair.receives(),
                                ird,
                                ord,
                                device.settings().maxShortSegments(),
                                device.atomics(),
                                device.settings().extensions(),
                                queuePair,
                                queuePair));
        attach.accept(stream);
        return stream;
    }
}
