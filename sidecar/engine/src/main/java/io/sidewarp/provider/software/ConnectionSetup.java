// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.sidewarp.engine.llp.mpa.EnhancedData;
import io.sidewarp.engine.llp.mpa.MpaConnection;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.llp.mpa.MpaStartup;
import io.sidewarp.engine.net.TcpTransport;
import io.sidewarp.engine.rdmap.RdmapStream;
import io.sidewarp.engine.rdmap.StreamSettings;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.Llp;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** What both directions of connection set-up share: limits, options, and the step into RDMA mode. */
abstract class ConnectionSetup {

    /** Of a queue pair that is not connected. */
    static final ConnectionAttributes NO_ATTRIBUTES = new ConnectionAttributes(
            Llp.TCP,
            false,
            InetSocketAddress.createUnresolved("unconnected", 0),
            InetSocketAddress.createUnresolved("unconnected", 0),
            new byte[0],
            0,
            0,
            false,
            false,
            false,
            0,
            0);

    private final SoftwareDevice device;

    ConnectionSetup(SoftwareDevice device) {
        this.device = device;
    }

    SoftwareDevice device() {
        return device;
    }

    /** Ends the set-up at once. On the event loop. */
    abstract void abort();

    /** What is not possible here, or null. */
    static @Nullable ConnectionFailedException check(SoftwareSettings settings, ConnectionParameters parameters) {
        String problem = null;
        if (parameters.llp() != Llp.TCP) {
            problem = "the software provider has no " + parameters.llp() + " here; use TCP";
        } else if (parameters.privateData().length > MpaOptions.MAX_PRIVATE_DATA) {
            problem = "private data of " + parameters.privateData().length + " octets; at most "
                    + MpaOptions.MAX_PRIVATE_DATA + " can be carried";
        } else if (parameters.ird() < 0 || parameters.ird() > settings.maxIrd()) {
            problem = "IRD " + parameters.ird() + " is not in 0.." + settings.maxIrd();
        } else if (parameters.ord() < 0 || parameters.ord() > settings.maxOrd()) {
            problem = "ORD " + parameters.ord() + " is not in 0.." + settings.maxOrd();
        } else if (parameters.maxFpdu() < 0) {
            problem = "an FPDU cap of " + parameters.maxFpdu() + " octets; use 0 for none";
        }
        return problem == null
                ? null
                : new ConnectionFailedException(ConnectionFailedException.Kind.INVALID_PARAMETERS, problem);
    }

    static MpaOptions mpaOptions(ConnectionParameters parameters) {
        return MpaOptions.defaults()
                .withCrc(parameters.crc())
                .withReceiveMarkers(parameters.receiveMarkers())
                .withPrivateData(parameters.privateData().clone())
                .withMaxFpdu(parameters.maxFpdu())
                .withEnhanced(EnhancedData.clientServer(parameters.ird(), parameters.ord()));
    }

    /** Full Operation begins: puts the RDMAP stream on top and tells the queue pair. */
    ConnectionAttributes establish(
            SoftwareQueuePair queuePair,
            MpaConnection mpa,
            TcpTransport transport,
            MpaStartup agreed,
            ConnectionParameters parameters,
            boolean initiator) {
        RdmapStream stream = new RdmapStream(
                mpa,
                new StreamSettings(
                        queuePair.number(),
                        queuePair.protectionDomain(),
                        device.stags(),
                        queuePair.sendQueue(),
                        queuePair.receives(),
                        agreed.ird(parameters.ird()),
                        agreed.ord(parameters.ord()),
                        device.settings().maxShortSegments(),
                        device.atomics(),
                        device.settings().extensions(),
                        queuePair,
                        queuePair));
        mpa.attach(stream);
        ConnectionAttributes attributes = new ConnectionAttributes(
                Llp.TCP,
                initiator,
                transport.localAddress(),
                transport.remoteAddress(),
                agreed.privateData(),
                agreed.ird(parameters.ird()),
                agreed.ord(parameters.ord()),
                agreed.crc(),
                agreed.receiveMarkers(),
                agreed.sendMarkers(),
                agreed.revision(),
                mpa.mulpdu());
        queuePair.onEstablished(stream, attributes);
        return attributes;
    }

    /** The attributes with the segment size of this moment. */
    static ConnectionAttributes withMulpdu(ConnectionAttributes of, int mulpdu) {
        return new ConnectionAttributes(
                of.llp(),
                of.initiator(),
                of.localAddress(),
                of.remoteAddress(),
                of.privateData(),
                of.ird(),
                of.ord(),
                of.crc(),
                of.receiveMarkers(),
                of.sendMarkers(),
                of.mpaRevision(),
                mulpdu);
    }
}
