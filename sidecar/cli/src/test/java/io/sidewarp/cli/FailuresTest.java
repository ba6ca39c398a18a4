// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.sidewarp.client.RdmaErrorInfo;
import io.sidewarp.client.SidewarpException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FailuresTest {

    @ParameterizedTest
    @CsvSource({
        "UNAVAILABLE, 69",
        "UNAUTHENTICATED, 77",
        "PERMISSION_DENIED, 77",
        "DEADLINE_EXCEEDED, 75",
        "RESOURCE_EXHAUSTED, 71",
        "FAILED_PRECONDITION, 78",
        "ABORTED, 1"
    })
    void statusOfTheSidecarHasItsExitCode(Status.Code code, int exitCode) {
        assertThat(Failures.of(new SidewarpException(code, "why", null, null)).exitCode())
                .isEqualTo(exitCode);
    }

    /** A right that the peer's region lacks is neither a permission of this user nor a sidecar that is gone. */
    @ParameterizedTest
    @CsvSource({"UNAVAILABLE", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "OUT_OF_RANGE"})
    void errorOfAConnectionIsAFailedTransfer(Status.Code code) {
        RdmaErrorInfo refused = new RdmaErrorInfo(0, 1, 0, "Invalid STag", true);

        Failure failure = Failures.of(new SidewarpException(code, "the peer reported Invalid STag", refused, null));

        assertThat(failure.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(failure).hasMessage("the peer reported Invalid STag");
    }

    @Test
    void firstFailureIsReported() {
        Failure first = new Failure(ExitCode.FAILED, "the transfer failed");
        first.addSuppressed(new SidewarpException(Status.Code.UNAVAILABLE, "may not have arrived", null, null));

        assertThat(Failures.of(first)).isSameAs(first);
    }
}
