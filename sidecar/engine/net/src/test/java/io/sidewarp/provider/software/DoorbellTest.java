// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class DoorbellTest {

    private final Queue<Runnable> loop = new ArrayDeque<>();

    @Test
    void theLoopLooksOnceForAllThatIsPostedUntilThen() {
        AtomicInteger looks = new AtomicInteger();
        Doorbell doorbell = new Doorbell(looks::incrementAndGet);

        doorbell.ring(loop::add);
        doorbell.ring(loop::add);

        assertThat(loop).hasSize(1);
        loop.remove().run();
        assertThat(looks).hasValue(1);
        doorbell.ring(loop::add);
        assertThat(loop).hasSize(1);
    }

    @Test
    void theLoopLooksAgainForWhatIsPostedWhileItLooks() {
        AtomicInteger looks = new AtomicInteger();
        Doorbell[] doorbell = new Doorbell[1];
        doorbell[0] = new Doorbell(() -> {
            if (looks.incrementAndGet() == 1) {
                doorbell[0].ring(loop::add);
            }
        });
        doorbell[0].ring(loop::add);

        loop.remove().run();

        assertThat(loop).hasSize(1);
    }
}
