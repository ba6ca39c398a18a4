// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import io.sidewarp.client.ClientOptions;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SidewarpException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The packaged sidecar as a process with its own socket and shared volume, run as `./sidewarp sidecar` runs it. Uses
 * free ports.
 */
public final class SidecarProcess implements AutoCloseable {

    private static final Pattern MANAGEMENT = Pattern.compile(" management=/?(\\S+)");

    private final OwnedProcess process;
    private final Path directory;
    private final Path volume;

    private SidecarProcess(OwnedProcess process, Path directory, Path volume) {
        this.process = process;
        this.directory = directory;
        this.volume = volume;
    }

    /** A sidecar that serves, with defaults. */
    public static SidecarProcess start(String name) {
        return with(name).start();
    }

    public static Builder with(String name) {
        return new Builder(name);
    }

    /** Settings of a sidecar to start. */
    public static final class Builder {

        private final String name;
        private final Map<String, String> properties = new LinkedHashMap<>();
        private final Map<String, String> environment = new LinkedHashMap<>();
        private final List<String> jvmFlags = new ArrayList<>();
        private final List<String> prefix = new ArrayList<>();

        private Builder(String name) {
            this.name = name;
            set("sidewarp.management.port", "0");
        }

        /** A setting of the sidecar. */
        public Builder set(String property, String value) {
            properties.put(property, value);
            return this;
        }

        /** Variables of the environment. A setting by {@link #set} wins. */
        public Builder environment(Map<String, String> variables) {
            environment.putAll(variables);
            return this;
        }

        /** Allows connections without CRCs, with the reason that has to be given for it. */
        public Builder allowCrcOff() {
            return set("sidewarp.connection.allow-crc-off", "true")
                    .set("sidewarp.connection.integrity-protection", "loopback of a test");
        }

        public Builder jvmFlags(List<String> flags) {
            jvmFlags.addAll(flags);
            return this;
        }

        /** A command that runs the sidecar's own, for example in a network namespace. */
        public Builder prefix(List<String> command) {
            prefix.addAll(command);
            return this;
        }

        /** Starts it and waits until it says that it serves. */
        public SidecarProcess start() {
            SidecarProcess sidecar = launch();
            try {
                sidecar.awaitServing();
                return sidecar;
            } catch (RuntimeException | Error e) {
                sidecar.close();
                throw e;
            }
        }

        /** Starts it and does not wait. */
        public SidecarProcess launch() {
            Path directory = Directories.temporary(name);
            Path volume = Directories.inMemory(name);
            List<String> command = new ArrayList<>(prefix);
            command.add(Programs.java());
            command.addAll(Programs.jvmFlags());
            command.addAll(Programs.sidecarFlags());
            command.addAll(jvmFlags);
            Map<String, String> all = new LinkedHashMap<>();
            all.put("sidewarp.api.socket", directory.resolve("api.sock").toString());
            all.put("sidewarp.shared-volume", volume.toString());
            all.putAll(properties);
            all.forEach((property, value) -> command.add("-D" + property + "=" + value));
            command.add("-jar");
            command.add(Programs.serviceJar().toString());
            return new SidecarProcess(
                    OwnedProcess.start("sidecar-" + name, command, environment, directory), directory, volume);
        }
    }

    private void awaitServing() {
        try (SidewarpClient client = client()) {
            Patience.await("the sidecar serves").until(() -> {
                if (!process.isAlive()) {
                    throw new IllegalStateException("the sidecar ended:\n" + process.text());
                }
                try {
                    client.awaitReady(Duration.ofSeconds(1));
                    return true;
                } catch (SidewarpException e) {
                    return false;
                }
            });
        }
    }

    /** The API's Unix socket. */
    public Path socket() {
        return directory.resolve("api.sock");
    }

    /** The API's address for clients. */
    public String target() {
        return "unix://" + socket();
    }

    /** The shared volume, which is at the same path for the sidecar and for clients. */
    public Path volume() {
        return volume;
    }

    public ClientOptions clientOptions() {
        return ClientOptions.defaults().withTarget(target()).withSharedVolume(volume);
    }

    /** A client of this sidecar; the caller closes it. */
    public SidewarpClient client() {
        return SidewarpClient.connect(clientOptions());
    }

    /** The address of health and metrics, as the sidecar's log tells it. */
    public URI management() {
        Matcher address = MANAGEMENT.matcher(process.awaitLine(line -> line.contains("event=started")));
        if (!address.find()) {
            throw new AssertionError("the sidecar does not say where its management is:\n" + process.text());
        }
        return URI.create("http://" + address.group(1));
    }

    public OwnedProcess process() {
        return process;
    }

    /** Files of the shared volume. The sidecar may remove some of them meanwhile. */
    public List<Path> volumeFiles() {
        List<Path> files = new ArrayList<>();
        try {
            Files.walkFileTree(volume, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                    if (!directory.equals(volume)) {
                        files.add(directory);
                    }
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    files.add(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path file, IOException failure) {
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return files;
    }

    /**
     * Kills it, and starts another one at its socket and volume, as the kubelet does. Returns when the other one serves.
     * Close both.
     */
    public SidecarProcess replace(String name) {
        process.kill();
        process.awaitExit();
        SidecarProcess next = with(name)
                .set("sidewarp.api.socket", socket().toString())
                .set("sidewarp.shared-volume", volume.toString())
                .launch();
        try (SidewarpClient client = client()) {
            client.awaitReady(Patience.LIMIT);
            return next;
        } catch (RuntimeException | Error e) {
            next.close();
            throw e;
        }
    }

    /** SIGTERM, and the exit status. */
    public int stop() {
        process.terminate();
        return process.awaitExit();
    }

    /** Ends the process and deletes its socket and its volume. */
    @Override
    public void close() {
        try {
            // It has nothing to tidy up, and would wait for what is under way.
            process.kill();
            process.close();
        } finally {
            Directories.delete(directory);
            Directories.delete(volume);
        }
    }
}
