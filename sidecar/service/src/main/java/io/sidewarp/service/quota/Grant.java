// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.quota;

import java.util.ArrayList;
import java.util.List;

/** Amounts of several resources that one object holds. They are released together, even if one of them was refused. */
public final class Grant implements AutoCloseable {

    private final List<Runnable> returns = new ArrayList<>();

    /**
     * Takes an additional amount.
     *
     * @throws io.grpc.StatusRuntimeException RESOURCE_EXHAUSTED; close the grant then
     */
    public Grant take(Quota quota, long amount) {
        return take(() -> quota.take(amount), () -> quota.give(amount));
    }

    /**
     * Takes an additional amount.
     *
     * @throws io.grpc.StatusRuntimeException RESOURCE_EXHAUSTED; close the grant then
     */
    public Grant take(SessionShare share, long amount) {
        return take(() -> share.take(amount), () -> share.give(amount));
    }

    /**
     * Takes an additional resource. The release is recorded first, so that nothing can fail after the resource was
     * taken.
     */
    Grant take(Runnable taking, Runnable giveBack) {
        returns.add(giveBack);
        try {
            taking.run();
        } catch (RuntimeException | Error e) {
            returns.removeLast();
            throw e;
        }
        return this;
    }

    /** Gives everything back. Idempotent. */
    @Override
    public void close() {
        returns.forEach(Runnable::run);
        returns.clear();
    }
}
