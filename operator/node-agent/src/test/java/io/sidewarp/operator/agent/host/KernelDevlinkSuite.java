// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.sidewarp.operator.agent.host.DevlinkParameter.Mode;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests devlink and sysfs of a real kernel, with netdevsim in place of a NIC. Runs as root in the virtual machine of
 * the end-to-end tests, which has netdevsim.
 */
final class KernelDevlinkSuite {

    private static final String BUS = "netdevsim";
    private static final String DEVICE = "netdevsim7";

    /** A Boolean parameter that is true when the device is new. */
    private static final DevlinkParameter PARAMETER = new DevlinkParameter(BUS, DEVICE, "test1", Mode.DRIVERINIT);

    private static final String VIRTUAL_FUNCTIONS = "bus/netdevsim/devices/" + DEVICE + "/sriov_numvfs";

    private final Host host = NodeCommands.host();

    @BeforeEach
    void add() throws IOException, InterruptedException {
        NodeCommands.run("modprobe netdevsim; echo 7 1 4 >/sys/bus/netdevsim/new_device");
    }

    @AfterEach
    void remove() throws IOException, InterruptedException {
        NodeCommands.run("echo 7 >/sys/bus/netdevsim/del_device");
    }

    @Test
    void readsAndSetsAParameter() throws HostException {
        assertThat(host.parameter(PARAMETER)).contains(true);

        host.setParameter(PARAMETER, false);
        assertThat(host.parameter(PARAMETER)).contains(false);

        host.setParameter(PARAMETER, true);
        assertThat(host.parameter(PARAMETER)).contains(true);
    }

    @Test
    void whatADeviceDoesNotHaveIsEmpty() throws HostException {
        assertThat(host.parameter(new DevlinkParameter(BUS, DEVICE, "enable_iwarp", Mode.RUNTIME)))
                .as("another parameter")
                .isEmpty();
        assertThat(host.parameter(new DevlinkParameter(BUS, DEVICE, "test1", Mode.RUNTIME)))
                .as("another mode")
                .isEmpty();
        assertThat(host.parameter(new DevlinkParameter(BUS, "netdevsim8", "test1", Mode.DRIVERINIT)))
                .as("another device")
                .isEmpty();
    }

    @Test
    void settingWhatThereIsNotSaysWhatTheKernelMeans() {
        HostException refused = catchThrowableOfType(
                HostException.class,
                () -> host.setParameter(new DevlinkParameter(BUS, DEVICE, "test1", Mode.RUNTIME), true));

        assertThat(refused.errno()).contains(Errno.EOPNOTSUPP);
        assertThat(refused).hasMessageContaining("netdevsim/netdevsim7 test1");
    }

    @Test
    void writesAttributesAndTellsTheErrorNumberOfTheDriver() throws HostException {
        host.write(VIRTUAL_FUNCTIONS, "2");
        assertThat(host.read(VIRTUAL_FUNCTIONS)).contains("2");

        HostException refused = catchThrowableOfType(HostException.class, () -> host.write(VIRTUAL_FUNCTIONS, "3"));
        assertThat(refused.errno()).contains(Errno.EBUSY);

        host.write(VIRTUAL_FUNCTIONS, "0");
        assertThat(host.read(VIRTUAL_FUNCTIONS)).contains("0");
    }

    @Test
    void setsTheMtuOfAnInterfaceWithinItsLimits() throws HostException {
        String directory = "bus/netdevsim/devices/" + DEVICE + "/net";
        String mtu = directory + "/" + host.list(directory).getFirst() + "/mtu";

        host.write(mtu, "1400");
        assertThat(host.read(mtu)).contains("1400");

        HostException refused = catchThrowableOfType(HostException.class, () -> host.write(mtu, "20"));
        assertThat(refused.errno()).contains(Errno.EINVAL);
        assertThat(host.read(mtu)).contains("1400");
    }
}
