// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static io.sidewarp.v1.CompletionStatus.COMPLETION_STATUS_FATAL;
import static io.sidewarp.v1.CompletionStatus.COMPLETION_STATUS_FLUSHED;
import static io.sidewarp.v1.Retry.RETRY_AFTER_RECONNECTING;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.sidewarp.v1.WorkCompletion;
import org.junit.jupiter.api.Test;

class WorkFailedExceptionTest {

    @Test
    void codeAndAdviceAreThoseThatTheSidecarGave() {
        WorkFailedException failure = failure(FakeTransfer.completion(COMPLETION_STATUS_FLUSHED)
                .setCode(Status.Code.UNAVAILABLE.value())
                .setRetry(RETRY_AFTER_RECONNECTING));

        assertThat(failure.code()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(failure.retry()).isEqualTo(Retry.AFTER_RECONNECTING);
    }

    @Test
    void failureWithoutCodeIsUnknownAndNotToBeRepeated() {
        WorkFailedException failure = failure(FakeTransfer.completion(COMPLETION_STATUS_FATAL));

        assertThat(failure.code()).isEqualTo(Status.Code.UNKNOWN);
        assertThat(failure.retry()).isEqualTo(Retry.NEVER);
    }

    private static WorkFailedException failure(WorkCompletion.Builder completion) {
        return new WorkFailedException(Protos.completion(completion.build(), 0));
    }
}
