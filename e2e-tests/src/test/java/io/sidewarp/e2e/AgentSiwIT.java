// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.e2e.support.GuestTests;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.SiwGuest;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Runs the node agent's own tests of siw and devlink in the siw guest, whose kernel has both. */
@ExtendWith(Logs.class)
class AgentSiwIT {

    private static GuestTests tests;

    @BeforeAll
    static void prepare() {
        tests = GuestTests.prepare(SiwGuest.get());
    }

    @Test
    void makesFindsAndRemovesDevicesOfSiw() {
        assertThat(tests.run("io.sidewarp.operator.agent.siw.KernelSiwSuite"))
                .contains(
                        "makesADeviceThatDiscoveryFindsAndUserSpaceCanOpen",
                        "theKernelLoadsItsModuleWhenItHasOne",
                        "saysThatTheKernelHasNoSiw");
    }

    @Test
    void removesItsDevicesOfSiwAndNoOthersWhenNothingAsksForThem() {
        assertThat(tests.run("io.sidewarp.operator.agent.node.KernelSiwReleaseSuite"))
                .containsExactlyInAnyOrder(
                        "uninstallationRemovesTheAgentsDeviceAndNoOther",
                        "uninstallationRemovesWhatAnEarlierAgentLeft",
                        "aDeviceOfSomebodyElseThatWasOfferedStays",
                        "aPolicyThatNoLongerAsksForSiwRemovesTheDevice",
                        "whatAPodUsesIsRemovedWhenThePodIsGone");
    }

    @Test
    void readsAndSetsDevlinkParameters() {
        assertThat(tests.run("io.sidewarp.operator.agent.host.KernelDevlinkSuite"))
                .contains("readsAndSetsAParameter", "writesAttributesAndTellsTheErrorNumberOfTheDriver");
    }
}
