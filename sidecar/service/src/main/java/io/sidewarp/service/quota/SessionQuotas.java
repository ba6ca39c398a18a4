// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.quota;

import io.sidewarp.settings.SidewarpConfig;
import java.util.stream.Stream;

/** Quotas of one session (the resource manager of RFC 5040 section 8.1.2). Some are shares of {@link Pools}. */
public record SessionQuotas(
        Quota regions,
        Quota totalRegions,
        Quota registeredOctets,
        Quota managedOctets,
        Quota connections,
        Quota completionEntries,
        Quota workEntries,
        Quota readRequests,
        Quota receives,
        Quota sharedReceiveQueues,
        Quota listeners,
        Quota protectionDomains) {

    /** Resources that all sessions of a sidecar share. */
    public record Pools(
            SessionShare.Shared totalRegions, SessionShare.Shared managedOctets, SessionShare.Shared workEntries) {

        public static Pools of(SidewarpConfig.Limits limits) {
            return new Pools(
                    new SessionShare.Shared(
                            "regions of all sessions",
                            "sidewarp.limits.total-regions",
                            "release some, register larger ones, or raise the setting and the limit of open files",
                            new SharedQuota<>(limits.totalRegions())),
                    new SessionShare.Shared(
                            "bytes of managed regions",
                            "sidewarp.limits.managed-octets",
                            "release some, use shared regions, or raise the setting and the direct memory",
                            new SharedQuota<>(limits.managedOctets())),
                    new SessionShare.Shared(
                            "entries of work queues",
                            "sidewarp.limits.work-entries",
                            "ask for shorter queues, share receives, or raise the setting and the heap",
                            new SharedQuota<>(limits.workEntries())));
        }
    }

    /**
     * Returns the quotas of a new session. The counts of their refusals begin with the value 0.
     *
     * @param user id of the session's user
     */
    public static SessionQuotas of(SidewarpConfig.Limits limits, Pools pools, long user, QuotaRefusals refusals) {
        return new SessionQuotas(
                new Quota("regions of a session", "sidewarp.limits.regions", limits.regions(), refusals),
                new SessionShare(pools.totalRegions, user, refusals),
                new Quota(
                        "bytes registered by a session",
                        "sidewarp.limits.registered-octets",
                        limits.registeredOctets(),
                        refusals),
                new SessionShare(pools.managedOctets, user, refusals),
                new Quota("connections of a session", "sidewarp.limits.connections", limits.connections(), refusals),
                new Quota(
                        "completion queue entries of a session",
                        "sidewarp.limits.completion-entries",
                        limits.completionEntries(),
                        refusals),
                new SessionShare(pools.workEntries, user, refusals),
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

    /** Returns all quotas. */
    public Stream<Quota> all() {
        return Stream.of(
                regions,
                totalRegions,
                registeredOctets,
                managedOctets,
                connections,
                completionEntries,
                workEntries,
                readRequests,
                receives,
                sharedReceiveQueues,
                listeners,
                protectionDomains);
    }

    /** Returns whether this session holds nothing. */
    public boolean isUnused() {
        return all().allMatch(quota -> quota.used() == 0);
    }
}
