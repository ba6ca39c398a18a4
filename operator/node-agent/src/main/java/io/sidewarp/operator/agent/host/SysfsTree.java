// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Reads and writes the kernel's sysfs below a root directory. */
public final class SysfsTree {

    private final Path root;

    public SysfsTree(Path root) {
        this.root = root;
    }

    /** @see Host#read */
    public Optional<String> read(String attribute) {
        try {
            return Optional.of(Files.readString(root.resolve(attribute), StandardCharsets.ISO_8859_1)
                    .stripTrailing());
        } catch (IOException e) {
            // The attribute is absent or has no value now. Drivers differ in the error: EINVAL, EOPNOTSUPP and others.
            return Optional.empty();
        }
    }

    /** @see Host#list */
    public List<String> list(String directory) {
        try (Stream<Path> entries = Files.list(root.resolve(directory))) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    /** @see Host#exists */
    public boolean exists(String path) {
        return Files.exists(root.resolve(path));
    }

    /** @see Host#resolve */
    public Optional<String> resolve(String path) {
        try {
            Path base = root.toRealPath();
            Path real = root.resolve(path).toRealPath();
            return real.startsWith(base) ? Optional.of(base.relativize(real).toString()) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** @see Host#write */
    public void write(String attribute, String value) throws HostException {
        int result =
                LinuxCalls.overwrite(root.resolve(attribute).toString(), value.getBytes(StandardCharsets.ISO_8859_1));
        if (result < 0) {
            throw new HostException("writing " + value + " to " + attribute, -result, "");
        }
    }
}
