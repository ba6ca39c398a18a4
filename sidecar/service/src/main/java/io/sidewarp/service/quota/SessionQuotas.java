// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.quota;

/**
 * Quotas of one session (the resource manager of RFC 5040 section 8.1.2).
 *
 * @param totalRegions the session's share of the regions of all sessions
 * @param managedOctets the session's share of the managed bytes of all sessions
 * @param workEntries the session's share of the work queue entries of all sessions
 */
public record SessionQuotas(
        Quota regions,
        SessionShare totalRegions,
        Quota registeredOctets,
        SessionShare managedOctets,
        Quota connections,
        Quota completionEntries,
        SessionShare workEntries,
        Quota readRequests,
        Quota receives,
        Quota sharedReceiveQueues,
        Quota listeners,
        Quota protectionDomains) {

    /** Returns the quotas of a new session. */
    public static SessionQuotas of(
            EffectiveLimits limits,
            SessionShare totalRegions,
            SessionShare managedOctets,
            SessionShare workEntries,
            QuotaRefusals refusals) {
        return new SessionQuotas(
                new Quota("regions of a session", "sidewarp.limits.regions", limits.regions(), refusals),
                totalRegions,
                new Quota(
                        "bytes registered by a session",
                        "sidewarp.limits.registered-octets",
                        limits.registeredOctets(),
                        refusals),
                managedOctets,
                new Quota("connections of a session", "sidewarp.limits.connections", limits.connections(), refusals),
                new Quota(
                        "completion queue entries of a session",
                        "sidewarp.limits.completion-entries",
                        limits.completionEntries(),
                        refusals),
                workEntries,
                new Quota(
                        "inbound RDMA Read Requests of a session",
                        "sidewarp.limits.read-requests",
                        limits.readRequests(),
                        refusals),
                new Quota(
                        "receive queue entries of a session", "sidewarp.limits.receives", limits.receives(), refusals),
                new Quota(
                        "shared receive queues of a session",
                        "sidewarp.limits.shared-receive-queues",
                        limits.sharedReceiveQueues(),
                        refusals),
                new Quota("listeners of a session", "sidewarp.limits.listeners", limits.listeners(), refusals),
                new Quota(
                        "protection domains of a session",
                        "sidewarp.limits.protection-domains",
                        limits.protectionDomains(),
                        refusals));
    }

    /** Creates the counts of refusals with the value 0, before the first session. */
    public static void expect(
            EffectiveLimits limits,
            SessionShare totalRegions,
            SessionShare managedOctets,
            SessionShare workEntries,
            QuotaRefusals refusals) {
        of(limits, totalRegions, managedOctets, workEntries, refusals);
    }

    /**
     * Takes a region.
     *
     * @throws io.grpc.StatusRuntimeException RESOURCE_EXHAUSTED beyond a limit; nothing is taken in that case
     */
    public void takeRegion() {
        regions.take(1);
        try {
            totalRegions.take(1);
        } catch (RuntimeException | Error e) {
            regions.give(1);
            throw e;
        }
    }

    /** Gives a region back. */
    public void giveRegion() {
        totalRegions.give(1);
        regions.give(1);
    }

    /** Returns whether this session holds nothing. */
    public boolean isUnused() {
        return regions.used() == 0
                && totalRegions.used() == 0
                && registeredOctets.used() == 0
                && managedOctets.used() == 0
                && connections.used() == 0
                && completionEntries.used() == 0
                && workEntries.used() == 0
                && readRequests.used() == 0
                && receives.used() == 0
                && sharedReceiveQueues.used() == 0
                && listeners.used() == 0
                && protectionDomains.used() == 0;
    }
}
