// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.siw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.sidewarp.operator.agent.host.Host;
import io.sidewarp.operator.agent.host.HostException;
import io.sidewarp.operator.agent.host.NodeCommands;
import io.sidewarp.operator.agent.host.RdmaLink;
import io.sidewarp.operator.agent.nic.NicDiscovery;
import io.sidewarp.operator.agent.nic.RdmaDevice;
import io.sidewarp.operator.agent.nic.RdmaDevice.NodeType;
import io.sidewarp.operator.agent.siw.SiwLinks.SiwLink;
import io.sidewarp.operator.agent.siw.SiwLinks.SiwUnavailableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests siw of a real kernel. Runs as root in the virtual machine of the end-to-end tests, which has siw and a device
 * siw0 on eth0.
 */
final class KernelSiwSuite {

    private static final Path NODES = Path.of("/dev/infiniband");
    private static final Path PARAMETERS = Path.of("/sys/module/siw/parameters");
    private static final Path MODPROBE = Path.of("/proc/sys/kernel/modprobe");

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Host host = NodeCommands.host();
    private final SiwLinks links = new SiwLinks(host, SiwLinks.DEFAULT_PREFIX);

    @BeforeEach
    void addInterfaces() throws IOException, InterruptedException {
        NodeCommands.run(
                "ip link add name fast0 type veth peer name fast1; ip link set fast0 up; ip link set fast1 up");
    }

    @AfterEach
    void removeInterfaces() throws IOException, InterruptedException, HostException {
        links.removeAll();
        NodeCommands.run("ip link delete fast0");
    }

    private List<String> names() throws HostException {
        return host.rdmaLinks().stream().map(RdmaLink::name).toList();
    }

    @Test
    void makesADeviceThatDiscoveryFindsAndUserSpaceCanOpen() throws Exception {
        SiwLink link = links.ensure(Optional.of("fast0"));

        assertThat(link.name()).isEqualTo("sidewarp-fast0");
        assertThat(NODES.resolve(link.uverbs())).exists();
        assertThat(NODES.resolve("rdma_cm")).exists();
        RdmaDevice device = new NicDiscovery(host)
                .discover().softwareDevices().stream()
                        .filter(found -> found.name().equals(link.name()))
                        .findFirst()
                        .orElseThrow();
        assertThat(device.nodeType()).isEqualTo(NodeType.RNIC);
        assertThat(device.uverbs()).contains(link.uverbs());
        assertThat(device.ports()).singleElement().satisfies(port -> {
            assertThat(port.networkInterface()).contains("fast0");
            assertThat(port.active()).isTrue();
        });
        assertThat(device.isUsable()).isTrue();
    }

    @Test
    void makesItOnceAndRemovesItOnly() throws Exception {
        SiwLink link = links.ensure(Optional.of("fast0"));

        assertThat(links.ensure(Optional.of("fast0"))).isEqualTo(link);
        assertThat(names()).containsExactlyInAnyOrder("siw0", "sidewarp-fast0");

        links.removeAll();
        assertThat(names()).containsExactly("siw0");
        assertThat(NODES.resolve(link.uverbs())).doesNotExist();
    }

    @Test
    void takesTheDeviceOfSomebodyElse() throws Exception {
        assertThat(links.ensure(Optional.of("eth0")).name()).isEqualTo("siw0");
        links.removeAll();
        assertThat(names()).containsExactly("siw0");
    }

    @Test
    void aDeviceGoesAwayWithItsInterface() throws Exception {
        links.ensure(Optional.of("fast0"));
        NodeCommands.run("ip link delete fast0; ip link add name fast0 type veth peer name fast1");

        // The kernel removes it from a work queue of its own.
        Awaitility.await().atMost(PATIENCE).until(() -> names().equals(List.of("siw0")));
        assertThat(links.ensure(Optional.of("fast0")).name()).isEqualTo("sidewarp-fast0");
    }

    @Test
    void theKernelsWordsArePartOfTheMessage() {
        HostException refused = catchThrowableOfType(
                HostException.class, () -> host.createRdmaLink("siw", "sidewarp-long", "x".repeat(40)));

        assertThat(refused.errno()).isPresent();
        assertThat(refused).hasMessageContainingAll("sidewarp-long", "Attribute failed policy validation");
    }

    @Test
    void theKernelLoadsItsModuleWhenItHasOne() throws Exception {
        withoutModule(() -> {
            assertThat(links.ensure(Optional.of("fast0")).name()).isEqualTo("sidewarp-fast0");
            assertThat(PARAMETERS).exists();
            links.removeAll();
        });
    }

    @Test
    void saysThatTheKernelHasNoSiw() throws Exception {
        String modprobe = Files.readString(MODPROBE);
        withoutModule(() -> {
            Files.writeString(MODPROBE, "/bin/false");
            try {
                SiwUnavailableException unavailable =
                        catchThrowableOfType(SiwUnavailableException.class, () -> links.ensure(Optional.of("fast0")));
                assertThat(unavailable).hasMessageContaining("the node's kernel has no siw");
                assertThat(names()).isEmpty();
            } finally {
                Files.writeString(MODPROBE, modprobe);
            }
        });
    }

    private interface Body {
        void run() throws Exception;
    }

    /** Unloads siw for a time; its device siw0 and its parameters are afterwards what they were. */
    private static void withoutModule(Body body) throws Exception {
        String parameters = NodeCommands.run("cd " + PARAMETERS + "; grep . *");
        NodeCommands.run("rdma link delete siw0; modprobe -r siw");
        try {
            body.run();
        } finally {
            NodeCommands.run("modprobe siw; rdma link add siw0 type siw netdev eth0");
            for (String parameter : parameters.lines().toList()) {
                int colon = parameter.indexOf(':');
                Files.writeString(PARAMETERS.resolve(parameter.substring(0, colon)), parameter.substring(colon + 1));
            }
        }
    }
}
