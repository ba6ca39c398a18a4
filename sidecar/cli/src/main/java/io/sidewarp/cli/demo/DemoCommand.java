// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.demo;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.text.ProgressLine;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.wire.Server;
import io.sidewarp.client.LowerLayerProtocol;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code sidewarp demo}. */
@Command(
        name = "demo",
        header = "Move a file between two processes' memory through two sidecars, all on this machine.",
        description = {
            "Starts two sidecars with a Unix socket and a shared volume each, and two processes that share memory with"
                    + " their own sidecar. One writes FILE into the other's memory by RDMA Write, and reads it back by"
                    + " RDMA Read. Everything is removed at the end.",
            ""
        })
public final class DemoCommand implements Callable<Integer> {

    private static final String JAR_BELOW_ROOT = "sidecar/service/target/quarkus-app/quarkus-run.jar";
    private static final long PATIENCE_SECONDS = 120;
    private static final long MOVE_PATIENCE_SECONDS = 24 * 3600;

    @Spec
    private CommandSpec spec;

    @Parameters(
            arity = "0..1",
            paramLabel = "FILE",
            description = "File to move. Default: generated data, the same in each run.")
    private Optional<Path> file = Optional.empty();

    @Option(
            names = "--size",
            paramLabel = "SIZE",
            defaultValue = "1G",
            converter = Sizes.class,
            description = "Bytes of generated data (default: ${DEFAULT-VALUE}).")
    private long size;

    @Option(
            names = "--window",
            paramLabel = "SIZE",
            defaultValue = "0",
            converter = Sizes.class,
            description = "Bytes of shared memory at each side. Default: the size of the file, if there is room.")
    private long window;

    @Option(
            names = "--llp",
            paramLabel = "tcp|sctp",
            defaultValue = "tcp",
            description = "Lower layer protocol (default: ${DEFAULT-VALUE}). sctp needs the library libusrsctp2.")
    private LowerLayerProtocol llp = LowerLayerProtocol.TCP;

    @Option(
            names = "--secure",
            description =
                    "Give each sidecar an identity, and let the sidecars use TLS and check each other's certificate."
                            + " Needs --llp tcp.")
    private boolean secure;

    @Option(
            names = "--dir",
            paramLabel = "DIR",
            description = "Directory for the shared volumes. Default: /dev/shm if there is room, else the temporary"
                    + " directory.")
    private Optional<Path> base = Optional.empty();

    @Option(
            names = "--service-jar",
            paramLabel = "FILE",
            description = "The sidecar's quarkus-run.jar. Default: the environment's SIDEWARP_SERVICE_JAR, or where the"
                    + " build below SIDEWARP_ROOT puts it.")
    private Optional<Path> serviceJar = Optional.empty();

    @Override
    public Integer call() throws IOException {
        long octets = file.isPresent() ? sizeOf(file.get()) : size;
        if (octets < 1) {
            throw new Failure(ExitCode.USAGE, "there is nothing to move: the file or --size is empty");
        }
        if (secure && llp != LowerLayerProtocol.TCP) {
            throw new Failure(ExitCode.USAGE, "--secure needs --llp tcp: there is no TLS on SCTP");
        }
        Path place = base.isPresent() ? base.get() : VolumeSpace.directory();
        long region = window > 0 ? Math.min(window, octets) : VolumeSpace.window(place, octets);
        PrintWriter out = spec.commandLine().getOut();
        try (ProgressLine progress = ProgressLine.onTerminal()) {
            progress.update("starting two sidecars");
            try (DemoSidecars rig = DemoSidecars.start(place, serviceJar(), secure);
                    DemoProcess receiver = startReceiver(rig)) {
                String address = receiver.awaitListening(PATIENCE_SECONDS);
                try (DemoProcess sender = startSender(rig, address, octets, region)) {
                    ProcessFacts sent = new ProcessFacts();
                    sender.untilEnd(line -> take(line, sent, progress), MOVE_PATIENCE_SECONDS);
                    awaitEnd(sender);
                    ProcessFacts received = receiver.facts("sends.received", PATIENCE_SECONDS);
                    progress.clear();
                    DemoReport report = new DemoReport(octets, region, sent, received);
                    out.print(report.text(
                            rig, sender.process().pid(), receiver.process().pid(), file));
                    out.flush();
                    if (!report.same()) {
                        throw new Failure(ExitCode.FAILED, "the SHA-256 differ: data corruption");
                    }
                }
            }
        }
        return ExitCode.OK;
    }

    private static long sizeOf(Path path) throws IOException {
        if (!Files.isRegularFile(path)) {
            throw new Failure(ExitCode.NO_INPUT, "there is no file " + path);
        }
        return Files.size(path);
    }

    private DemoProcess startReceiver(DemoSidecars rig) {
        List<String> arguments = new ArrayList<>(rig.right().arguments());
        arguments.addAll(List.of("demo-receiver", "--llp=" + llp));
        return DemoProcess.self("the receiver", arguments, rig.log("receiver"));
    }

    private DemoProcess startSender(DemoSidecars rig, String receiver, long octets, long region) {
        List<String> arguments = new ArrayList<>(rig.left().arguments());
        String[] address = receiver.split(Server.UDP_PORT, 2);
        arguments.addAll(List.of("demo-sender", address[0], "--window=" + region, "--llp=" + llp));
        if (address.length > 1) {
            arguments.add("--udp-port=" + address[1]);
        }
        arguments.add(file.isPresent() ? "--file=" + file.get().toAbsolutePath() : "--size=" + octets);
        return DemoProcess.self("the sender", arguments, rig.log("sender"));
    }

    private static void take(String line, ProcessFacts facts, ProgressLine progress) {
        facts.add(line);
        if (line.startsWith(ProcessFacts.PROGRESS + "=")) {
            progress.update(facts.text(ProcessFacts.PROGRESS));
        }
    }

    private static void awaitEnd(DemoProcess sender) {
        try {
            if (sender.process().waitFor() != ExitCode.OK) {
                throw sender.failure("failed:");
            }
        } catch (InterruptedException e) {
            throw Failure.interrupted();
        }
    }

    /** @throws Failure when neither the option nor the environment names the sidecar's program */
    private Path serviceJar() {
        return serviceJar
                .or(() -> environment("SIDEWARP_SERVICE_JAR"))
                .or(() -> environment("SIDEWARP_ROOT").map(root -> root.resolve(JAR_BELOW_ROOT)))
                .orElseThrow(() -> new Failure(
                        ExitCode.CONFIGURATION,
                        "the sidecar's quarkus-run.jar is not known: run ./sidewarp demo, or give --service-jar FILE"));
    }

    private static Optional<Path> environment(String name) {
        return Optional.ofNullable(System.getenv(name))
                .filter(value -> !value.isEmpty())
                .map(Path::of);
    }
}
