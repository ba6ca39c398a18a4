// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReviewBudgetTest {
    private static final int REVIEWS = 4;

    private final ReviewBudget budget = new ReviewBudget();

    @Test
    void aReviewOfMoreTokensThanAnyPodHasIsRefused() {
        byte[] review = emptyObjects(ReviewBudget.MAX_TOKENS / 2);

        assertThatThrownBy(() -> budget.spend(review, () -> "decided"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("more than 50000 names, values and brackets");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a: &a [x, x]\nb: [*a, *a]", "{\"request\": ", "<review/>"})
    void whatIsNoJsonIsRefused(String review) {
        assertThatThrownBy(() -> budget.spend(review.getBytes(StandardCharsets.UTF_8), () -> "decided"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no JSON");
    }

    @Test
    void reviewsThatAreTooMuchTogetherAreDecidedAboutOneAfterTheOther() throws Exception {
        byte[] large = emptyObjects(ReviewBudget.MAX_TOKENS / 3);
        byte[] tooLarge = emptyObjects(ReviewBudget.MAX_TOKENS);
        AtomicInteger present = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        try (ExecutorService threads = Executors.newFixedThreadPool(REVIEWS)) {
            CyclicBarrier together = new CyclicBarrier(REVIEWS);
            List<Callable<Integer>> reviews = Collections.nCopies(REVIEWS, () -> {
                together.await();
                return budget.spend(large, () -> {
                    most.accumulateAndGet(present.incrementAndGet(), Math::max);
                    // As long as reading takes, so that others would come.
                    assertThatThrownBy(() -> new ReviewBudget().spend(tooLarge, () -> "decided"))
                            .isInstanceOf(IllegalArgumentException.class);
                    return present.decrementAndGet();
                });
            });

            assertThat(threads.invokeAll(reviews))
                    .allSatisfy(review -> assertThat(review.get()).isZero());
        }
        assertThat(most).hasValue(1);
    }

    @Test
    void aReviewThatIsRefusedOrFailsLeavesItsRoomToOthers() throws Exception {
        byte[] large = emptyObjects(ReviewBudget.MAX_TOKENS / 3);
        for (int i = 0; i < REVIEWS; i++) {
            assertThatThrownBy(() -> budget.spend(large, () -> {
                        throw new IllegalStateException("as tested");
                    }))
                    .hasMessage("as tested");
            assertThatThrownBy(() -> budget.spend(emptyObjects(ReviewBudget.MAX_TOKENS), () -> "decided"))
                    .isInstanceOf(IllegalArgumentException.class);
        }

        assertThat(budget.spend(large, () -> "decided")).isEqualTo("decided");
    }

    private static byte[] emptyObjects(int count) {
        return ("[{}" + ",{}".repeat(count - 1) + "]").getBytes(StandardCharsets.UTF_8);
    }
}
