// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class SentMessagesTest {

    /** Memory in bytes that the kernel needs for a message besides its content. */
    private static final int OVERHEAD = 830;

    private final SentMessages sent = new SentMessages();

    @Test
    void allAreAcknowledgedWhenNothingIsKept() {
        sent.add(1000);
        sent.add(1);
        assertThat(sent.isWaiting()).isTrue();

        sent.settle(0);

        assertThat(sent.acknowledged()).isEqualTo(2);
        assertThat(sent.isWaiting()).isFalse();
    }

    @Test
    void noneIsAcknowledgedWhileAllFitIntoWhatIsKept() {
        sent.add(1000);
        sent.add(2000);

        sent.settle(3000 + 2 * OVERHEAD);

        assertThat(sent.acknowledged()).isZero();
    }

    @Test
    void theFirstOnesAreAcknowledgedFirst() {
        for (int i = 0; i < 10; i++) {
            sent.add(10_000);
        }
        sent.settle(3 * (10_000 + OVERHEAD));

        assertThat(sent.acknowledged()).isEqualTo(7);
    }

    @Test
    void neverTellsMoreThanThePeerHasAcknowledgedAndAllInTheEnd() {
        Random random = new Random(5043);
        ArrayDeque<Integer> kept = new ArrayDeque<>();
        long keptOctets = 0;
        long truth = 0;
        long told = 0;
        for (int step = 0; step < 100_000; step++) {
            if (random.nextInt(100) < 52) {
                int length = 1 + random.nextInt(random.nextBoolean() ? 64 : 60_000);
                sent.add(length);
                kept.addLast(length + OVERHEAD);
                keptOctets += length + OVERHEAD;
            } else if (!kept.isEmpty()) {
                keptOctets -= kept.removeFirst();
                truth++;
            }
            if (random.nextInt(16) == 0) {
                sent.settle(keptOctets);
                assertThat(sent.acknowledged()).isBetween(told, truth);
                told = sent.acknowledged();
            }
        }
        sent.settle(0);
        assertThat(sent.acknowledged()).isEqualTo(truth + kept.size());
    }

    @Test
    void growsOnlyWhereMuchIsUnderWay() {
        for (int i = 0; i < 64; i++) {
            assertThat(sent.isCrowded()).isFalse();
            sent.add(1);
        }
        assertThat(sent.isCrowded()).isTrue();
        sent.settle(0);
        assertThat(sent.isCrowded()).isFalse();
    }
}
