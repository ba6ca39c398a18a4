// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Place of the processes of an end.
 *
 * @param processors processors in the notation of taskset, such as {@code 0,2-3}; empty for all
 * @param quota processor time that the processes share; empty for no quota
 * @param host host of a network; empty for the host of this process
 */
public record Place(String processors, Optional<CpuQuota> quota, Optional<Network.Host> host) {

    /** All processors, without a quota. */
    public static final Place ANYWHERE = on("");

    private static final String LOOPBACK = "127.0.0.1";

    /** Returns a place with some processors, without a quota. */
    public static Place on(String processors) {
        return new Place(processors, Optional.empty(), Optional.empty());
    }

    /** Returns a place with all processors and a quota. */
    public static Place within(CpuQuota quota) {
        return new Place("", Optional.of(quota), Optional.empty());
    }

    /** Returns the same place on a host of a network. */
    public Place at(Network.Host newHost) {
        return new Place(processors, quota, Optional.of(newHost));
    }

    /** Returns whether the place is one processor of this host, without a quota. */
    public boolean isOneProcessor() {
        return !processors.isEmpty()
                && processors.chars().allMatch(Character::isDigit)
                && quota.isEmpty()
                && host.isEmpty();
    }

    /** Returns the address at which other ends reach listeners of this place. */
    String address() {
        return host.map(Network.Host::address).orElse(LOOPBACK);
    }

    /** Returns a command line that runs another one in this place, in the same process. */
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
