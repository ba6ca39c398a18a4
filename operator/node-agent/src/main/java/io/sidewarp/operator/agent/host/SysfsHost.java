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

/** The part of a host that is in sysfs, below a root directory. */
abstract class SysfsHost implements Host {

    private final Path root;

    SysfsHost(Path root) {
        this.root = root;
    }

    @Override
    public Optional<String> read(String attribute) {
        try {
            return Optional.of(Files.readString(root.resolve(attribute), StandardCharsets.ISO_8859_1)
                    .stripTrailing());
        } catch (IOException e) {
            // The attribute is absent or has no value now. Drivers differ in the error: EINVAL, EOPNOTSUPP and others.
            return Optional.empty();
        }
    }

    @Override
    public List<String> list(String directory) {
        try (Stream<Path> entries = Files.list(root.resolve(directory))) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    @Override
    public boolean exists(String path) {
        return Files.exists(root.resolve(path));
    }

    @Override
    public Optional<String> resolve(String path) {
        try {
            Path base = root.toRealPath();
            Path real = root.resolve(path).toRealPath();
            return real.startsWith(base) ? Optional.of(base.relativize(real).toString()) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    @Override
    public void write(String attribute, String value) throws HostException {
        int result =
                LinuxCalls.overwrite(root.resolve(attribute).toString(), value.getBytes(StandardCharsets.ISO_8859_1));
        if (result < 0) {
            throw new HostException("writing " + value + " to " + attribute, -result, "");
        }
    }
}
