// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** The processors that Linux lets this process run on. */
final class Processors {

    private static final Path STATUS = Path.of("/proc/self/status");
    private static final Path ONLINE = Path.of("/sys/devices/system/cpu/online");
    private static final String ALLOWED = "Cpus_allowed_list:";

    private Processors() {}

    /**
     * Whether this process keeps to one processor of several, as a container with a processor of its own does, so that
     * peers have others. False where that cannot be told.
     */
    static boolean isPinnedToOne() {
        try (Stream<String> status = Files.lines(STATUS)) {
            Optional<String> allowed =
                    status.filter(line -> line.startsWith(ALLOWED)).findFirst();
            return allowed.isPresent() && isPinnedToOne(allowed.get(), Files.readString(ONLINE));
        } catch (IOException | RuntimeException e) {
            // Another operating system, or one that tells less.
            return false;
        }
    }

    /**
     * @param allowed a line of the process's status
     * @param online processors of the machine, as a list
     */
    static boolean isPinnedToOne(String allowed, String online) {
        return count(allowed.substring(ALLOWED.length())) == 1 && count(online) > 1;
    }

    /** Processors of a list as Linux writes it: numbers and ranges, such as 0-3,7. */
    static int count(String list) {
        int count = 0;
        for (String range : list.strip().split(",", -1)) {
            String[] ends = range.split("-", 2);
            count += Integer.parseInt(ends[ends.length - 1]) - Integer.parseInt(ends[0]) + 1;
        }
        return count;
    }
}
