// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LifetimeTest {

    private final AtomicInteger destructions = new AtomicInteger();
    private final Lifetime lifetime = new Lifetime(destructions::incrementAndGet);

    @Test
    void endsWhenItIsClosedAndNobodyUsesIt() {
        lifetime.close();
        lifetime.close();

        assertThat(destructions).hasValue(1);
    }

    @Test
    void outlivesItsCloseForItsUsers() {
        lifetime.retain();
        lifetime.retain();
        lifetime.release();
        lifetime.close();
        assertThat(destructions).hasValue(0);

        lifetime.release();

        assertThat(destructions).hasValue(1);
    }

    @Test
    void outlivesItsUsersUntilItIsClosed() {
        lifetime.retain();
        lifetime.release();
        assertThat(destructions).hasValue(0);

        lifetime.close();

        assertThat(destructions).hasValue(1);
    }
}
