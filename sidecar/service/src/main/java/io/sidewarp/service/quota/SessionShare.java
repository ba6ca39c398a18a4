// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.quota;

import io.grpc.Status;
import io.sidewarp.service.error.ApiError;

/**
 * One session's share of a resource that all sessions share. Users get fair shares, and so do the sessions of one user:
 * a single session may hold at most a third. Thread-safe.
 */
public final class SessionShare extends Quota {

    private final Shared shared;
    private final long user;
    private long used;

    /**
     * Resource that sessions share.
     *
     * @param what name of the resource in messages
     * @param setting name of the setting with the limit
     * @param remedy advice for a caller that is refused
     */
    public record Shared(String what, String setting, String remedy, SharedQuota<Long> quota) {}

    /** @param refusals counts refusals */
    public SessionShare(Shared shared, long user, QuotaRefusals refusals) {
        super(shared.what, shared.setting, shared.quota.limit(), refusals);
        this.shared = shared;
        this.user = user;
    }

    /**
     * Takes an amount.
     *
     * @throws io.grpc.StatusRuntimeException RESOURCE_EXHAUSTED beyond the session's fair share; nothing is taken in
     *     that case
     */
    @Override
    public synchronized void take(long amount) {
        SharedQuota<Long> all = shared.quota;
        if (!all.take(user, amount, used)) {
            refusals.add(shared.setting);
            throw ApiError.of(
                    Status.Code.RESOURCE_EXHAUSTED,
                    shared.what + ": the fair share of this session is exceeded; the limit is " + all.limit()
                            + " (setting " + shared.setting + "), this session has " + used + ", its user "
                            + all.used(user) + ", and it needs " + amount + " more; " + shared.remedy);
        }
        used += amount;
    }

    @Override
    public synchronized void give(long amount) {
        shared.quota.give(user, amount);
        used -= amount;
    }

    @Override
    public synchronized long ceiling() {
        return shared.quota.share(user, used);
    }

    @Override
    public synchronized long used() {
        return used;
    }
}
