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

/** Runs the node agent's own tests of virtual functions in a guest, on a NIC that QEMU emulates (igb). */
@ExtendWith(Logs.class)
class AgentSriovIT {

    private static GuestTests tests;

    @BeforeAll
    static void prepare() {
        tests = GuestTests.prepare(SiwGuest.withSriov());
    }

    @Test
    void makesChangesAndRemovesVirtualFunctions() {
        assertThat(tests.run("io.sidewarp.operator.agent.nic.KernelSriovSuite"))
                .contains("makesChangesAndRemovesVirtualFunctions", "leavesTheVirtualFunctionsWhenTheMtuIsRefused");
    }
}
