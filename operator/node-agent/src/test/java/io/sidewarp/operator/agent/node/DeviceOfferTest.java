// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.agent.nic.Inventory;
import io.sidewarp.operator.agent.nic.Nic;
import io.sidewarp.operator.agent.nic.Nic.NetworkInterface;
import io.sidewarp.operator.agent.nic.Nic.SrIov;
import io.sidewarp.operator.agent.nic.Nic.VirtualFunction;
import io.sidewarp.operator.agent.nic.PciAddress;
import io.sidewarp.operator.agent.nic.RdmaDevice;
import io.sidewarp.operator.agent.nic.RdmaDevice.NodeType;
import io.sidewarp.operator.agent.nic.RdmaDevice.RdmaPort;
import io.sidewarp.operator.api.v1alpha1.LinkState;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DeviceOfferTest {
    private static final PciAddress NIC = new PciAddress("0000:18:00.0");
    private static final PciAddress FUNCTION = new PciAddress("0000:18:11.0");
    private static final Optional<Set<String>> UNUSED = Optional.of(Set.of());

    @ParameterizedTest
    @CsvSource({
        // RDMA of the VF, VFs that somebody else shall make, what is offered here
        "true, , 0000:18:11.0",
        "false, , 0000:18:00.0",
        "true, 1, ",
        "false, 1, 0000:18:00.0",
        "true, 2, ",
        "false, 2, ",
    })
    void noFunctionIsOfferedByTwo(boolean rdmaOfFunction, Integer foreign, String offered) {
        Inventory inventory = new Inventory(List.of(nic(rdmaOfFunction)), List.of(), true);

        List<RnicDevice> devices = DeviceOffer.hardware(
                inventory,
                Map.of(NIC, "p"),
                foreign == null ? Map.of() : Map.of(NIC, foreign),
                Set.of(),
                Set.of(),
                UNUSED);

        assertThat(devices).extracting(RnicDevice::id).isEqualTo(offered == null ? List.of() : List.of(offered));
    }

    @Test
    void aFunctionThatPodsHaveToLeaveKeepsItsPlaceAndIsFaulty() {
        Inventory inventory = new Inventory(List.of(nic(true)), List.of(), true);

        List<RnicDevice> drained =
                DeviceOffer.hardware(inventory, Map.of(NIC, "p"), Map.of(), Set.of(), Set.of(FUNCTION), UNUSED);
        List<RnicDevice> others =
                DeviceOffer.hardware(inventory, Map.of(NIC, "p"), Map.of(), Set.of(), Set.of(NIC), UNUSED);

        assertThat(drained).singleElement().satisfies(device -> {
            assertThat(device.id()).isEqualTo(FUNCTION.value());
            assertThat(device.fault()).contains("it has to change, and waits for pods to leave e0");
        });
        assertThat(others)
                .singleElement()
                .satisfies(device -> assertThat(device.healthy()).isTrue());
    }

    @ParameterizedTest
    @CsvSource({
        // whom the kubelet says that the VF is in use by: a pod, nobody, or nothing
        "0000:18:11.0, true",
        "0000:18:00.0, false",
        ", true",
    })
    void aFunctionWhoseRdmaDeviceIsInAPodKeepsItsPlaceAndTheNicIsNotOffered(String used, boolean healthy) {
        Nic nic = nic(List.of(new RdmaDevice(
                "iwp1",
                NodeType.RNIC,
                Optional.of(FUNCTION),
                Optional.empty(),
                List.of(),
                Optional.of("uverbs1"),
                true)));

        List<RnicDevice> devices = DeviceOffer.hardware(
                new Inventory(List.of(nic), List.of(), true),
                Map.of(NIC, "p"),
                Map.of(),
                Set.of(),
                Set.of(),
                Optional.ofNullable(used).map(Set::of));
        List<RnicDevice> ofOthers = DeviceOffer.hardware(
                new Inventory(List.of(nic), List.of(), true),
                Map.of(NIC, "p"),
                Map.of(NIC, 1),
                Set.of(),
                Set.of(),
                UNUSED);

        assertThat(devices).singleElement().satisfies(device -> {
            assertThat(device.id()).isEqualTo(FUNCTION.value());
            assertThat(device.healthy()).isEqualTo(healthy);
        });
        assertThat(ofOthers).isEmpty();
    }

    private static Nic nic(boolean rdmaOfFunction) {
        return nic(rdmaOfFunction ? List.of(rdma("iwp1", FUNCTION)) : List.of());
    }

    private static Nic nic(List<RdmaDevice> ofFunction) {
        VirtualFunction function = new VirtualFunction(0, FUNCTION, "1889", Optional.of("iavf"), List.of(), ofFunction);
        return new Nic(
                NIC,
                "8086",
                "1592",
                Optional.of("ice"),
                OptionalInt.empty(),
                List.of(new NetworkInterface("e0", LinkState.UP, OptionalInt.of(1500), OptionalInt.empty())),
                List.of(rdma("iwp0", NIC)),
                Optional.of(new SrIov(8, 1, List.of(function))),
                Optional.of(true),
                Optional.of(false),
                List.of());
    }

    private static RdmaDevice rdma(String name, PciAddress function) {
        return new RdmaDevice(
                name,
                NodeType.RNIC,
                Optional.of(function),
                Optional.empty(),
                List.of(new RdmaPort(1, true, Optional.of("e0"))),
                Optional.of("uverbs" + name.charAt(name.length() - 1)),
                false);
    }
}
