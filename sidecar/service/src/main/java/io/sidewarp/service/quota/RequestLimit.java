// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.quota;

import io.sidewarp.service.error.ApiError;

/** Limit on a value in one request. Thread-safe. */
public final class RequestLimit {

    private final String setting;
    private final long least;
    private final long limit;
    private final QuotaRefusals refusals;

    RequestLimit(String setting, long limit, QuotaRefusals refusals) {
        this(setting, 0, limit, refusals);
    }

    /**
     * @param setting name of the setting with the limit
     * @param least smallest possible value, for the text of a refusal; other code checks it
     * @param refusals counts refusals
     */
    RequestLimit(String setting, long least, long limit, QuotaRefusals refusals) {
        this.setting = setting;
        this.least = least;
        this.limit = limit;
        this.refusals = refusals;
        refusals.expect(setting);
    }

    /**
     * Checks and returns the value of a field, an unsigned number.
     *
     * @throws io.grpc.StatusRuntimeException RESOURCE_EXHAUSTED beyond the limit
     */
    public int check(String field, int value) {
        check(field, Integer.toUnsignedLong(value));
        return value;
    }

    /**
     * Checks the value of a field, an unsigned number.
     *
     * @throws io.grpc.StatusRuntimeException RESOURCE_EXHAUSTED beyond the limit
     */
    public void check(String field, long value) {
        if (Long.compareUnsigned(value, limit) > 0) {
            refusals.add(setting);
            throw ApiError.beyondLimit(field + " is " + Long.toUnsignedString(value) + "; allowed: "
                    + (limit < least ? "none" : least + " to " + limit) + " (setting " + setting
                    + "); ask for less, or raise the setting");
        }
    }

    /** Checks and returns the value of a field. 0 stands for the default, or for the limit if that is smaller. */
    public int check(String field, int value, int byDefault) {
        return value == 0 ? Math.toIntExact(Math.min(byDefault, limit)) : check(field, value);
    }
}
