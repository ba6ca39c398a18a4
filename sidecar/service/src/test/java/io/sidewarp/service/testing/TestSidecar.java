// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.testing;

import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.unix.DomainSocketAddress;
import io.quarkus.runtime.configuration.DurationConverter;
import io.sidewarp.service.lifecycle.Sidecar;
import io.sidewarp.settings.SidewarpConfig;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A sidecar in this process, with its own socket and volume in a directory of its own. */
public final class TestSidecar implements AutoCloseable {

    private static final EpollEventLoopGroup CLIENT_LOOPS = new EpollEventLoopGroup(1);

    private final Path directory;
    private final Sidecar sidecar;

    private TestSidecar(Path directory, Sidecar sidecar) {
        this.directory = directory;
        this.sidecar = sidecar;
    }

    /** @param settings name, value, name, value ... */
    public static TestSidecar start(String... settings) {
        return start(Map.of(), settings);
    }

    /** @param telemetry properties of the OpenTelemetry SDK */
    public static TestSidecar start(Map<String, String> telemetry, String... settings) {
        Path directory = newDirectory();
        try {
            return new TestSidecar(directory, Sidecar.start(config(directory, settings), "test", telemetry));
        } catch (RuntimeException e) {
            delete(directory);
            throw e;
        }
    }

    /** A new directory on a memory file system. */
    public static Path newDirectory() {
        try {
            return Files.createTempDirectory(Path.of("/dev/shm"), "sw");
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Settings for a sidecar in the directory, which wants to be gone at once when it is closed. */
    public static SidewarpConfig config(Path directory, String... settings) {
        Map<String, String> values = new HashMap<>();
        values.put("sidewarp.api.socket", directory.resolve("api.sock").toString());
        values.put("sidewarp.shared-volume", directory.resolve("shared").toString());
        values.put("sidewarp.management.port", "0");
        values.put("sidewarp.drain-timeout", "0s");
        for (int i = 0; i < settings.length; i += 2) {
            values.put(settings[i], settings[i + 1]);
        }
        return new SmallRyeConfigBuilder()
                .addDefaultInterceptors()
                .withMapping(SidewarpConfig.class)
                .withConverter(Duration.class, 200, new DurationConverter())
                .withSources(new PropertiesConfigSource(values, "test", 100))
                .build()
                .getConfigMapping(SidewarpConfig.class);
    }

    public Sidecar sidecar() {
        return sidecar;
    }

    public Path socket() {
        return directory.resolve("api.sock");
    }

    public Path sharedVolume() {
        return directory.resolve("shared");
    }

    /** A new connection to the API. */
    public ManagedChannel channel() {
        return channel(socket());
    }

    /** A new connection to the API, where a call takes so many octets of responses that its client has not read. */
    public ManagedChannel channel(int window) {
        return builder(socket()).flowControlWindow(window).build();
    }

    /** A new connection to an API. */
    public static ManagedChannel channel(Path socket) {
        return builder(socket).build();
    }

    private static NettyChannelBuilder builder(Path socket) {
        return NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
                .channelType(EpollDomainSocketChannel.class)
                .eventLoopGroup(CLIENT_LOOPS)
                .usePlaintext();
    }

    /** A new session over a new connection. */
    public TestSession session() {
        return session("test");
    }

    public TestSession session(String name) {
        return new TestSession(channel(), name);
    }

    /** Returns the answer of the management listener. */
    public String get(String path) {
        return Http.get(sidecar.managementAddress().orElseThrow(), path).body();
    }

    @Override
    public void close() {
        sidecar.close();
        delete(directory);
    }

    /** Removes a directory and what is in it. */
    public static void delete(Path directory) {
        try (var files = Files.walk(directory)) {
            files.sorted(java.util.Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Ends a channel. */
    public static void close(ManagedChannel channel) {
        channel.shutdownNow();
        try {
            channel.awaitTermination(5, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
