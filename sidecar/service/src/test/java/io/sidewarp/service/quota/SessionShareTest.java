// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.StatusRuntimeException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SessionShareTest {

    private final SessionShare.Shared all = new SessionShare.Shared(
            "entries of work queues", "sidewarp.limits.work-entries", "ask for shorter queues", new SharedQuota<>(12));
    private final QuotaRefusals refusals = new QuotaRefusals();
    private final SessionShare first = new SessionShare(all, 1000, refusals);
    private final SessionShare second = new SessionShare(all, 1000, refusals);
    private final SessionShare ofAnother = new SessionShare(all, 1001, refusals);

    @Test
    void aSessionLeavesAsMuchAsItHasToOthersOfItsUserAndToOtherUsers() {
        first.take(4);

        assertThatThrownBy(() -> first.take(1)).isInstanceOf(StatusRuntimeException.class);
        second.take(1);
        assertThatThrownBy(() -> second.take(1)).isInstanceOf(StatusRuntimeException.class);
        ofAnother.take(2);
        assertThat(first.used() + second.used() + ofAnother.used()).isEqualTo(7);
    }

    @Test
    void whatIsRefusedIsCountedAndSaysWhoHasWhat() {
        first.take(3);
        second.take(1);

        assertThatThrownBy(() -> first.take(2))
                .hasMessageContaining("RESOURCE_EXHAUSTED")
                .hasMessageContaining("the limit is 12 (setting sidewarp.limits.work-entries)")
                .hasMessageContaining("this session has 3, its user 4, and it needs 2 more");

        AtomicLong counted = new AtomicLong();
        refusals.forEach((setting, count) -> counted.addAndGet(count));
        assertThat(counted).hasValue(1);
        assertThat(first.used()).isEqualTo(3);
    }

    @Test
    void ceilingIsTheLargestAmountThatCanBeTaken() {
        second.take(1);
        ofAnother.take(2);
        first.take(1);

        assertThat(first.ceiling()).isEqualTo(2);
        first.take(first.ceiling() - first.used());
        assertThatThrownBy(() -> first.take(1)).isInstanceOf(StatusRuntimeException.class);
    }

    @Test
    void whatIsGivenBackIsForAll() {
        first.take(4);
        first.give(4);

        second.take(4);

        assertThat(first.used()).isZero();
        assertThat(all.quota().used(1000L)).isEqualTo(4);
    }
}
