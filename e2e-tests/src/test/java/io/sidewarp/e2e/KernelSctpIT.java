// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.e2e.support.GuestTests;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.SiwGuest;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Runs the engine's own tests of the kernel's SCTP in the siw guest, because this machine's kernel may have no SCTP.
 */
@ExtendWith(Logs.class)
class KernelSctpIT {

    private static GuestTests tests;

    @BeforeAll
    static void prepare() {
        tests = GuestTests.prepare(SiwGuest.get());
    }

    @Test
    @Requirement("SCTP-7.1-01")
    void associationsDoWhatTheyDoInUdp() {
        assertThat(tests.run("io.sidewarp.engine.net.sctp.KernelAssociationSuite"))
                .contains("anAbsentOrForeignAdaptationIndicationIsReportedAsItIs", "anAbortTellsThePeerWhy");
    }

    @Test
    void connectionsMoveDataByWriteReadAndSend() {
        assertThat(tests.run("io.sidewarp.provider.software.KernelProviderSuite"))
                .contains(
                        "movesDataByWriteReadAndSend",
                        "anErrorOnOneConnectionLeavesTheOthersOfTheAssociationAlone",
                        "aConnectionOnAnAssociationGoesToTheListenerThatIsThereNow");
    }

    @Test
    @Requirement({"SCTP-7.2-01", "SCTP-7.2-02"})
    void multihomedAssociationsSurviveTheLossOfTheirPrimaryPathAndUseNoOtherBefore() {
        assertThat(tests.run("io.sidewarp.engine.net.sctp.KernelMultihomingSuite"))
                .contains(
                        "anAssociationOfSingleAddressesHasOnePath",
                        "dataStaysOnThePrimaryPathUntilItIsLostAndReturnsToIt");
    }
}
