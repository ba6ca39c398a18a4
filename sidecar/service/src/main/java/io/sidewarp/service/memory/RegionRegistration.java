// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.memory;

import io.grpc.Status;
import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.ManagedBacking;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.ProcessBacking;
import io.sidewarp.engine.memory.RegionBacking;
import io.sidewarp.engine.memory.RegionFileMode;
import io.sidewarp.engine.memory.SharedBacking;
import io.sidewarp.engine.memory.SharedVolume;
import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.peer.Peer;
import io.sidewarp.service.quota.Grant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jboss.logging.Logger;

/**
 * Registers and revokes memory against the session's quotas. Preparing pages blocks, so the workers do it. Methods are
 * called on the session's thread.
 */
final class RegionRegistration {

    private static final Logger LOG = Logger.getLogger(RegionRegistration.class);

    private final SessionContext context;
    private final List<CompletableFuture<?>> underWay = new ArrayList<>();

    RegionRegistration(SessionContext context) {
        this.context = context;
    }

    /**
     * Prepares and registers memory. Takes from the quotas; a failure gives everything back.
     *
     * @param wanted returns whether a client still waits for the region; a worker asks before it touches memory
     * @param onRegistered adds the region to the session, on the session's thread; counts as part of the registration
     */
    CompletableFuture<SessionRegion> register(
            RegionPlan plan,
            BooleanSupplier wanted,
            Function<SessionRegion, CompletableFuture<SessionRegion>> onRegistered) {
        CompletableFuture<SessionRegion> prepared = Grant.holding(grant -> {
            grant.take(context.quotas().regions(), 1).take(context.quotas().totalRegions(), 1);
            return CompletableFuture.supplyAsync(() -> prepare(plan, wanted, grant), context.workers())
                    .whenComplete((region, failure) -> {
                        if (failure != null) {
                            grant.close();
                        }
                    });
        });
        return track(prepared.thenComposeAsync(onRegistered, context.loop()));
    }

    /** Revokes a region. Releases the quotas when the memory is free. Completes on the session's thread. */
    CompletableFuture<Void> deregister(SessionRegion region) {
        return track(context.device()
                .deregisterMemory(region.region())
                .whenCompleteAsync(
                        (ignored, failure) -> {
                            if (failure == null) {
                                region.grant().close();
                            } else {
                                LOG.errorf(failure, "event=deregistration-failed region=%d", region.id());
                            }
                        },
                        context.loop()));
    }

    /** Returns a future that completes when no registration or revocation is in progress. */
    CompletableFuture<Void> settled() {
        return CompletableFuture.allOf(underWay.toArray(CompletableFuture[]::new))
                .exceptionally(failure -> null);
    }

    private SessionRegion prepare(RegionPlan plan, BooleanSupplier wanted, Grant grant) {
        if (!wanted.getAsBoolean()) {
            // The client has left. Preparing its memory would only delay the regions of other clients.
            throw ApiError.of(Status.Code.CANCELLED, "the call was cancelled");
        }
        return switch (plan.backing()) {
            case RegionPlan.Managed managed -> {
                grant.take(context.quotas().registeredOctets(), managed.length())
                        .take(context.quotas().managedOctets(), managed.length());
                yield register(plan, nextId(), ManagedBacking.allocate(managed.length()), false, grant);
            }
            case RegionPlan.Shared shared -> prepareShared(plan, shared, grant);
            case RegionPlan.OfProcess process -> prepareProcess(plan, process, grant);
        };
    }

    private SessionRegion prepareProcess(RegionPlan plan, RegionPlan.OfProcess process, Grant grant) {
        // Checks the length before the quota counts it.
        ProcessBacking backing = new ProcessBacking(process.memory(), process.address(), process.length());
        try {
            grant.take(context.quotas().registeredOctets(), process.length());
            if (!backing.verify()) {
                throw ApiError.invalid("the process has no memory at address 0x" + Long.toHexString(process.address())
                        + " with length " + process.length() + "; register memory that is mapped");
            }
        } catch (RuntimeException e) {
            backing.close();
            throw e;
        }
        return register(plan, nextId(), backing, false, grant);
    }

    private SessionRegion prepareShared(RegionPlan plan, RegionPlan.Shared shared, Grant grant) {
        if (shared.path().startsWith(SessionMemory.RING_FILE_PREFIX)) {
            throw ApiError.invalid("path \"" + shared.path() + "\" is the name of a ring; use another name");
        }
        SharedVolume volume = context.sharedVolume().orElseThrow();
        long id = nextId();
        SharedVolume.Holder holder = new SharedVolume.Holder(
                context.peer().uid(), "region " + id + " of session \"" + context.name() + "\"");
        SharedBacking backing = volume.open(
                shared.path(), shared.offset(), shared.length(), shared.mode(), holder, (length, access) -> {
                    checkPermitted(plan, shared, access);
                    grant.take(context.quotas().registeredOctets(), length);
                });
        if (shared.mode() != RegionFileMode.NONE && !backing.existed()) {
            context.giveToPeer(backing);
        }
        return register(plan, id, backing, backing.existed(), grant);
    }

    /**
     * Checks the caller's own permissions, because the sidecar may have more than its caller (RFC 5040 section 8.1.2
     * item 4).
     */
    private void checkPermitted(RegionPlan plan, RegionPlan.Shared shared, SharedVolume.Access access) {
        long user = context.peer().uid();
        boolean write = plan.attributes().access().stream().anyMatch(AccessRight::permitsChange);
        if (user == Peer.UNKNOWN || access.permits(user, write)) {
            return;
        }
        String what = switch (shared.mode()) {
            case MUST_BE_NEW, REPLACE -> "create ";
            case OPEN_OR_CREATE -> "open or create ";
            case NONE -> write ? "read and write " : "read ";
        };
        String remedy = shared.mode() == RegionFileMode.MUST_BE_NEW || shared.mode() == RegionFileMode.REPLACE
                ? "; change the owner or mode of its directory"
                : "; change the owner or mode of the file or of its directories, or ask for less access";
        throw ApiError.of(Status.Code.PERMISSION_DENIED, "user " + user + " may not " + what + shared.path() + remedy);
    }

    private long nextId() {
        return context.ids().incrementAndGet();
    }

    private SessionRegion register(RegionPlan plan, long id, RegionBacking backing, boolean existed, Grant grant) {
        try {
            MemoryRegion region =
                    context.device().registerMemory(plan.domain(), backing, plan.attributes(), plan.queuePair());
            boolean managed = plan.backing() instanceof RegionPlan.Managed;
            return new SessionRegion(id, region, plan.connection(), managed, existed, grant);
        } catch (RuntimeException | Error e) {
            backing.close();
            throw e;
        }
    }

    private <T> CompletableFuture<T> track(CompletableFuture<T> future) {
        underWay.add(future);
        future.whenComplete(
                (ignored, failure) -> context.loop().execute(() -> underWay.removeIf(CompletableFuture::isDone)));
        return future;
    }
}
