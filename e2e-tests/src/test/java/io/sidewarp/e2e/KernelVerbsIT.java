// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.e2e.support.CliProcess;
import io.sidewarp.e2e.support.GuestSidecar;
import io.sidewarp.e2e.support.GuestTests;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.e2e.support.SiwGuest;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests the kernel provider on siw in the guest: runs the engine's own tests, and connects a sidecar there with a
 * sidecar here.
 */
@ExtendWith(Logs.class)
class KernelVerbsIT {

    private static SiwGuest guest;

    @BeforeAll
    static void prepare() {
        guest = SiwGuest.get();
        guest.configure(2, true, false);
    }

    @Test
    void aDeviceOfTheKernelDoesWhatVerbsPromise() {
        assertThat(GuestTests.prepare(guest).run("io.sidewarp.provider.kernel.KernelDeviceSuite"))
                .contains(
                        "movesDataToItself",
                        "movesDataToTheSoftwareProvider",
                        "movesDataFromTheSoftwareProvider",
                        "flushesOutstandingWorkWhenThePeerAborts",
                        "givesEverythingBack");
    }

    @Test
    void flushOnDeviceOfTheKernelTellsThatDataArrived() {
        assertThat(GuestTests.prepare(guest).run("io.sidewarp.provider.kernel.KernelFlushSuite"))
                .contains(
                        "kernelPlacesDataBeforeFlushOfKernel",
                        "softwarePlacesDataBeforeFlushOfKernel",
                        "kernelPlacesDataBeforeFlushOfSoftware",
                        "flushOfKernelFailsWhenSoftwareRefusesWrite",
                        "closeTellsThatPeerRefusedWrite");
    }

    @Test
    void aSidecarOnADeviceOfTheKernelAndOneWithoutReachEachOther() {
        try (SidecarProcess software = SidecarProcess.with("software-peer").start();
                GuestSidecar kernel = GuestSidecar.start(
                        guest, List.of("sidewarp.provider=auto", "sidewarp.rdma-devices=no-such,siw0"))) {
            assertThat(kernel.log()).contains("event=started").contains("provider=kernel");
            try (OwnedProcess server = CliProcess.start(software, "ping", "--listen", Link.LOOPBACK + ":0")) {
                String address = CliProcess.awaitAddress(server);
                String port = address.substring(address.lastIndexOf(':') + 1);
                assertThat(Patience.get(kernel.cli("ping --count 3 --interval 0s " + SiwGuest.HOST + ":" + port))
                                .orThrow()
                                .text())
                        .contains("by a device of the kernel", "3 of 3 rounds good");
            }
            CompletableFuture<SiwGuest.Result> server =
                    kernel.cli("ping --listen 10.0.2.15:" + SiwGuest.RPING_PORT + " --once");
            guest.awaitListening(SiwGuest.RPING_PORT);
            CliProcess.Ended client = CliProcess.run(
                    software, "ping", "--count", "3", "--interval", "0s", Link.LOOPBACK + ":" + guest.rpingPort(0));
            assertThat(client.text()).contains("3 of 3 rounds good");
            assertThat(client.exitCode()).isZero();
            assertThat(Patience.get(server).orThrow().text()).contains("3 rounds");
        }
    }

    @Test
    void aSidecarSaysWhichDevicesThereAre() {
        try (GuestSidecar kernel =
                GuestSidecar.start(guest, List.of("sidewarp.provider=kernel", "sidewarp.rdma-devices=no-such"))) {
            assertThat(kernel.log())
                    .contains("there is no iWARP device called no-such: the kernel offers siw0")
                    .doesNotContain("\tat ");
        }
    }
}
