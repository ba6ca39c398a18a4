// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.operator.agent.device.PublishedDevices;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.agent.deviceplugin.DevicesInUse;
import io.sidewarp.operator.agent.deviceplugin.TestConfig;
import io.sidewarp.operator.agent.nic.PciAddress;
import io.sidewarp.operator.testing.kubelet.StandInKubelet;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FunctionsInUseTest {
    private static final PciAddress FUNCTION = new PciAddress("0000:18:11.0");
    private static final RnicDevice WITHHELD = RnicDevice.hardware(FUNCTION.value(), "iwp1", "uverbs1");
    private static final RnicDevice OTHER = RnicDevice.hardware("0000:18:11.1", "iwp2", "uverbs2");

    @TempDir
    private Path directory;

    @Test
    void onlyWhatIsWithheldIsFaultyAndAskingWithholdsNothing() throws Exception {
        PublishedDevices devices = new PublishedDevices();
        devices.publish(List.of(WITHHELD, OTHER));
        try (StandInKubelet kubelet = new StandInKubelet(directory).start();
                DevicesInUse inUse = new DevicesInUse(new TestConfig(kubelet))) {
            FunctionsInUse functions = new FunctionsInUse(inUse, "shop/ended"::equals, devices);

            assertThat(functions.users(FUNCTION)).isEmpty();
            assertThat(devices.devices()).contains(List.of(WITHHELD, OTHER));

            functions.withhold(Set.of(FUNCTION));
            assertThat(devices.devices()).contains(List.of(WITHHELD.faulty("it is about to change"), OTHER));
        }
    }
}
