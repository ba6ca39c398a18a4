// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Status;
import io.grpc.StatusException;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.ContainerAllocateResponse;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.DeviceSpec;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

class AllocationTest {

    private static final RnicDevice FIRST_VF = RnicDevice.hardware("0000:3b:01.0", "iwp0", "uverbs0");
    private static final RnicDevice SECOND_VF = RnicDevice.hardware("0000:3b:01.1", "iwp1", "uverbs1");
    private static final RnicDevice SIW = RnicDevice.kernelSiw("siw0", 3, "uverbs2");
    private static final RnicDevice OTHER_SHARE = RnicDevice.kernelSiw("siw0", 4, "uverbs2");
    private static final RnicDevice SOFT = RnicDevice.soft(0);
    private static final RnicDevice BROKEN =
            RnicDevice.hardware("0000:3b:01.2", "iwp2", "uverbs3").faulty("no driver is bound");

    private final Allocation allocation = new Allocation(List.of(FIRST_VF, SECOND_VF, SIW, OTHER_SHARE, SOFT, BROKEN));

    @Test
    void givesVirtualFunctionsWithTheirDeviceNodes() throws StatusException {
        ContainerAllocateResponse response = allocation.allocate(List.of("0000:3b:01.0", "0000:3b:01.1"));

        assertThat(response.getDevicesList())
                .containsExactly(
                        node("/dev/infiniband/uverbs0"),
                        node("/dev/infiniband/rdma_cm"),
                        node("/dev/infiniband/uverbs1"));
        assertThat(response.getEnvsMap())
                .isEqualTo(Map.of("SIDEWARP_RNIC_PROVIDER", "hardware", "SIDEWARP_RNIC_DEVICES", "iwp0,iwp1"));
        assertThat(response.getAnnotationsMap())
                .isEqualTo(Map.of("sidewarp.io/rnic-devices", "0000:3b:01.0,0000:3b:01.1"));
        assertThat(response.getMountsList()).isEmpty();
    }

    @Test
    void givesSharesOfASiwDeviceItsDeviceNodesOnce() throws StatusException {
        ContainerAllocateResponse response = allocation.allocate(List.of("siw/siw0-3", "siw/siw0-4"));

        assertThat(response.getDevicesList())
                .containsExactly(node("/dev/infiniband/uverbs2"), node("/dev/infiniband/rdma_cm"));
        assertThat(response.getEnvsMap())
                .isEqualTo(Map.of("SIDEWARP_RNIC_PROVIDER", "kernel-siw", "SIDEWARP_RNIC_DEVICES", "siw0"));
        assertThat(response.getAnnotationsMap()).isEqualTo(Map.of("sidewarp.io/rnic-devices", "siw/siw0-3,siw/siw0-4"));
    }

    @Test
    void givesASoftDeviceNoDeviceNodes() throws StatusException {
        ContainerAllocateResponse response = allocation.allocate(List.of("soft-0"));

        assertThat(response.getDevicesList()).isEmpty();
        assertThat(response.getEnvsMap()).isEqualTo(Map.of("SIDEWARP_RNIC_PROVIDER", "software"));
        assertThat(response.getAnnotationsMap()).isEqualTo(Map.of("sidewarp.io/rnic-devices", "soft-0"));
    }

    @Test
    void namesTheBestProviderOfDevicesOfSeveralKinds() throws StatusException {
        assertThat(allocation.allocate(List.of("soft-0", "0000:3b:01.0")).getEnvsMap())
                .isEqualTo(Map.of("SIDEWARP_RNIC_PROVIDER", "hardware", "SIDEWARP_RNIC_DEVICES", "iwp0"));
    }

    @Test
    void refusesADeviceThatIsNotThere() {
        assertRefused(List.of("0000:3b:01.0", "0000:3b:07.7"), Status.Code.NOT_FOUND, "no device 0000:3b:07.7");
    }

    @Test
    void refusesADeviceThatIsNotHealthyAndSaysWhy() {
        assertRefused(List.of("0000:3b:01.2"), Status.Code.FAILED_PRECONDITION, "no driver is bound");
    }

    @Test
    void refusesARequestForNothing() {
        assertRefused(List.of(), Status.Code.INVALID_ARGUMENT, "names no device");
    }

    private void assertRefused(List<String> ids, Status.Code code, String message) {
        assertThatThrownBy(() -> allocation.allocate(ids))
                .hasMessageContaining(message)
                .asInstanceOf(InstanceOfAssertFactories.type(StatusException.class))
                .extracting(failure -> failure.getStatus().getCode())
                .isEqualTo(code);
    }

    private static DeviceSpec node(String path) {
        return DeviceSpec.newBuilder()
                .setHostPath(path)
                .setContainerPath(path)
                .setPermissions("rw")
                .build();
    }
}
