// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests files below another root, and the part of netlink that every kernel has. */
class LinuxHostTest {

    @TempDir
    private Path root;

    private Host host;

    @BeforeEach
    void makeTree() throws IOException {
        Files.createDirectories(root.resolve("sys/devices/pci0/net/eth0"));
        Files.createDirectories(root.resolve("sys/class/net"));
        Files.createSymbolicLink(root.resolve("sys/class/net/eth0"), Path.of("../../devices/pci0/net/eth0"));
        Files.createSymbolicLink(root.resolve("sys/class/net/out"), Path.of("../../../proc"));
        Files.writeString(root.resolve("sys/devices/pci0/net/eth0/mtu"), "1500\n");
        Files.createDirectories(root.resolve("proc/sys/kernel/random"));
        Files.writeString(root.resolve("proc/sys/kernel/random/boot_id"), "e2c0\n");
        host = new LinuxHost(root.resolve("sys"), root.resolve("proc"), Duration.ofSeconds(10));
    }

    @Test
    void readsThroughLinksAndTellsWhereTheyLead() {
        assertThat(host.read("class/net/eth0/mtu")).contains("1500");
        assertThat(host.list("class/net")).containsExactly("eth0", "out");
        assertThat(host.resolve("class/net/eth0")).contains("devices/pci0/net/eth0");
        assertThat(host.resolve("class/net/out")).isEmpty();
        assertThat(host.bootId()).isEqualTo("e2c0");
    }

    @Test
    void whatIsNotThereIsEmpty() {
        assertThat(host.read("class/net/eth0/speed")).isEmpty();
        assertThat(host.read("class/net/eth0")).isEmpty();
        assertThat(host.list("class/infiniband")).isEmpty();
        assertThat(host.resolve("class/infiniband")).isEmpty();
        assertThat(host.exists("class/infiniband")).isFalse();
        assertThat(host.defaultRouteInterfaces()).isEmpty();
    }

    @Test
    void writesTheWholeValue() throws IOException {
        host.write("class/net/eth0/mtu", "90");

        assertThat(root.resolve("sys/devices/pci0/net/eth0/mtu")).hasContent("90");
    }

    @Test
    void creatingAnAttributeIsNotWritingIt() {
        assertThatThrownBy(() -> host.write("class/net/eth0/speed", "10"))
                .isInstanceOfSatisfying(
                        HostException.class,
                        refused -> assertThat(refused.errno()).contains(Errno.ENOENT))
                .hasMessageContainingAll("class/net/eth0/speed", "ENOENT");
        assertThat(root.resolve("sys/devices/pci0/net/eth0/speed")).doesNotExist();
    }

    @Test
    void aDeviceThatIsNotThereHasNoDevlinkParameter() throws HostException {
        DevlinkParameter parameter = DevlinkParameter.ofPciFunction("ffff:ff:1f.7", "enable_iwarp");

        assertThat(host.parameter(parameter)).isEmpty();
        assertThatThrownBy(() -> host.setParameter(parameter, true))
                .isInstanceOf(HostException.class)
                .hasMessageContaining("pci/ffff:ff:1f.7 enable_iwarp");
    }

    @Test
    void withoutTheRdmaSubsystemThereAreNoRdmaDevices() throws HostException {
        assertThat(host.rdmaLinks()).isEmpty();
    }
}
