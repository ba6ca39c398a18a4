// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Reads the memory of processes from /proc. */
public final class Memory {

    private static final long KIB = 1024;

    private Memory() {}

    /** Returns the resident bytes of a process, or 0 if it does not exist. */
    public static long residentOctets(long pid) {
        try (Stream<String> lines = Files.lines(Path.of("/proc/" + pid + "/status"))) {
            return residentOctets(lines.toList());
        } catch (IOException e) {
            return 0;
        }
    }

    static long residentOctets(List<String> status) {
        return status.stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * KIB)
                .findFirst()
                .orElse(0);
    }
}
