// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.junit.jupiter.api.Test;

class PdTest {

    private final Pd domain = new Pd(7);

    @Test
    void countsItsUsers() {
        domain.retainRegion();
        domain.retainRegion();
        domain.retainQueuePair();
        domain.releaseRegion();

        assertThat(domain.regions()).isEqualTo(1);
        assertThat(domain.queuePairs()).isEqualTo(1);
    }

    @Test
    void isNotDeallocatedUnderARegion() {
        domain.retainRegion();

        assertThatIllegalStateException()
                .isThrownBy(domain::deallocate)
                .withMessageContaining("1 regions, 0 queue pairs");
    }

    @Test
    void isNotDeallocatedUnderAQueuePair() {
        domain.retainQueuePair();

        assertThatIllegalStateException().isThrownBy(domain::deallocate);
    }

    @Test
    void isNotDeallocatedUnderASharedReceiveQueue() {
        domain.retainSharedReceiveQueue();
        assertThatIllegalStateException().isThrownBy(domain::deallocate);

        domain.releaseSharedReceiveQueue();

        assertThatCode(domain::deallocate).doesNotThrowAnyException();
    }

    @Test
    void takesNoUsersAfterDeallocation() {
        domain.deallocate();

        assertThatIllegalStateException().isThrownBy(domain::retainRegion);
        assertThatIllegalStateException().isThrownBy(domain::retainQueuePair);
        assertThatIllegalStateException().isThrownBy(domain::retainSharedReceiveQueue);
    }

    @Test
    void canBeDeallocatedTwice() {
        domain.deallocate();

        assertThatCode(domain::deallocate).doesNotThrowAnyException();
    }

    @Test
    void noticesAReleaseTooMany() {
        assertThatIllegalStateException().isThrownBy(domain::releaseRegion);
        assertThatIllegalStateException().isThrownBy(domain::releaseQueuePair);
        assertThatIllegalStateException().isThrownBy(domain::releaseSharedReceiveQueue);
    }
}
