// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.quota;

import java.util.ArrayList;
import java.util.List;

/** What one object holds of several resources: given back together, also when one of them was refused. */
public final class Grant implements AutoCloseable {

    private final List<Runnable> returns = new ArrayList<>();

    /**
     * Takes an amount in addition.
     *
     * @throws io.grpc.StatusRuntimeException RESOURCE_EXHAUSTED; close the grant then
     */
    public Grant take(Quota quota, long amount) {
        quota.take(amount);
        returns.add(() -> quota.give(amount));
        return this;
    }

    /**
     * Takes an amount in addition.
     *
     * @throws io.grpc.StatusRuntimeException RESOURCE_EXHAUSTED; close the grant then
     */
    public Grant take(SessionShare share, long amount) {
        share.take(amount);
        returns.add(() -> share.give(amount));
        return this;
    }

    /** Has something done when the grant is given back. */
    void onReturn(Runnable task) {
        returns.add(task);
    }

    /** Gives everything back. Idempotent. */
    @Override
    public void close() {
        returns.forEach(Runnable::run);
        returns.clear();
    }
}
