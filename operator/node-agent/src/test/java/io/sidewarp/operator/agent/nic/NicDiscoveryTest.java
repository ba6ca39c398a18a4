// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import io.sidewarp.operator.agent.host.Errno;
import io.sidewarp.operator.agent.host.HostException;
import io.sidewarp.operator.agent.host.RecordedHost;
import io.sidewarp.operator.agent.nic.Nic.NetworkInterface;
import io.sidewarp.operator.agent.nic.Nic.SrIov;
import io.sidewarp.operator.agent.nic.Nic.VirtualFunction;
import io.sidewarp.operator.agent.nic.RdmaDevice.NodeType;
import io.sidewarp.operator.agent.nic.RdmaDevice.RdmaPort;
import io.sidewarp.operator.api.v1alpha1.LinkState;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NicDiscoveryTest {

    @TempDir
    private Path directory;

    private Inventory discover(String host) throws HostException {
        return new NicDiscovery(RecordedHost.of(host, directory)).discover();
    }

    private Nic nic(String host, String address) throws HostException {
        return discover(host).nic(new PciAddress(address)).orElseThrow();
    }

    @ParameterizedTest
    @CsvSource(nullValues = "-", textBlock = """
            # host,              address,      vendor, device, driver,    numa, interfaces,           rdma,        iWARP, VFs
            chelsio-t6,          0000:03:00.0, 1425,   6007,   cxgb4,     0,    -,                    -,           false, 16
            chelsio-t6,          0000:03:00.4, 1425,   6407,   cxgb4,     0,    enp3s0f4 enp3s0f4d1,  cxgb4_0,     true,  0
            chelsio-t5,          0000:01:00.4, 1425,   5401,   cxgb4,     -,    ens2f4,               cxgb4_0,     true,  0
            intel-x722,          0000:b5:00.0, 8086,   37d2,   i40e,      1,    eno1,                 iwp181s0f0,  true,  32
            intel-x722,          0000:b5:00.1, 8086,   37d2,   i40e,      1,    eno2,                 iwp181s0f1,  true,  32
            intel-e810,          0000:18:00.0, 8086,   1592,   ice,       0,    ens1f0,               rocep24s0f0, true,  128
            intel-e810,          0000:18:00.1, 8086,   1592,   ice,       0,    ens1f1,               iwp24s0f1,   true,  128
            marvell-fastlinq,    0000:41:00.0, 1077,   8070,   qede,      2,    enp65s0f0,            qedr0,       true,  96
            igb,                 0000:01:00.0, 8086,   10c9,   igb,       -,    eth1,                 -,           false, 7
            mellanox-connectx5,  0000:5e:00.0, 15b3,   1017,   mlx5_core, 0,    ens3f0np0,            mlx5_0,      false, 8
            """)
    void findsWhatEachNicIs(
            String host,
            String address,
            String vendor,
            String device,
            String driver,
            Integer numaNode,
            String interfaces,
            String rdma,
            boolean iwarpCapable,
            int totalVirtualFunctions)
            throws HostException {
        Nic nic = nic(host, address);

        assertThat(nic.vendorId()).isEqualTo(vendor);
        assertThat(nic.deviceId()).isEqualTo(device);
        assertThat(nic.driver()).contains(driver);
        assertThat(nic.numaNode()).isEqualTo(numaNode == null ? OptionalInt.empty() : OptionalInt.of(numaNode));
        assertThat(nic.interfaces().stream().map(NetworkInterface::name)).isEqualTo(words(interfaces));
        assertThat(nic.rdmaDevices().stream().map(RdmaDevice::name)).isEqualTo(words(rdma));
        assertThat(nic.isIwarpCapable()).isEqualTo(iwarpCapable);
        assertThat(nic.sriov().map(SrIov::total).orElse(0)).isEqualTo(totalVirtualFunctions);
    }

    private static List<String> words(String words) {
        return words == null ? List.of() : List.of(words.split(" ", -1));
    }

    @ParameterizedTest
    @CsvSource({
        "chelsio-t6, 3",
        "chelsio-t5, 1",
        "intel-x722, 2",
        "intel-e810, 2",
        "marvell-fastlinq, 1",
        "mellanox-connectx5, 1",
        "igb, 1",
        "virtio, 0",
        "virtio-siw, 0"
    })
    void findsNothingElse(String host, int nics) throws HostException {
        assertThat(discover(host).nics()).hasSize(nics);
    }

    @Test
    void describesThePortsOfAnAdapterThatHasThemOnOneFunction() throws HostException {
        Nic nic = nic("chelsio-t6", "0000:03:00.4");

        assertThat(nic.interfaces())
                .containsExactly(
                        new NetworkInterface("enp3s0f4", LinkState.UP, OptionalInt.of(1500), OptionalInt.of(100_000)),
                        new NetworkInterface("enp3s0f4d1", LinkState.DOWN, OptionalInt.of(1500), OptionalInt.empty()));
        assertThat(nic.rdmaDevices().getFirst())
                .isEqualTo(new RdmaDevice(
                        "cxgb4_0",
                        NodeType.RNIC,
                        Optional.of(new PciAddress("0000:03:00.4")),
                        Optional.of("1.27.4.0"),
                        List.of(
                                new RdmaPort(1, true, Optional.of("enp3s0f4")),
                                new RdmaPort(2, false, Optional.of("enp3s0f4d1"))),
                        Optional.of("uverbs0"),
                        false));
    }

    @Test
    void describesVirtualFunctionsBelowTheirPhysicalOneWhateverTheirDriver() throws HostException {
        SrIov sriov = nic("intel-e810", "0000:18:00.1").sriov().orElseThrow();

        assertThat(sriov.virtualFunctions())
                .containsExactly(
                        new VirtualFunction(
                                0,
                                new PciAddress("0000:18:11.0"),
                                "1889",
                                Optional.of("iavf"),
                                List.of(new NetworkInterface(
                                        "ens1f1v0", LinkState.UP, OptionalInt.of(1500), OptionalInt.of(100_000))),
                                List.of()),
                        new VirtualFunction(
                                1,
                                new PciAddress("0000:18:11.1"),
                                "1889",
                                Optional.of("vfio-pci"),
                                List.of(),
                                List.of()));
    }

    @Test
    void ordersVirtualFunctionsByIndexAsARealMachineHasThem() throws HostException {
        assertThat(nic("igb", "0000:01:00.0").virtualFunctions())
                .extracting(
                        VirtualFunction::index,
                        function -> function.address().value(),
                        function -> function.driver().orElse(""),
                        function -> function.interfaces().getFirst().name())
                .containsExactly(tuple(0, "0000:01:10.0", "igbvf", "eth2"), tuple(1, "0000:01:10.2", "igbvf", "eth3"));
    }

    @Test
    void readsTheDevlinkParametersOfTheDriversThatHaveThem() throws HostException {
        Inventory inventory = discover("intel-e810");

        assertThat(inventory.nics())
                .extracting(Nic::enableIwarp)
                .containsExactly(Optional.of(false), Optional.of(true));
        assertThat(inventory.nics()).extracting(Nic::enableRoce).containsExactly(Optional.of(true), Optional.of(false));
    }

    @Test
    void knowsRdmaDevicesOfVirtualFunctionsThatAreInPods() throws HostException {
        RecordedHost host = RecordedHost.of("intel-e810", directory);
        host.addRdmaDevice("0000:18:11.0", "iwp24s0f1v0");
        host.moveAway("0000:18:11.0", "iwp24s0f1v0");

        assertThat(new NicDiscovery(host)
                        .discover()
                        .nic(new PciAddress("0000:18:00.1"))
                        .orElseThrow()
                        .virtualFunctions()
                        .getFirst()
                        .rdmaDevices())
                .containsExactly(new RdmaDevice(
                        "iwp24s0f1v0",
                        NodeType.RNIC,
                        Optional.of(new PciAddress("0000:18:11.0")),
                        Optional.empty(),
                        List.of(),
                        Optional.of("uverbs2"),
                        true));
    }

    @Test
    void findsTheOthersWhenTheDriverOfOneDoesNotAnswer() throws HostException {
        RecordedHost host = RecordedHost.of("intel-e810", directory).unreadable("0000:18:00.0", Optional.of(Errno.EIO));

        Inventory inventory = new NicDiscovery(host).discover();

        assertThat(inventory.nics()).extracting(Nic::enableIwarp).containsExactly(Optional.empty(), Optional.of(true));
        assertThat(inventory.nics().getFirst().unreadable())
                .hasSize(2)
                .allSatisfy(reason -> assertThat(reason).contains("pci/0000:18:00.0 enable_", "EIO"));
        assertThat(inventory.nics().getLast().unreadable()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "intel-e810, rocep24s0f0, false",
        "intel-e810, iwp24s0f1, true",
        "mellanox-connectx5, mlx5_0, false",
        "intel-x722, iwp181s0f0, true",
        "intel-x722, iwp181s0f1, false",
        "chelsio-t5, cxgb4_0, false",
        "virtio-siw, siw0, true"
    })
    void aDeviceIsUsableWhenItIsAnRnicWithALinkAndUserSpaceAccess(String host, String device, boolean usable)
            throws HostException {
        Inventory inventory = discover(host);
        List<RdmaDevice> devices = Stream.concat(
                        inventory.nics().stream().flatMap(Nic::allRdmaDevices), inventory.softwareDevices().stream())
                .filter(found -> found.name().equals(device))
                .toList();

        assertThat(devices).singleElement().extracting(RdmaDevice::isUsable).isEqualTo(usable);
    }

    @Test
    void findsTheDevicesOfSiwWithTheInterfacesThatTheyAreOn() throws HostException {
        assertThat(discover("veth-siw").softwareDevices())
                .extracting(
                        RdmaDevice::name,
                        RdmaDevice::nodeType,
                        device -> device.ports().getFirst().networkInterface().orElse(""),
                        device -> device.uverbs().orElse(""))
                .containsExactly(
                        tuple("sidewarp-veth0", NodeType.RNIC, "veth0", "uverbs1"),
                        tuple("siw0", NodeType.RNIC, "eth0", "uverbs0"));
    }

    @Test
    void changesNothing() throws HostException {
        RecordedHost host = RecordedHost.of("intel-e810", directory);

        new NicDiscovery(host).discover();

        assertThat(host.changes()).isEmpty();
    }
}
