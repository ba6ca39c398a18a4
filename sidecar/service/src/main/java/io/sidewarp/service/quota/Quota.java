// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.quota;

import io.sidewarp.service.error.ApiError;
import java.util.concurrent.atomic.AtomicLong;

/** Counts one kind of resource against its limit. Thread-safe. */
public sealed class Quota permits SessionShare {

    private final String what;
    private final String setting;
    private final long limit;
    final QuotaRefusals refusals;
    private final AtomicLong used = new AtomicLong();

    /**
     * @param what name of the resource in messages, for instance "regions of a session"
     * @param setting name of the setting with the limit
     * @param refusals counts refusals
     */
    public Quota(String what, String setting, long limit, QuotaRefusals refusals) {
        this.what = what;
        this.setting = setting;
        this.limit = limit;
        this.refusals = refusals;
        refusals.expect(setting);
    }

    /**
     * Takes an amount.
     *
     * @throws io.grpc.StatusRuntimeException RESOURCE_EXHAUSTED beyond the limit; nothing is taken in that case
     */
    public void take(long amount) {
        if (amount < 0) {
            throw new IllegalArgumentException("negative amount " + amount);
        }
        long before;
        do {
            before = used.get();
            if (amount > limit - before) {
                refusals.add(setting);
                throw ApiError.exhausted(what, amount, limit, setting);
            }
        } while (!used.compareAndSet(before, before + amount));
    }

    /** Gives an amount back. */
    public void give(long amount) {
        if (used.addAndGet(-amount) < 0) {
            throw new IllegalStateException("more " + what + " given back than taken");
        }
    }

    /** Returns the amount that is taken. */
    public long used() {
        return used.get();
    }

    public long limit() {
        return limit;
    }

    /** Returns the largest amount that can be taken in total now. */
    public long ceiling() {
        return limit;
    }

    /** Returns the name of the resource in messages. */
    public String what() {
        return what;
    }

    /** Returns the name of the setting with the limit. */
    public String setting() {
        return setting;
    }
}
