// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.quota;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Amounts of several resources that one object holds. They are released together, even if one of them was refused. */
public final class Grant implements AutoCloseable {

    private final List<Runnable> returns = new ArrayList<>();

    /** Runs a body that takes resources and creates their holder. If it fails, the resources are given back. */
    public static <T> T holding(Function<Grant, T> body) {
        Grant grant = new Grant();
        try {
            return body.apply(grant);
        } catch (RuntimeException | Error e) {
            grant.close();
            throw e;
        }
    }

    /**
     * Takes an additional amount.
     *
     * @throws io.grpc.StatusRuntimeException RESOURCE_EXHAUSTED; close the grant then
     */
    public Grant take(Quota quota, long amount) {
        return take(() -> quota.take(amount), () -> quota.give(amount));
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
