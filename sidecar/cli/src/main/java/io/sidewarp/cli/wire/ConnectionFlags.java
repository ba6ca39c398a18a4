// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import io.sidewarp.cli.Sidewarp;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.text.Times;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.ListenOptions;
import io.sidewarp.v1.Llp;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Options about the connection that several commands have. */
public final class ConnectionFlags {

    /** Lower layer protocols by the names that users write. */
    private enum LowerLayer {
        TCP(Llp.LLP_TCP),
        SCTP(Llp.LLP_SCTP);

        private final Llp llp;

        LowerLayer(Llp llp) {
            this.llp = llp;
        }
    }

    @Option(
            names = "--llp",
            paramLabel = "tcp|sctp",
            description = "Lower layer protocol. Default: the sidecar's, which is tcp unless configured otherwise.")
    private Optional<LowerLayer> lowerLayer = Optional.empty();

    @Option(
            names = "--no-crc",
            description = "Ask for no CRCs. Both sides must want it, and both sidecars' configurations permit it.")
    private boolean noCrc;

    @Option(names = "--markers", description = "Ask the peer for MPA Markers (RFC 5044 section 4.3).")
    private boolean markers;

    @Option(
            names = "--max-fpdu",
            paramLabel = "SIZE",
            defaultValue = "0",
            converter = Sizes.class,
            description = "Upper bound of an FPDU. Default: what the path allows.")
    private long maxFpdu;

    @Option(
            names = "--connect-timeout",
            paramLabel = "TIME",
            defaultValue = "10s",
            converter = Times.class,
            description = "Time for the set-up of a connection (default: ${DEFAULT-VALUE}).")
    private Duration connectTimeout = Duration.ofSeconds(10);

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    /** How long to try again while nobody listens at the peer. */
    Duration patience() {
        return command.root().userObject() instanceof Sidewarp sidewarp ? sidewarp.patience() : Duration.ZERO;
    }

    /** Options to begin with, for connect or accept. */
    public ConnectionOptions.Builder options() {
        ConnectionOptions.Builder options = ConnectionOptions.builder()
                .llp(llp())
                .receiveMarkers(markers)
                .maxFpdu(Math.toIntExact(maxFpdu))
                .timeout(connectTimeout);
        return noCrc ? options.crc(false) : options;
    }

    /** For a listener. */
    public ListenOptions listenOptions() {
        return ListenOptions.defaults().withLlp(llp());
    }

    private Llp llp() {
        return lowerLayer.map(layer -> layer.llp).orElse(Llp.LLP_UNSPECIFIED);
    }
}
