// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class NetworkTest {

    private static String on(Network.Host host, String... arguments) {
        return ChildProcess.run("test", Place.ANYWHERE.at(host).wrap(List.of(arguments)))
                .strip();
    }

    @Test
    void itsHostsHaveAWayToEachOtherAndTheirOwnCongestionControl() {
        assumeThat(Network.obstacle()).isEmpty();
        String machines = Network.machinesCongestionControl();
        List<Path> namespaces;

        try (Network network = Network.create("test")) {
            namespaces = List.of(
                    Path.of("/var/run/netns", network.active().namespace()),
                    Path.of("/var/run/netns", network.passive().namespace()));
            assertThat(namespaces).allMatch(Files::exists);
            assertThat(on(network.active(), "ip", "-o", "link", "show", "up"))
                    .contains("veth0@", "mtu " + Network.MTU + " ");
            assertThat(on(
                            network.active(),
                            "ip",
                            "route",
                            "get",
                            network.passive().address()))
                    .contains("src " + network.active().address());

            assertThat(network.useCongestionControl("reno")).isTrue();
            assertThat(network.useCongestionControl("no such one")).isFalse();
            assertThat(on(network.passive(), "cat", "/proc/sys/net/ipv4/tcp_congestion_control"))
                    .isEqualTo("reno");
            assertThat(Network.machinesCongestionControl()).isEqualTo(machines);
        }

        assertThat(namespaces).noneMatch(Files::exists);
    }
}
