// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.quota;

import io.grpc.Status;
import io.sidewarp.service.error.ApiError;

/**
 * What one session has of the entries that all work queues of the sidecar may have together. Users share them, and the
 * sessions of a user: nobody may have more than is left to others, so that a session that is alone gets a third. Confined to
 * the session's thread.
 */
public final class SessionShare {

    private static final String SETTING = "sidewarp.limits.work-entries";

    private final SharedQuota<Long> all;
    private final long user;
    private final QuotaRefusals refusals;
    private long used;

    /** @param refusals counts what is refused */
    public SessionShare(SharedQuota<Long> all, long user, QuotaRefusals refusals) {
        this.all = all;
        this.user = user;
        this.refusals = refusals;
        refusals.expect(SETTING);
    }

    /**
     * Takes an amount.
     *
     * @throws io.grpc.StatusRuntimeException RESOURCE_EXHAUSTED when that would be more than the session may have; nothing is
     *     taken then
     */
    void take(long amount) {
        if (!all.take(user, amount, used)) {
            refusals.add(SETTING);
            throw ApiError.of(
                    Status.Code.RESOURCE_EXHAUSTED,
                    "entries of work queues: nobody may have more than is left to others; the limit is " + all.limit()
                            + " (setting " + SETTING + "), this session has " + used + ", its user " + all.used(user)
                            + ", and it needs " + amount + " more; ask for shorter queues, share receives, or raise the"
                            + " setting and the heap");
        }
        used += amount;
    }

    void give(long amount) {
        all.give(user, amount);
        used -= amount;
    }

    /** What the session has. */
    public long used() {
        return used;
    }
}
