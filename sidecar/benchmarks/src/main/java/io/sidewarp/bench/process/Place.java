// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Where the processes of an end run.
 *
 * @param processors that they may use, as taskset takes them, such as {@code 0,2-3}; empty: all
 * @param quota how much of the time of these, all of them together; empty: all of it
 */
public record Place(String processors, Optional<CpuQuota> quota) {

    /** On all processors, all of the time. */
    public static final Place ANYWHERE = on("");

    /** All of the time of some processors. */
    public static Place on(String processors) {
        return new Place(processors, Optional.empty());
    }

    /** On all processors, for some of the time. */
    public static Place within(CpuQuota quota) {
        return new Place("", Optional.of(quota));
    }

    /** A command line that runs another one here, in the same process. */
    List<String> wrap(List<String> command) {
        List<String> wrapped = new ArrayList<>();
        quota.ifPresent(group -> wrapped.addAll(List.of(
                "sh", "-c", "echo $$ > \"$0\" && exec \"$@\"", group.members().toString())));
        if (!processors.isEmpty()) {
            wrapped.addAll(List.of("taskset", "-c", processors));
        }
        wrapped.addAll(command);
        return wrapped;
    }
}
