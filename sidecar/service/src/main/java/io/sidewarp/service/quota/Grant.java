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
        return take(() -> quota.take(amount), () -> quota.give(amount));
    }

    /**
     * Takes an amount in addition.
     *
     * @throws io.grpc.StatusRuntimeException RESOURCE_EXHAUSTED; close the grant then
     */
    public Grant take(SessionShare share, long amount) {
        return take(() -> share.take(amount), () -> share.give(amount));
    }

    /** Takes something in addition. Nothing can fail between the taking and the note of it. */
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
