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
 * @param host the host of a network that they are on; empty: the one that this process is on
 */
public record Place(String processors, Optional<CpuQuota> quota, Optional<Network.Host> host) {

    /** On all processors, all of the time. */
    public static final Place ANYWHERE = on("");

    private static final String LOOPBACK = "127.0.0.1";

    /** All of the time of some processors. */
    public static Place on(String processors) {
        return new Place(processors, Optional.empty(), Optional.empty());
    }

    /** On all processors, for some of the time. */
    public static Place within(CpuQuota quota) {
        return new Place("", Optional.of(quota), Optional.empty());
    }

    /** The same on a host of a network. */
    public Place at(Network.Host newHost) {
        return new Place(processors, quota, Optional.of(newHost));
    }

    /** Returns whether it is one processor, all of its time. */
    boolean isOneProcessor() {
        return !processors.isEmpty()
                && processors.chars().allMatch(Character::isDigit)
                && quota.isEmpty()
                && host.isEmpty();
    }

    /** Where those of other ends find what listens here. */
    String address() {
        return host.map(Network.Host::address).orElse(LOOPBACK);
    }

    /** A command line that runs another one here, in the same process. */
    List<String> wrap(List<String> command) {
        List<String> wrapped = new ArrayList<>();
        quota.ifPresent(group -> wrapped.addAll(List.of(
                "sh", "-c", "echo $$ > \"$0\" && exec \"$@\"", group.members().toString())));
        host.ifPresent(network -> wrapped.addAll(network.prefix()));
        if (!processors.isEmpty()) {
            wrapped.addAll(List.of("taskset", "-c", processors));
        }
        wrapped.addAll(command);
        return wrapped;
    }
}
