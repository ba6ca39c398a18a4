// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** An unpacked container image, from a file in the format of {@code docker save}. */
public final class ContainerImage {

    private static final List<String> DEVICES = List.of("null", "random", "urandom", "zero");

    private final Path root;
    private final JsonNode config;

    private ContainerImage(Path root, JsonNode config) {
        this.root = root;
        this.config = config;
    }

    /** Unpacks an image, with the owners of its files, below a directory. */
    public static ContainerImage unpack(Path archive, Path directory) throws IOException {
        Path parts = Files.createDirectories(directory.resolve("parts"));
        Path root = Files.createDirectories(directory.resolve("root"));
        ObjectMapper json = new ObjectMapper();
        run("tar", "-xf", archive.toString(), "-C", parts.toString());
        JsonNode manifest =
                json.readTree(parts.resolve("manifest.json").toFile()).get(0);
        for (JsonNode layer : manifest.get("Layers")) {
            run(
                    "tar",
                    "--warning=no-unknown-keyword",
                    "--same-permissions",
                    "-xzf",
                    parts.resolve(layer.asText()).toString(),
                    "-C",
                    root.toString());
        }
        JsonNode config =
                json.readTree(parts.resolve(manifest.get("Config").asText()).toFile());
        Directories.delete(parts);
        return new ContainerImage(root, config.get("config"));
    }

    private static void run(String... command) {
        try (OwnedProcess process = OwnedProcess.start(command[0], List.of(command))) {
            assertThat(process.awaitExit()).as(process.text()).isZero();
        }
    }

    /** The unpacked root file system. */
    public Path root() {
        return root;
    }

    /** Regular files, as absolute paths in the image. */
    public List<Path> files() throws IOException {
        try (Stream<Path> paths = Files.walk(root)) {
            return paths.filter(Files::isRegularFile)
                    .map(path -> Path.of("/").resolve(root.relativize(path)))
                    .toList();
        }
    }

    /**
     * Starts the command of the image as a container runtime would, in mount and process namespaces of its own. The
     * root is read-only, small volumes are in memory, and the process runs as the image's user. The process has no
     * capabilities and cannot get any. The network is this machine's.
     *
     * @param environment is added to the environment of the image
     * @param volumes directories of the image that the program may write to, besides /tmp
     */
    public OwnedProcess start(String name, Map<String, String> environment, List<String> volumes) throws IOException {
        List<String> mounts = new ArrayList<>(List.of("mount --bind . .", "cd \"$PWD\"", "mount -t proc proc proc"));
        Files.createDirectories(root.resolve("proc"));
        Path devices = Files.createDirectories(root.resolve("dev"));
        for (String device : DEVICES) {
            if (!Files.exists(devices.resolve(device))) {
                Files.createFile(devices.resolve(device));
            }
            mounts.add("mount --bind /dev/" + device + " dev/" + device);
        }
        for (String volume : volumes) {
            mounts.add("mount -t tmpfs -o size=64m,mode=1777 tmpfs ." + volume);
        }
        mounts.add("mount -t tmpfs -o size=32m,mode=1777 tmpfs tmp");
        mounts.add("mount -o remount,bind,ro .");
        // The shell stays the first process of its namespace: when it is killed with unshare, so are all others there.
        mounts.add("\"$@\" &");
        mounts.add("wait $!");
        List<String> command = new ArrayList<>(
                List.of("unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child"));
        command.addAll(List.of("bash", "-ec", String.join("\n", mounts), name));
        command.addAll(withEnvironment(environment));
        command.addAll(List.of(program("setpriv"), "--no-new-privs", program("unshare"), "--root=."));
        command.add("--wd=" + config.path("WorkingDir").asText("/"));
        command.addAll(identity());
        texts(config.get("Entrypoint")).forEach(command::add);
        return OwnedProcess.start(name, command, Map.of(), root);
    }

    /** Process of the program that {@link #start} started. */
    public static ProcessHandle main(OwnedProcess started) {
        return ProcessHandle.of(started.pid())
                .flatMap(unshare -> unshare.children().findFirst())
                .flatMap(shell -> shell.children().findFirst())
                .orElseThrow();
    }

    /** Runs a command where {@link #start} started the program, as {@code kubectl exec} would. */
    public OwnedProcess exec(OwnedProcess started, String... arguments) {
        List<String> command = new ArrayList<>(withEnvironment(Map.of()));
        String target = Long.toString(main(started).pid());
        command.addAll(List.of(program("nsenter"), "--target", target, "--mount", "--pid", "--root", "--wd"));
        command.addAll(identity());
        command.addAll(List.of(arguments));
        return OwnedProcess.start("exec-" + arguments[0], command);
    }

    private List<String> identity() {
        String[] user = config.get("User").asText().split(":", 2);
        return List.of("--setuid", user[0], "--setgid", user[1], "--");
    }

    private List<String> withEnvironment(Map<String, String> added) {
        List<String> command = new ArrayList<>(List.of("env", "-i"));
        texts(config.get("Env")).forEach(command::add);
        added.forEach((name, value) -> command.add(name + "=" + value));
        return command;
    }

    /** The root of the processes has no such program, and the PATH is that of the image. */
    private static String program(String name) {
        return Programs.find(name).orElseThrow().toString();
    }

    private static Stream<String> texts(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false).map(JsonNode::asText);
    }
}
