// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SharedQuotaTest {

    private final SharedQuota<String> quota = new SharedQuota<>(12);

    @Test
    void oneAloneGetsHalf() {
        assertThat(takeAll("greedy")).isEqualTo(6);
    }

    @Test
    void whoComesLaterGetsHalfOfWhatIsLeft() {
        takeAll("greedy");

        assertThat(takeAll("other")).isEqualTo(3);
        assertThat(takeAll("third")).isEqualTo(1);
    }

    @Test
    void whatIsGivenBackIsForAll() {
        takeAll("greedy");
        quota.give("greedy", 6);

        assertThat(quota.used("greedy")).isZero();
        assertThat(takeAll("other")).isEqualTo(6);
    }

    @Test
    void oneOfThoseWhoShareAPartLeavesOfItToTheOthers() {
        assertThat(IntStream.range(0, 12).takeWhile(own -> quota.take("user", 1, own)))
                .hasSize(4);
        assertThat(quota.take("user", 1, 0)).isTrue();
        assertThat(quota.take("other", 1)).isTrue();
    }

    @Test
    void nothingIsTakenOfAnAmountThatIsTooMuch() {
        assertThat(quota.take("greedy", 7)).isFalse();
        assertThat(quota.take("greedy", Long.MAX_VALUE)).isFalse();
        assertThat(quota.take("greedy", Long.MAX_VALUE, 0)).isFalse();
        assertThat(quota.used("greedy")).isZero();
    }

    @Test
    void moreThanWasTakenCannotBeGivenBack() {
        quota.take("user", 1);

        assertThatThrownBy(() -> quota.give("user", 2)).isInstanceOf(IllegalStateException.class);
    }

    private long takeAll(String holder) {
        return IntStream.range(0, 12).takeWhile(i -> quota.take(holder, 1)).count();
    }
}
