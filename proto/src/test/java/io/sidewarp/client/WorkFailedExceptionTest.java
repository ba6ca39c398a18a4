// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.sidewarp.v1.RdmaError;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WorkFailedExceptionTest {

    /** The codes are those that the sidecar ends a simple call with (io.sidewarp.service.transfer.Completions). */
    @ParameterizedTest
    @CsvSource({
        "COMPLETION_STATUS_FLUSHED, UNAVAILABLE",
        "COMPLETION_STATUS_LOCAL_PROTECTION_ERROR, PERMISSION_DENIED",
        "COMPLETION_STATUS_REMOTE_ACCESS_ERROR, PERMISSION_DENIED",
        "COMPLETION_STATUS_REMOTE_OPERATION_ERROR, ABORTED",
        "COMPLETION_STATUS_LOCAL_LENGTH_ERROR, OUT_OF_RANGE",
        "COMPLETION_STATUS_REGION_FAULT, FAILED_PRECONDITION",
        "COMPLETION_STATUS_INVALID_REQUEST, INVALID_ARGUMENT",
        "COMPLETION_STATUS_FATAL, UNAVAILABLE"
    })
    void codeIsThatOfTheSimpleCall(io.sidewarp.v1.CompletionStatus status, Status.Code code) {
        assertThat(failure(io.sidewarp.v1.WorkCompletion.newBuilder().setStatus(status)))
                .isEqualTo(code);
    }

    @Test
    void accessBeyondThePeersRegionIsOutOfRange() {
        for (int layer = 0; layer <= 1; layer++) {
            RdmaError bounds =
                    RdmaError.newBuilder().setLayer(layer).setType(1).setCode(1).build();

            assertThat(failure(io.sidewarp.v1.WorkCompletion.newBuilder()
                            .setStatus(io.sidewarp.v1.CompletionStatus.COMPLETION_STATUS_REMOTE_ACCESS_ERROR)
                            .setError(bounds)))
                    .isEqualTo(Status.Code.OUT_OF_RANGE);
        }
    }

    private static Status.Code failure(io.sidewarp.v1.WorkCompletion.Builder completion) {
        return new WorkFailedException(Protos.completion(completion.build(), 0)).code();
    }
}
