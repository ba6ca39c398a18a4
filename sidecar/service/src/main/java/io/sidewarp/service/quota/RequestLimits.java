// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.quota;

/** Limits of single requests, in addition to the shared quotas. */
public record RequestLimits(
        RequestLimit sendQueue,
        RequestLimit receiveQueue,
        RequestLimit ird,
        RequestLimit ord,
        RequestLimit backlog,
        RequestLimit managedRegionOctets) {

    public static RequestLimits of(EffectiveLimits limits, QuotaRefusals refusals) {
        return new RequestLimits(
                new RequestLimit("sidewarp.limits.send-queue", limits.sendQueue(), refusals),
                new RequestLimit("sidewarp.limits.receive-queue", limits.receiveQueue(), refusals),
                new RequestLimit("sidewarp.limits.ird", limits.ird(), refusals),
                new RequestLimit("sidewarp.limits.ord", limits.ord(), refusals),
                new RequestLimit("sidewarp.limits.backlog", limits.backlog(), refusals),
                new RequestLimit("sidewarp.limits.managed-region-octets", 1, limits.managedRegionOctets(), refusals));
    }
}
