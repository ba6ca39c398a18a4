// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.ErrorAdvice;
import io.sidewarp.v1.Retry;
import org.junit.jupiter.api.Test;

class QuotaTest {

    private final QuotaRefusals refusals = new QuotaRefusals();
    private final Quota quota = new Quota("regions of a session", "sidewarp.limits.regions", 10, refusals);

    @Test
    void beyondTheLimitTheStatusNamesTheLimitAndItsSetting() {
        quota.take(8);

        Status status = Waiting.status(() -> quota.take(3));

        assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(status.getDescription())
                .contains("regions of a session")
                .contains("10")
                .contains("sidewarp.limits.regions");
        assertThat(quota.used()).isEqualTo(8);
    }

    @Test
    void whatIsGivenBackCanBeTakenAgain() {
        quota.take(10);
        quota.give(4);
        quota.take(4);

        assertThat(quota.used()).isEqualTo(10);
    }

    @Test
    void anAmountThatOverflowsIsRefused() {
        quota.take(1);

        assertThat(Waiting.status(() -> quota.take(Long.MAX_VALUE)).getCode())
                .isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
    }

    @Test
    void onlyAnAmountWithinTheLimitMaySucceedLater() {
        quota.take(8);

        assertThat(retry(3)).isEqualTo(Retry.RETRY_LATER);
        assertThat(retry(11)).isEqualTo(Retry.RETRY_NEVER);
    }

    private Retry retry(long amount) {
        com.google.rpc.Status status = StatusProto.fromThrowable(Waiting.failure(() -> quota.take(amount)));
        try {
            return status.getDetails(0).unpack(ErrorAdvice.class).getRetry();
        } catch (InvalidProtocolBufferException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void nothingCanBeGivenBackThatWasNotTaken() {
        assertThatThrownBy(() -> quota.give(1)).isInstanceOf(IllegalStateException.class);
    }
}
