// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.demo;

import io.grpc.Status;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.Interruption;
import io.sidewarp.client.ClientOptions;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SidewarpException;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Two sidecars with a socket and a shared volume each, in a directory that is removed at the end. */
final class DemoSidecars implements AutoCloseable {

    private static final Duration START_PATIENCE = Duration.ofSeconds(60);
    private static final Duration START_STEP = Duration.ofMillis(200);

    private final Path directory;
    private @Nullable Side left;
    private @Nullable Side right;

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
     */
    static DemoSidecars start(Path base, Path jar) throws IOException {
        if (!Files.isReadable(jar)) {
            throw new Failure(
                    ExitCode.CONFIGURATION,
                    "there is no sidecar at " + jar
                            + ": build it (./sidewarp build), or name its quarkus-run.jar with --service-jar");
        }
        // Sidecars and socket addresses need absolute, short paths.
        DemoSidecars rig = new DemoSidecars(Files.createTempDirectory(base.toRealPath(), "sidewarp-demo-"));
        try {
            rig.left = rig.startSide("a", jar);
            rig.right = rig.startSide("b", jar);
            awaitReady(rig.left());
            awaitReady(rig.right());
            return rig;
        } catch (IOException | RuntimeException e) {
            rig.close();
            throw e;
        }
    }

    Path directory() {
        return directory;
    }

    /** Returns the side of the sender. */
    Side left() {
        return started(left);
    }

    /** Returns the side of the receiver. */
    Side right() {
        return started(right);
    }

    /** Returns a file for a program's output. */
    Path log(String name) {
        return directory.resolve(name + ".log");
    }

    @Override
    public void close() {
        if (left != null) {
            left.sidecar().process().destroy();
        }
        if (right != null) {
            right.sidecar().close();
        }
        if (left != null) {
            left.sidecar().close();
        }
        try {
            delete(directory);
        } catch (IOException e) {
            throw new Failure(ExitCode.IO_ERROR, "cannot remove " + directory + ": " + e.getMessage(), e);
        }
    }

    private static Side started(@Nullable Side side) {
        if (side == null) {
            throw new IllegalStateException("the sidecars were not started");
        }
        return side;
    }

    private Side startSide(String name, Path jar) throws IOException {
        Path own = Files.createDirectory(directory.resolve(name));
        Path volume = Files.createDirectory(own.resolve("shared"));
        Map<String, String> environment = Map.of(
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
                "true");
        return new Side(DemoProcess.sidecar("sidecar " + name, jar, environment, log("sidecar-" + name)), own);
    }

    private static void awaitReady(Side side) {
        long end = System.nanoTime() + START_PATIENCE.toNanos();
        try (SidewarpClient client = SidewarpClient.connect(side.clientOptions())) {
            while (true) {
                Interruption.check();
                if (!side.sidecar().isAlive()) {
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
        Files.walkFileTree(tree, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException failure) throws IOException {
                Files.deleteIfExists(visited);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
