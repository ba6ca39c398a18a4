// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import io.sidewarp.e2e.programs.TestRunner;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Runs test classes of the engine and of the node agent in the siw guest, whose kernel has features that this machine's
 * kernel may lack. Copies a small Java runtime and the classes into the guest.
 */
public final class GuestTests {

    /** Limit for a test class on an emulated processor. */
    private static final Duration LIMIT = Duration.ofMinutes(8);

    private static final String DIRECTORY = "/opt/tests";

    /** Modules of the guest's Java runtime. */
    private static final String MODULES = "java.base,java.logging,java.management,jdk.management,jdk.unsupported";

    /** Packaged libraries that the tests need, by the program that they are packaged with. */
    private static final Map<String, Pattern> PACKAGED = Map.of(
            "sidecar/service", Pattern.compile("(io\\.netty|org\\.slf4j|org\\.jspecify|io\\.sidewarp)\\..*"),
            "operator/node-agent",
                    Pattern.compile("(io\\.(grpc|perfmark|sidewarp)|io\\.fabric8\\.kubernetes-client-api"
                            + "|com\\.google\\.(guava|protobuf)|org\\.jboss\\.logging)\\b.*"));

    private static final Pattern FOR_TESTS =
            Pattern.compile("(junit-|opentest4j|apiguardian|assertj-|byte-buddy|awaitility|hamcrest|jackson-).*\\.jar");

    /** Directories of classes, by the name that they have in the guest. */
    private static final Map<String, String> CLASSES = Map.of(
            "verbs", "sidecar/engine/verbs/target/test-classes",
            "protocol", "sidecar/engine/protocol/target/test-classes",
            "net", "sidecar/engine/net/target/test-classes",
            "sctp", "sidecar/engine/sctp/target/test-classes",
            "kernel-verbs", "sidecar/engine/kernel/target/test-classes",
            "agent", "operator/node-agent/target/classes",
            "agent-tests", "operator/node-agent/target/test-classes",
            "kubelet", "operator/testing/target/classes",
            "runner", "e2e-tests/target/test-classes");

    private final SiwGuest guest;

    private GuestTests(SiwGuest guest) {
        this.guest = guest;
    }

    /** Takes all that is needed into the guest. */
    public static GuestTests prepare(SiwGuest guest) {
        Path staged = Directories.temporary("guest");
        try {
            JavaRuntimes.link(staged.resolve("java"), MODULES);
            Path libraries = Files.createDirectory(staged.resolve("lib"));
            for (Map.Entry<String, Pattern> program : PACKAGED.entrySet()) {
                linkPackaged(libraries, program.getKey(), program.getValue());
            }
            Pattern.compile(File.pathSeparator)
                    .splitAsStream(Programs.testClassPath())
                    .map(Path::of)
                    .filter(jar ->
                            FOR_TESTS.matcher(jar.getFileName().toString()).matches())
                    .forEach(jar -> link(libraries, jar));
            CLASSES.forEach((name, classes) -> link(staged, Programs.root().resolve(classes), name));
            guest.copy(staged, DIRECTORY);
            return new GuestTests(guest);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            Directories.delete(staged);
        }
    }

    private static void linkPackaged(Path directory, String program, Pattern names) throws IOException {
        Path packaged = Programs.root().resolve(program).resolve("target/quarkus-app/lib");
        try (Stream<Path> jars = Files.find(packaged, 2, (path, attributes) -> attributes.isRegularFile())) {
            jars.filter(jar -> names.matcher(jar.getFileName().toString()).matches())
                    .forEach(jar -> link(directory, jar));
        }
    }

    private static void link(Path directory, Path file) {
        link(directory, file, file.getFileName().toString());
    }

    private static void link(Path directory, Path file, String name) {
        try {
            Path link = directory.resolve(name);
            if (!Files.exists(link, LinkOption.NOFOLLOW_LINKS)) {
                Files.createSymbolicLink(link, file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Runs the tests of a class, all of which have to pass, and returns their names. */
    public List<String> run(String testClass) {
        String command = "cd " + DIRECTORY + " && exec java/bin/java -Xmx256m -XX:TieredStopAtLevel=1 "
                + String.join(" ", Programs.jvmFlags()) + " -cp '" + String.join(":", CLASSES.keySet())
                + ":lib/*' " + TestRunner.class.getName()
                + " "
                + testClass;
        String output = guest.run(command, LIMIT).orThrow().text();
        return output.lines()
                .filter(line -> line.startsWith(TestRunner.PASSED))
                .map(line -> line.substring(TestRunner.PASSED.length()).replace("()", ""))
                .toList();
    }
}
