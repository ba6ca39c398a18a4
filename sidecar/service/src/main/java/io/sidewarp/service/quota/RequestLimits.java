// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.quota;

import io.sidewarp.service.error.ApiError;

/** Limits on values of single requests, in addition to the shared quotas. Thread-safe. */
public record RequestLimits(
        Limit sendQueue, Limit receiveQueue, Limit ird, Limit ord, Limit backlog, Limit managedRegionOctets) {

    public static RequestLimits of(EffectiveLimits limits, QuotaRefusals refusals) {
        return new RequestLimits(
                new Limit("sidewarp.limits.send-queue", 0, limits.sendQueue(), refusals),
                new Limit("sidewarp.limits.receive-queue", 0, limits.receiveQueue(), refusals),
                new Limit("sidewarp.limits.ird", 0, limits.ird(), refusals),
                new Limit("sidewarp.limits.ord", 0, limits.ord(), refusals),
                new Limit("sidewarp.limits.backlog", 0, limits.settings().backlog(), refusals),
                new Limit(
                        "sidewarp.limits.managed-region-octets",
                        1,
                        limits.settings().managedRegionOctets(),
                        refusals));
    }

    /**
     * Limit on one value.
     *
     * @param setting name of the setting with the limit
     * @param least smallest possible value, for the text of a refusal; other code checks it
     * @param refusals counts refusals
     */
    public record Limit(String setting, long least, long limit, QuotaRefusals refusals) {

        public Limit {
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
}
