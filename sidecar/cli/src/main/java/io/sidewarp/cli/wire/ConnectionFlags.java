// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import io.sidewarp.cli.Sidewarp;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.text.Times;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.ListenOptions;
import io.sidewarp.client.LowerLayerProtocol;
import io.sidewarp.client.ReadDepthExchange;
import io.sidewarp.client.ReadyToReceive;
import io.sidewarp.client.Security;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Connection options that several commands have. */
public final class ConnectionFlags {

    /** Reads a size that an FPDU can have. */
    private static final class FpduSize implements ITypeConverter<Integer> {

        @Override
        public Integer convert(String value) {
            long octets = new Sizes().convert(value);
            if (octets > Integer.MAX_VALUE) {
                throw new TypeConversionException("\"" + value + "\" is too large for an FPDU, which has less than 2G");
            }
            return (int) octets;
        }
    }

    @Option(names = "--llp", paramLabel = "tcp|sctp", description = "Lower layer protocol. Default: tcp.")
    private Optional<LowerLayerProtocol> llp = Optional.empty();

    @Option(
            names = "--udp-port",
            paramLabel = "PORT",
            description =
                    "The peer's UDP port, on SCTP. Default: the sidecar's, which is 9899 unless configured otherwise.")
    private Optional<Integer> udpPort = Optional.empty();

    /** Negotiation of IRD and ORD, by the names that users write. */
    private enum ReadDepths {
        ENHANCED,
        PRIVATE_DATA,
        NONE;

        private ReadDepthExchange exchange() {
            return ReadDepthExchange.valueOf(name());
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** Options for CRCs, at most one of them. */
    private static final class Crc {

        @Option(
                names = "--no-crc",
                description = "Use no CRCs. Both sides must ask for this, and both sidecars must permit it.")
        private boolean none;

        @Option(names = "--require-crc", description = "Refuse a peer that does not ask for CRCs too.")
        private boolean required;
    }

    @ArgGroup
    private Crc crc = new Crc();

    @Option(
            names = "--mpa-revision",
            paramLabel = "1|2",
            description = "Revision of MPA to connect with. 2 negotiates IRD and ORD, and falls back to 1. Default: the"
                    + " sidecar's.")
    private Optional<Integer> mpaRevision = Optional.empty();

    @Option(
            names = "--mpa-accept",
            paramLabel = "0|1|2",
            split = ",",
            description = "Revisions of MPA that the peer may use, separated by commas. Default: the sidecar's.")
    private int[] mpaAccept = {};

    @Option(
            names = "--peer-to-peer",
            description = "Connect in the peer-to-peer model of MPA revision 2: either side may send first.")
    private boolean peerToPeer;

    @Option(
            names = "--ready",
            paramLabel = "write|read|send",
            split = ",",
            description = "Ready-to-receive indications of the peer-to-peer model, in order of preference, separated"
                    + " by commas. Default: the sidecar's.")
    private ReadyToReceive[] ready = {};

    @Option(
            names = "--read-depths",
            paramLabel = "enhanced|private-data|none",
            description = "How both sides exchange IRD and ORD. Default: the sidecar's.")
    private Optional<ReadDepths> readDepths = Optional.empty();

    @Option(names = "--markers", description = "Ask the peer for MPA Markers (RFC 5044 section 4.3).")
    private boolean markers;

    @Option(
            names = "--max-fpdu",
            paramLabel = "SIZE",
            defaultValue = "0",
            converter = FpduSize.class,
            description =
                    "Upper bound of an FPDU. Default: the sidecar's, which is what the path allows unless configured"
                            + " otherwise.")
    private int maxFpdu;

    @Option(
            names = "--security",
            paramLabel = "plain|preferred|required",
            description =
                    "TLS with certificates of both sides. Default: required with --allow-peer, else the sidecar's.")
    private Optional<Security> security = Optional.empty();

    @Option(
            names = "--allow-peer",
            paramLabel = "PATTERN",
            split = ",",
            description =
                    "SPIFFE IDs of peers that may connect, or to connect to, such as \"ns/shop/sa/*\", separated by"
                            + " commas. Default: to connect, peers of the same namespace.")
    private String[] allowedPeers = {};

    @Option(
            names = "--connect-timeout",
            paramLabel = "TIME",
            converter = Times.class,
            description = "Time for the set-up of a connection. Default: the sidecar's, which is 10s unless configured"
                    + " otherwise.")
    private Optional<Duration> connectTimeout = Optional.empty();

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    /** Returns how long to try again while nobody listens at the peer. */
    Duration patience() {
        return command.root().userObject() instanceof Sidewarp sidewarp ? sidewarp.patience() : Duration.ZERO;
    }

    /** Returns a builder with these options, for connect or accept. */
    public ConnectionOptions.Builder options() {
        ConnectionOptions.Builder options =
                ConnectionOptions.builder().receiveMarkers(markers).maxFpdu(maxFpdu);
        llp.ifPresent(options::llp);
        connectTimeout.ifPresent(options::timeout);
        udpPort.ifPresent(options::udpPort);
        if (crc.none) {
            options.crc(false);
        }
        if (crc.required) {
            options.requireCrc();
        }
        mpaRevision.ifPresent(options::mpaRequestRevision);
        if (mpaAccept.length > 0) {
            options.mpaRevisions(mpaAccept);
        }
        if (peerToPeer) {
            options.peerToPeer(true);
        }
        if (ready.length > 0) {
            options.readyIndications(ready);
        }
        readDepths.map(ReadDepths::exchange).ifPresent(options::readDepths);
        security.ifPresent(options::security);
        options.allowedPeers(allowedPeers);
        return options;
    }

    /** Returns options for a listener. */
    public ListenOptions listenOptions() {
        return ListenOptions.defaults()
                .withLlp(llp.orElse(LowerLayerProtocol.TCP))
                .withConnections(options().build());
    }
}
