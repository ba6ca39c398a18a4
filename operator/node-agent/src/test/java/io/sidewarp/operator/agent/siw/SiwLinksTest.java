// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.siw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.sidewarp.operator.agent.host.Errno;
import io.sidewarp.operator.agent.host.HostException;
import io.sidewarp.operator.agent.host.RdmaLink;
import io.sidewarp.operator.agent.host.RecordedHost;
import io.sidewarp.operator.agent.nic.NicDiscovery;
import io.sidewarp.operator.agent.nic.RdmaDevice;
import io.sidewarp.operator.agent.siw.SiwLinks.SiwLink;
import io.sidewarp.operator.agent.siw.SiwLinks.SiwUnavailableException;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SiwLinksTest {
    private static final String NO_RDMA = "the node's kernel has no RDMA subsystem";
    private static final String NO_SIW = "the node's kernel has no siw";

    @TempDir
    private Path directory;

    private RecordedHost host(String name) {
        return RecordedHost.of(name, directory);
    }

    private static SiwLinks links(RecordedHost host) {
        return new SiwLinks(host, SiwLinks.DEFAULT_PREFIX);
    }

    @Test
    void makesOneDeviceOnTheInterfaceOfTheDefaultRoute() throws Exception {
        RecordedHost host = host("intel-x722");

        SiwLink link = links(host).ensure(Optional.empty());

        assertThat(link).isEqualTo(new SiwLink("sidewarp-eno1", "eno1", "uverbs2"));
        assertThat(links(host).ensure(Optional.empty())).as("again").isEqualTo(link);
        assertThat(host.changes()).containsExactly("new siw sidewarp-eno1 on eno1");
        assertThat(new NicDiscovery(host).discover().softwareDevices())
                .singleElement()
                .satisfies(device -> {
                    assertThat(device.name()).isEqualTo("sidewarp-eno1");
                    assertThat(device.isUsable()).isTrue();
                });
    }

    @Test
    void movesWithTheInterface() throws Exception {
        RecordedHost host = host("intel-x722");
        links(host).ensure(Optional.of("eno1"));

        assertThat(links(host).ensure(Optional.of("eno2")).name()).isEqualTo("sidewarp-eno2");

        assertThat(host.changes())
                .containsExactly(
                        "new siw sidewarp-eno1 on eno1", "delete sidewarp-eno1", "new siw sidewarp-eno2 on eno2");
    }

    @Test
    void usesAndLeavesTheDeviceOfSomebodyElse() throws Exception {
        RecordedHost host = host("virtio-siw");

        SiwLink link = links(host).ensure(Optional.of("eth0"));
        links(host).removeAll();

        assertThat(link).isEqualTo(new SiwLink("siw0", "eth0", "uverbs0"));
        assertThat(host.changes()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"54, true", "55, false"})
    void doesNotUseADeviceOfSomebodyElseWhoseNameIsTooLong(int length, boolean used) throws Exception {
        RecordedHost host = host("virtio");
        String name = "x".repeat(length);
        host.createRdmaLink("siw", name, "eth0");

        if (used) {
            assertThat(links(host).ensure(Optional.of("eth0")).name()).isEqualTo(name);
        } else {
            assertThat(refused(host, "eth0")).hasMessageContainingAll(name, "eth0", "Rename it");
        }
        assertThat(host.changes()).hasSize(1);
    }

    @Test
    void removesWhatAnEarlierRunLeftAndNothingElse() throws Exception {
        RecordedHost host = host("veth-siw");

        links(host).removeAll();

        assertThat(host.changes()).containsExactly("delete sidewarp-veth0");
        assertThat(host.rdmaLinks()).extracting(RdmaLink::name).containsExactly("siw0");
        assertThat(new NicDiscovery(host).discover().softwareDevices())
                .extracting(RdmaDevice::name)
                .containsExactly("siw0");
    }

    @Test
    void removingTwiceRemovesOnce() throws Exception {
        RecordedHost host = host("veth-siw");
        links(host).removeAll();
        links(host).removeAll();

        assertThat(host.changes()).hasSize(1);
    }

    @Test
    void aDeviceThatStaysIsReported() {
        RecordedHost host = host("veth-siw").refuse(1, Errno.EBUSY);

        assertThatThrownBy(() -> links(host).removeAll())
                .isInstanceOf(HostException.class)
                .hasMessageContaining("EBUSY");
    }

    @Test
    void saysThatTheKernelHasNoSiw() {
        assertThat(refused(host("intel-x722").withoutSiwModule(), "eno1")).hasMessageContaining(NO_SIW);
    }

    @Test
    void saysThatTheKernelHasNoRdma() {
        assertThat(refused(host("virtio").withoutRdmaSubsystem(), "eth0")).hasMessageContaining(NO_RDMA);
    }

    @Test
    void saysThatThereIsNoSuchInterface() {
        RecordedHost host = host("virtio");

        assertThat(refused(host, "eth7")).hasMessageContaining("the node has no interface eth7");
        assertThat(host.changes()).isEmpty();
    }

    @Test
    void saysThatThereIsNoDefaultRoute() {
        assertThat(refused(host("virtio"), null)).hasMessageContaining("no default route");
    }

    @ParameterizedTest
    @CsvSource({
        "EPERM, it needs CAP_NET_ADMIN",
        "EPROTONOSUPPORT, " + NO_RDMA,
        "EOPNOTSUPP, " + NO_SIW,
        "ENODEV, " + NO_SIW,
        "EINVAL, " + NO_SIW,
        "ENFILE, failed: ENFILE"
    })
    void saysWhatTheKernelMeant(Errno errno, String meaning) {
        assertThat(refused(host("intel-x722").refuse(1, errno), "eno1")).hasMessageContaining(meaning);
    }

    private static SiwUnavailableException refused(RecordedHost host, String networkInterface) {
        return catchThrowableOfType(
                SiwUnavailableException.class, () -> links(host).ensure(Optional.ofNullable(networkInterface)));
    }

    @Test
    void namesStayWithinWhatTheKernelTakes() {
        RecordedHost host = host("virtio");

        for (String prefix : new String[] {"", "side warp", "a/b", "x".repeat(40), "%d"}) {
            assertThatThrownBy(() -> new SiwLinks(host, prefix))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(prefix);
        }
        assertThat(new SiwLinks(host, "x".repeat(39))).isNotNull();
    }
}
