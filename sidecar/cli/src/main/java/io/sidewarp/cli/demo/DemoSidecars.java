// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.demo;

import io.grpc.Status;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.Interruption;
import io.sidewarp.cli.identity.Authority;
import io.sidewarp.client.ClientOptions;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.common.FailureText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Two sidecars with a socket and a shared volume each, in a directory that is removed at the end. */
final class DemoSidecars implements AutoCloseable {

    private static final Duration START_PATIENCE = Duration.ofSeconds(60);
    private static final Duration START_STEP = Duration.ofMillis(200);

    /** Names of the sidecars with --secure. */
    private static final String SENDER = "ns/demo/sa/sender";

    private static final String RECEIVER = "ns/demo/sa/receiver";
    private static final Duration CERTIFICATE_LIFETIME = Duration.ofDays(2);

    private final Path directory;

    /** The side of the sender, and the side of the receiver. */
    private final List<Side> sides = new ArrayList<>();

    /** A sidecar and its directory. */
    record Side(DemoProcess sidecar, Path directory) {

        /** Returns the target for --api. */
        String api() {
            return "unix://" + directory.resolve("api.sock");
        }

        /** Returns the directory for --volume. */
        Path volume() {
            return directory.resolve("shared");
        }

        /** Returns arguments for a command of this program that uses this side. */
        List<String> arguments() {
            return List.of("--api", api(), "--volume", volume().toString());
        }

        ClientOptions clientOptions() {
            return ClientOptions.defaults().withTarget(api()).withSharedVolume(volume());
        }
    }

    private DemoSidecars(Path directory) {
        this.directory = directory;
    }

    /**
     * Starts both sidecars and waits until they serve.
     *
     * @param base parent of the new directory
     * @param jar the sidecar's jar
     * @param secure whether the sidecars get identities, and must use TLS
     */
    static DemoSidecars start(Path base, Path jar, boolean secure) throws IOException {
        if (!Files.isReadable(jar)) {
            throw new Failure(
                    ExitCode.CONFIGURATION,
                    "there is no sidecar at " + jar
                            + ": build it (./sidewarp build), or name its quarkus-run.jar with --service-jar");
        }
        // Sidecars and socket addresses need absolute, short paths.
        DemoSidecars rig = new DemoSidecars(Files.createTempDirectory(base.toRealPath(), "sidewarp-demo-"));
        try {
            rig.sides.add(rig.startSide("a", jar, secure ? rig.identity(SENDER) : Map.of()));
            rig.sides.add(rig.startSide("b", jar, secure ? rig.identity(RECEIVER) : Map.of()));
            rig.sides.forEach(DemoSidecars::awaitReady);
            return rig;
        } catch (IOException | RuntimeException e) {
            rig.close();
            throw e;
        }
    }

    /** Returns the side of the sender. */
    Side left() {
        return sides.getFirst();
    }

    /** Returns the side of the receiver. */
    Side right() {
        return sides.getLast();
    }

    /** Returns a file for a program's output. */
    Path log(String name) {
        return directory.resolve(name + ".log");
    }

    @Override
    public void close() {
        sides.forEach(side -> side.sidecar().process().destroy());
        sides.forEach(side -> side.sidecar().close());
        try {
            delete(directory);
        } catch (IOException e) {
            throw new Failure(ExitCode.IO_ERROR, "cannot remove " + directory + ": " + FailureText.withFile(e), e);
        }
    }

    /** Issues a certificate, and returns the settings of a sidecar that uses it. */
    private Map<String, String> identity(String name) throws IOException {
        Authority authority = Authority.open(directory.resolve("certs"), Optional.empty());
        Authority.Issued issued = authority.issue(name, CERTIFICATE_LIFETIME);
        return Map.of(
                "SIDEWARP_IDENTITY_SOURCE",
                "files",
                "SIDEWARP_IDENTITY_DIRECTORY",
                issued.directory().toString(),
                "SIDEWARP_CONNECTION_SECURITY",
                "required",
                "SIDEWARP_CONNECTION_PEERS",
                name.equals(SENDER) ? RECEIVER : SENDER);
    }

    private Side startSide(String name, Path jar, Map<String, String> identity) throws IOException {
        Path own = Files.createDirectory(directory.resolve(name));
        Path volume = Files.createDirectory(own.resolve("shared"));
        Map<String, String> environment = new HashMap<>(identity);
        environment.putAll(Map.of(
                "SIDEWARP_API_SOCKET",
                own.resolve("api.sock").toString(),
                "SIDEWARP_SHARED_VOLUME",
                volume.toString(),
                "SIDEWARP_ADVANCED_MANAGEMENT_ENABLED",
                "false",
                // Two sidecars on one machine cannot both use the registered port.
                "SIDEWARP_SCTP_UDP_PORT",
                "0",
                "QUARKUS_OTEL_SDK_DISABLED",
                "true"));
        return new Side(DemoProcess.sidecar("sidecar " + name, jar, environment, log("sidecar-" + name)), own);
    }

    private static void awaitReady(Side side) {
        long end = System.nanoTime() + START_PATIENCE.toNanos();
        try (SidewarpClient client = SidewarpClient.connect(side.clientOptions())) {
            while (true) {
                Interruption.check();
                if (!side.sidecar().process().isAlive()) {
                    throw side.sidecar().failure("ended while it started:");
                }
                try {
                    client.awaitReady(START_STEP);
                    return;
                } catch (SidewarpException e) {
                    if (e.code() != Status.Code.DEADLINE_EXCEEDED || System.nanoTime() > end) {
                        throw side.sidecar().failure("is not ready: " + e.getMessage());
                    }
                }
            }
        }
    }

    private static void delete(Path tree) throws IOException {
        try (Stream<Path> paths = Files.walk(tree)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }
}
