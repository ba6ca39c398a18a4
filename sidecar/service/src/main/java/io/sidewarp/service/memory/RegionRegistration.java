// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.memory;

import io.grpc.Status;
import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.CreateMode;
import io.sidewarp.engine.memory.ManagedBacking;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.RegionBacking;
import io.sidewarp.engine.memory.SharedBacking;
import io.sidewarp.engine.memory.SharedVolume;
import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.peer.Peer;
import io.sidewarp.service.quota.Grant;
import io.sidewarp.service.quota.SessionQuotas;
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
    CompletableFuture<RegisteredRegion> register(
            RegionPlan plan,
            BooleanSupplier wanted,
            Function<RegisteredRegion, CompletableFuture<RegisteredRegion>> onRegistered) {
        SessionQuotas quotas = context.quotas();
        quotas.takeRegion();
        CompletableFuture<RegisteredRegion> result;
        try {
            result = CompletableFuture.supplyAsync(() -> prepare(plan, wanted), context.workers());
        } catch (RuntimeException | Error e) {
            quotas.giveRegion();
            throw e;
        }
        return track(result.whenComplete((region, failure) -> {
                    if (failure != null) {
                        quotas.giveRegion();
                    }
                })
                .thenComposeAsync(onRegistered, context.loop()));
    }

    /** Revokes a region. Releases the quotas when the memory is free. Completes on the session's thread. */
    CompletableFuture<Void> deregister(RegisteredRegion region) {
        return track(context.device()
                .deregisterMemory(region.region())
                .whenCompleteAsync(
                        (ignored, failure) -> {
                            if (failure == null) {
                                giveOctets(region.region().length(), region.managed());
                                context.quotas().giveRegion();
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

    private RegisteredRegion prepare(RegionPlan plan, BooleanSupplier wanted) {
        if (!wanted.getAsBoolean()) {
            // The client has left. Preparing its memory would only delay the regions of other clients.
            throw ApiError.of(Status.Code.CANCELLED, "the call was cancelled");
        }
        return switch (plan.backing()) {
            case RegionPlan.Managed managed -> prepareManaged(plan, managed.length());
            case RegionPlan.Shared shared -> prepareShared(plan, shared);
        };
    }

    private RegisteredRegion prepareManaged(RegionPlan plan, long length) {
        Grant octets = new Grant();
        try {
            octets.take(context.quotas().registeredOctets(), length)
                    .take(context.quotas().managedOctets(), length);
            return register(plan, nextId(), ManagedBacking.allocate(length), true, false);
        } catch (RuntimeException | Error e) {
            octets.close();
            throw e;
        }
    }

    private RegisteredRegion prepareShared(RegionPlan plan, RegionPlan.Shared shared) {
        if (shared.path().startsWith(SessionMemory.RING_FILE_PREFIX)) {
            throw ApiError.invalid("path \"" + shared.path() + "\" is the name of a ring; use another name");
        }
        SharedVolume volume = context.sharedVolume().orElseThrow();
        Grant octets = new Grant();
        long id = nextId();
        SharedVolume.Holder holder = new SharedVolume.Holder(
                context.peer().uid(), "region " + id + " of session \"" + context.name() + "\"");
        try {
            SharedBacking backing = volume.open(
                    shared.path(), shared.offset(), shared.length(), shared.mode(), holder, (length, access) -> {
                        checkPermitted(plan, shared, access);
                        octets.take(context.quotas().registeredOctets(), length);
                    });
            if (shared.mode() != CreateMode.NONE && !backing.existed()) {
                giveToCaller(backing);
            }
            return register(plan, id, backing, false, backing.existed());
        } catch (RuntimeException | Error e) {
            octets.close();
            throw e;
        }
    }

    /**
     * Makes the caller the owner of a file that the sidecar created, so that the caller can open it. A sidecar that is
     * not root cannot do this. Its callers need its group, as in pods with an injected sidecar.
     */
    private void giveToCaller(SharedBacking backing) {
        Peer caller = context.peer();
        if (caller.uid() != Peer.UNKNOWN) {
            backing.giveTo(caller.uid(), caller.gid());
        }
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
        String remedy = shared.mode() == CreateMode.MUST_BE_NEW || shared.mode() == CreateMode.REPLACE
                ? "; change the owner or mode of its directory"
                : "; change the owner or mode of the file or of its directories, or ask for less access";
        throw ApiError.of(Status.Code.PERMISSION_DENIED, "user " + user + " may not " + what + shared.path() + remedy);
    }

    private long nextId() {
        return context.ids().incrementAndGet();
    }

    private RegisteredRegion register(
            RegionPlan plan, long id, RegionBacking backing, boolean managed, boolean existed) {
        try {
            MemoryRegion region =
                    context.device().registerMemory(plan.domain(), backing, plan.attributes(), plan.queuePair());
            return new RegisteredRegion(id, region, plan.connection(), managed, existed);
        } catch (RuntimeException | Error e) {
            backing.close();
            throw e;
        }
    }

    private void giveOctets(long length, boolean managed) {
        context.quotas().registeredOctets().give(length);
        if (managed) {
            context.quotas().managedOctets().give(length);
        }
    }

    private <T> CompletableFuture<T> track(CompletableFuture<T> future) {
        underWay.add(future);
        future.whenComplete(
                (ignored, failure) -> context.loop().execute(() -> underWay.removeIf(CompletableFuture::isDone)));
        return future;
    }
}
