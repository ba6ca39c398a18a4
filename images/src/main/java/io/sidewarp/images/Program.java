// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Programs; each has an image of its own. */
enum Program {
    SIDECAR("sidecar", "sidecar/service", 7471, "RDMA for the containers of a pod"),

    CONTROLLER("controller", "operator/controller", 65532, "Injects sidecars into pods and reconciles NIC policies"),

    /** Runs as root, since it writes to /sys and to the kubelet's directories; its pod is privileged. */
    NODE_AGENT("node-agent", "operator/node-agent", 0, "Finds and provisions the iWARP NICs of a node");

    /** Directory of the program in its image, and its working directory. */
    static final String HOME = "/opt/sidewarp/app";

    /** Directory of the Java runtime in all images. */
    static final String JAVA_HOME = "/opt/java";

    /** Directory of the command line in the sidecar's image. */
    static final String COMMANDS = "/opt/sidewarp/bin";

    /**
     * Directory of the verbs library in the sidecar's image. The command sidewarp-verbs copies it from here into a
     * volume.
     */
    static final String VERBS = "/opt/sidewarp/verbs";

    /**
     * Flags of each JVM in an image. The root file system is read-only and /tmp is a small volume. A JVM therefore writes
     * no performance data, and writes its crash report to the log. A JVM that runs out of heap ends, so that its
     * container is started again.
     */
    static final List<String> CONTAINER_FLAGS =
            List.of("-XX:-UsePerfData", "-XX:+ExitOnOutOfMemoryError", "-XX:+ErrorFileToStderr");

    /** Netty's leak detection would record where one buffer of 128 was allocated. */
    static final String NETTY_FLAG = "-Dio.netty.leakDetection.level=disabled";

    /** Quarkus asks for it in the manifest of quarkus-run.jar, which a start with a class path does not read. */
    private static final String OPEN_LANG = "--add-opens=java.base/java.lang=ALL-UNNAMED";

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

    /** Returns the last part of the image's name. */
    String imageName() {
        return imageName;
    }

    /** Returns the name of the image without that of a registry. */
    String repository() {
        return "sidewarp/" + imageName;
    }

    /** Returns the directory that Quarkus packaged. */
    Path packaged(Path root) {
        return root.resolve(module).resolve("target/quarkus-app");
    }

    /** Returns user and group as numbers: Kubernetes can check that a number is not root. */
    String user() {
        return user + ":" + user;
    }

    /** Returns the TCP ports on which the program listens. */
    List<Integer> ports() {
        return switch (this) {
            case SIDECAR -> List.of(9464);
            case CONTROLLER -> List.of(8080, 9443);
            case NODE_AGENT -> List.of(8081);
        };
    }

    /** Returns the flags for each run of the program, without the flags that bound memory of its container. */
    List<String> jvmFlags(Path root) {
        Stream<String> own = switch (this) {
            case SIDECAR -> JvmFlags.sidecar(root).stream();
            case CONTROLLER -> Stream.of(NETTY_FLAG);
            case NODE_AGENT -> Stream.of(NETTY_FLAG, OPEN_LANG);
        };
        return Stream.of(JvmFlags.program(root).stream(), CONTAINER_FLAGS.stream(), own)
                .flatMap(flags -> flags)
                .toList();
    }

    /**
     * Returns the flags that bound memory.
     *
     * <p>An injected sidecar gets 1 GiB besides its shared regions. A quarter each is for the heap, for the buffers of
     * connections (direct memory), for managed regions, and for code, classes and stacks. Managed regions are not
     * direct memory: {@code sidewarp.limits.managed-octets} bounds them.
     *
     * <p>The heap of the controller and of the node agent is a part of their container's limit. Besides the heap, the
     * controller has about 190 MiB of classes, code, stacks and libraries. Compilation takes up to 40 MiB more, which
     * return to the system afterwards. Both programs use two processors at most. Threads, stacks and buffers of
     * libraries exist per processor, and memory must not depend on the size of the machine. The node agent runs without
     * C2, whose memory would be a fifth of its total: it has little work, and runs on each node.
     */
    private List<String> memoryFlags() {
        return switch (this) {
            case SIDECAR -> List.of("-XX:MaxDirectMemorySize=256m");
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

    /** @param root directory of the sources, which has the flags */
    List<String> entryPoint(Path root) {
        return Stream.of(List.of(JAVA_HOME + "/bin/java"), jvmFlags(root), memoryFlags(), what())
                .flatMap(List::stream)
                .toList();
    }

    /**
     * Returns the arguments that select the program. Quarkus starts with its own class loader, whose classes cannot be
     * archived. Programs with an archive start without that class loader.
     */
    private List<String> what() {
        return ProgramClasses.of(this)
                .map(classes -> List.of(
                        "-Djava.util.logging.manager=org.jboss.logmanager.LogManager",
                        "-XX:SharedArchiveFile=" + classes.archive(),
                        "@" + classes.options()))
                .orElseGet(() -> List.of("-jar", HOME + "/quarkus-run.jar"));
    }

    Map<String, String> environment() {
        String path = JAVA_HOME + "/bin";
        Map<String, String> environment = new TreeMap<>(Map.of(
                "JAVA_HOME", JAVA_HOME, "LANG", "C.UTF-8", "PATH", this == SIDECAR ? COMMANDS + ":" + path : path));
        if (this != SIDECAR) {
            // By default the C library has eight arenas for each processor of the machine, each with free memory of its
            // own.
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
