// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.memory;

import io.grpc.Status;
import io.netty.util.collection.LongObjectHashMap;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.memory.ProcessMemory;
import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.quota.Grant;
import io.sidewarp.v1.OpenSessionResponse;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.RegionFault;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Protection domains and regions of one session. Confined to the session's thread. */
public final class SessionMemory {

    /** Beginning of the names of ring files in the shared volume. No region can have such a name. */
    public static final String RING_FILE_PREFIX = ".sidewarp-ring-";

    private final SessionContext context;
    private final RegionRegistration registration;
    private final LongObjectHashMap<Pd> domains = new LongObjectHashMap<>();
    private final LongObjectHashMap<SessionRegion> regions = new LongObjectHashMap<>();
    private final Pd defaultDomain;
    private Function<Pd, CompletableFuture<Void>> beforeDeallocation =
            domain -> CompletableFuture.completedFuture(null);
    private @Nullable ProcessMemory process;
    private boolean ended;

    public SessionMemory(SessionContext context) {
        this.context = context;
        this.registration = new RegionRegistration(context);
        this.defaultDomain = allocateDomain();
    }

    public Pd defaultDomain() {
        return defaultDomain;
    }

    /** Allocates a protection domain. */
    public Pd allocateDomain() {
        return Grant.holding(grant -> {
            grant.take(context.quotas().protectionDomains(), 1);
            Pd domain = context.device().allocateProtectionDomain();
            domains.put(domain.id(), domain);
            return domain;
        });
    }

    /** Sets the action that releases memory that the sidecar itself has registered in a domain. */
    public void beforeDeallocation(Function<Pd, CompletableFuture<Void>> action) {
        beforeDeallocation = action;
    }

    /**
     * Releases a protection domain. Fails with FAILED_PRECONDITION while it is in use. Completes on the session's
     * thread.
     */
    public CompletableFuture<Void> deallocateDomain(long id) {
        Pd domain = domain(id);
        if (domain == defaultDomain) {
            throw ApiError.state(
                    "protection domain " + id + " is the session's default; it goes when the session ends");
        }
        CompletableFuture<Void> prepared = beforeDeallocation.apply(domain);
        if (prepared.isDone()) {
            deallocate(domain);
            return prepared;
        }
        return prepared.thenRunAsync(() -> deallocate(domain), context.loop());
    }

    private void deallocate(Pd domain) {
        // Another call may have deallocated the domain meanwhile.
        if (domains.get(domain.id()) == domain) {
            context.device().deallocateProtectionDomain(domain);
            domains.remove(domain.id());
            context.quotas().protectionDomains().give(1);
        }
    }

    /** Returns the domain of an id, or the default domain for 0. */
    public Pd domain(long id) {
        if (id == 0) {
            return defaultDomain;
        }
        Pd domain = domains.get(id);
        if (domain == null) {
            throw ApiError.notFound("protection_domain", id, "allocate one, or use 0 for the session's default");
        }
        return domain;
    }

    /** Returns the memory of the client's process; null if the client has not passed its memory. */
    public @Nullable ProcessMemory process() {
        return process;
    }

    /** Sets the memory of the client's process, which this session closes in the end. */
    public void use(ProcessMemory memory) {
        if (ended || process != null) {
            memory.close();
            throw ApiError.state("the session has the memory of a process already; open another session");
        }
        process = memory;
    }

    /**
     * Registers memory. The future completes on the session's thread.
     *
     * @param wanted returns whether a client still waits for the region; may be called on any thread
     */
    public CompletableFuture<SessionRegion> register(RegionPlan plan, BooleanSupplier wanted) {
        return registration.register(plan, wanted, this::add);
    }

    /** Revokes a region. The future completes on the session's thread, when the memory can no longer be used. */
    public CompletableFuture<Void> deregister(long id) {
        SessionRegion region = require(id);
        regions.remove(id);
        return registration.deregister(region);
    }

    /** Revokes a region that no client knows. A file that the region took over keeps its content for the next owner. */
    public CompletableFuture<Void> abandon(long id) {
        require(id).region().keepContent();
        return deregister(id);
    }

    /** Returns the region of an id, or null. Runs on the data path and allocates nothing. */
    public @Nullable SessionRegion find(long id) {
        return regions.get(id);
    }

    /** Returns the region of an id. Fails with NOT_FOUND if there is none. */
    public SessionRegion require(long id) {
        SessionRegion region = regions.get(id);
        if (region == null) {
            throw ApiError.notFound("region", id, "register it first, in this session");
        }
        return region;
    }

    public List<Region> list() {
        return regions.values().stream()
                .map(region -> region.toProto(context.name()))
                .toList();
    }

    public int regionCount() {
        return regions.size();
    }

    /**
     * Revokes all regions, then releases all protection domains. Must run after all connections are gone. Idempotent.
     */
    public CompletableFuture<Void> release() {
        ended = true;
        regions.values().forEach(registration::deregister);
        regions.clear();
        // Includes the revocations. A failed one does not keep the domains.
        return registration.settled().thenRunAsync(this::releaseDomains, context.loop());
    }

    private void releaseDomains() {
        if (process != null) {
            process.close();
        }
        List<Pd> all = new ArrayList<>(domains.values());
        domains.clear();
        for (Pd domain : all) {
            context.device().deallocateProtectionDomain(domain);
            context.quotas().protectionDomains().give(1);
        }
    }

    private CompletableFuture<SessionRegion> add(SessionRegion region) {
        if (ended) {
            return registration
                    .deregister(region)
                    .thenCompose(ignored -> CompletableFuture.failedFuture(
                            ApiError.of(Status.Code.CANCELLED, "the session ended while the region was registered")));
        }
        regions.put(region.id(), region);
        region.region().setFaultListener(ignored -> context.loop().execute(() -> fault(region)));
        return CompletableFuture.completedFuture(region);
    }

    private static String withReason(String what, String reason) {
        return reason.isEmpty() ? what : what + ": " + reason;
    }

    private void fault(SessionRegion region) {
        if (ended || !regions.containsKey(region.id())) {
            return;
        }
        String cause = region.region().path().isEmpty()
                ? withReason(
                        "the memory of region " + region.id() + " failed",
                        region.region().faultText())
                : "the shared file " + region.region().path() + " no longer backs region " + region.id()
                        + " (truncated?); deregister it, and keep a file's length while it is registered";
        context.events()
                .accept(OpenSessionResponse.newBuilder()
                        .setRegionFault(
                                RegionFault.newBuilder().setRegion(region.id()).setMessage(cause))
                        .build());
    }
}
