// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class CallFutureTest {

    @Test
    void interruptedThreadGetsWhatCameBeforeItCouldCancel() {
        CompletableFuture<String> crossing = new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterruptIfRunning) {
                complete("there");
                return super.cancel(mayInterruptIfRunning);
            }
        };
        Thread.currentThread().interrupt();

        String came = CallFuture.await(crossing);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(came).isEqualTo("there");
    }
}
