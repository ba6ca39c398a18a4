// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The programs that have an image each. */
enum Program {
    SIDECAR("sidecar", "sidecar/service", 7471, "RDMA for the containers of a pod"),

    CONTROLLER("controller", "operator/controller", 65532, "Injects sidecars into pods and reconciles NIC policies"),

    /** Root, as it writes to /sys and to the kubelet's directories; its pod is privileged. */
    NODE_AGENT("node-agent", "operator/node-agent", 0, "Finds and provisions the iWARP NICs of a node");

    /** Where the program is in its image, and what it starts in. */
    static final String HOME = "/opt/sidewarp/app";

    /** Where all images have the Java runtime. */
    static final String JAVA_HOME = "/opt/java";

    /** Where the sidecar's image has the command line. */
    static final String COMMANDS = "/opt/sidewarp/bin";

    /**
     * Of each JVM. The root is read-only and /tmp a small volume: no performance data there, and what a JVM has to tell when
     * it crashes goes to the log. One without heap ends, to be started again. Netty does not note where one buffer in 128 was
     * taken, to tell of those that nobody gives back. The sidecar is started by a class path, where no manifest opens what
     * Quarkus needs.
     */
    static final List<String> JVM_FLAGS = List.of(
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:+UseSerialGC",
            "-XX:-UsePerfData",
            "-XX:+ExitOnOutOfMemoryError",
            "-XX:+ErrorFileToStderr",
            "-Dio.netty.leakDetection.level=disabled");

    /** Five times the thresholds of C2: with its own it takes half of the processor that it shares with traffic for too long. */
    static final List<String> LATE_C2 = List.of(
            "-XX:Tier4InvocationThreshold=25000",
            "-XX:Tier4MinInvocationThreshold=3000",
            "-XX:Tier4CompileThreshold=75000",
            "-XX:Tier4BackEdgeThreshold=200000");

    private final String imageName;
    private final String module;
    private final int user;
    private final String description;

    Program(String imageName, String module, int user, String description) {
        this.imageName = imageName;
        this.module = module;
        this.user = user;
        this.description = description;
    }

    /** Last part of the image's name. */
    String imageName() {
        return imageName;
    }

    /** Name of the image behind that of a registry, if any. */
    String repository() {
        return "sidewarp/" + imageName;
    }

    /** What Quarkus packaged. */
    Path packaged(Path root) {
        return root.resolve(module).resolve("target/quarkus-app");
    }

    /** User and group, by number: Kubernetes can tell from a number that it is not root. */
    String user() {
        return user + ":" + user;
    }

    /** TCP ports that it listens at. */
    List<Integer> ports() {
        return switch (this) {
            case SIDECAR -> List.of(9464);
            case CONTROLLER -> List.of(8080, 9443);
            case NODE_AGENT -> List.of(8081);
        };
    }

    /**
     * Bounds of memory. An injected sidecar gets 1 GiB besides its shared regions: a quarter each for the heap, the buffers of
     * connections (direct memory), managed regions, and code, classes and stacks. Managed regions are no direct memory:
     * {@code sidewarp.limits.managed-octets} bounds them.
     *
     * <p>The heap of the others is a part of the limit that they are given. Besides it the controller has about 190 MiB of
     * classes, code, stacks and libraries, and up to 40 MiB while code is compiled, which go back to the system afterwards. Both
     * take no more processors than two, since threads, stacks and buffers of libraries come per processor, and the memory
     * that they need must not depend on the machine that they happen to run on. The node agent, which has little to do and is
     * on each node, is without C2, whose memory would be a fifth of all that it takes.
     */
    private List<String> memoryFlags() {
        return switch (this) {
            case SIDECAR ->
                Stream.of(List.of("-Xms64m", "-Xmx256m", "-XX:MaxDirectMemorySize=256m"), LATE_C2)
                        .flatMap(List::stream)
                        .toList();
            case CONTROLLER ->
                List.of(
                        "-XX:MaxRAMPercentage=40",
                        "-XX:ActiveProcessorCount=2",
                        "-XX:ReservedCodeCacheSize=64m",
                        "-XX:TrimNativeHeapInterval=10000");
            case NODE_AGENT ->
                List.of(
                        "-XX:MaxRAMPercentage=40",
                        "-XX:ActiveProcessorCount=2",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:TrimNativeHeapInterval=10000");
        };
    }

    List<String> entryPoint() {
        return Stream.of(List.of(JAVA_HOME + "/bin/java"), JVM_FLAGS, memoryFlags(), what())
                .flatMap(List::stream)
                .toList();
    }

    /** Quarkus starts by a class loader of its own, of whose classes there can be no archive; the sidecar does without it. */
    private List<String> what() {
        return switch (this) {
            case SIDECAR ->
                List.of(
                        "-Djava.util.logging.manager=org.jboss.logmanager.LogManager",
                        "-XX:SharedArchiveFile=" + SidecarClasses.ARCHIVE,
                        "@" + SidecarClasses.OPTIONS);
            case CONTROLLER, NODE_AGENT -> List.of("-jar", HOME + "/quarkus-run.jar");
        };
    }

    Map<String, String> environment() {
        String path = JAVA_HOME + "/bin";
        Map<String, String> environment = new TreeMap<>(Map.of(
                "JAVA_HOME", JAVA_HOME, "LANG", "C.UTF-8", "PATH", this == SIDECAR ? COMMANDS + ":" + path : path));
        if (this != SIDECAR) {
            // The C library would have eight for each processor of the machine, each with free memory of its own.
            environment.put("MALLOC_ARENA_MAX", "2");
        }
        return environment;
    }

    Map<String, String> labels(String version) {
        return new TreeMap<>(Map.of(
                "org.opencontainers.image.title",
                "Sidewarp " + imageName,
                "org.opencontainers.image.description",
                description,
                "org.opencontainers.image.version",
                version,
                "org.opencontainers.image.licenses",
                "Apache-2.0"));
    }
}
