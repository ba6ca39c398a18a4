// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the recorded hosts in src/test/resources/hosts. The README there describes the format. */
final class HostTree {

    private final Path root;
    private String directory = "";

    final List<RdmaLink> links = new ArrayList<>();
    final Map<DevlinkParameter, Boolean> parameters = new LinkedHashMap<>();
    final List<String> defaultRoutes = new ArrayList<>();

    private HostTree(Path root) {
        this.root = root;
    }

    /** Makes the files of a host below a directory. */
    static HostTree unpack(String name, Path root) {
        String resource = "/hosts/" + name + ".tree";
        try (InputStream tree = HostTree.class.getResourceAsStream(resource)) {
            if (tree == null) {
                throw new IllegalArgumentException("there is no " + resource);
            }
            HostTree unpacked = new HostTree(root);
            for (String line : new String(tree.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList()) {
                unpacked.add(line.strip());
            }
            return unpacked;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void add(String line) throws IOException {
        if (line.isEmpty() || line.startsWith("#")) {
            return;
        }
        if (line.startsWith("[")) {
            directory = line.substring(1, line.length() - 1);
        } else if (line.startsWith("rdma: ")) {
            addLink(line.split(" ", -1));
        } else if (line.startsWith("devlink: ")) {
            String[] words = line.split("[ /]", -1);
            parameters.put(
                    new DevlinkParameter(words[1], words[2], words[3], DevlinkParameter.Mode.RUNTIME),
                    Boolean.parseBoolean(words[4]));
        } else if (line.startsWith("default-route: ")) {
            defaultRoutes.add(line.split(" ", -1)[1]);
        } else if (line.contains(" -> ")) {
            String[] sides = line.split(" -> ", -1);
            Path target = root.resolve(sides[1]);
            Files.createDirectories(target);
            link(path(sides[0]), target);
        } else if (line.contains(" = ")) {
            String[] sides = line.split(" = ", 2);
            Path file = path(sides[0]);
            Files.createDirectories(file.getParent());
            Files.writeString(file, sides[1] + "\n");
        } else {
            throw new IllegalArgumentException("a recorded host has no such line: " + line);
        }
    }

    private void addLink(String[] words) {
        Map<Integer, String> interfaces = new LinkedHashMap<>();
        for (int i = 2; i < words.length; i++) {
            String[] port = words[i].split("=", -1);
            interfaces.put(Integer.parseInt(port[0]), port[1]);
        }
        links.add(new RdmaLink(links.size(), words[1], interfaces));
    }

    private Path path(String relative) {
        return root.resolve(directory).resolve(relative);
    }

    static void link(Path link, Path target) throws IOException {
        Files.createDirectories(link.getParent());
        Files.createSymbolicLink(link, link.getParent().relativize(target));
    }
}
