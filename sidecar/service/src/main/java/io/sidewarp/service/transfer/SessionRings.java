// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.memory.LateFaults;
import io.sidewarp.engine.memory.RegionFileMode;
import io.sidewarp.engine.memory.SharedBacking;
import io.sidewarp.engine.memory.SharedVolume;
import io.sidewarp.ring.RingLayout;
import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.memory.SessionMemory;
import io.sidewarp.service.quota.Grant;
import io.sidewarp.v1.CompletionRing;
import io.sidewarp.v1.CreateCompletionRingRequest;
import io.sidewarp.v1.CreateWorkRingRequest;
import io.sidewarp.v1.RingFile;
import io.sidewarp.v1.WorkRing;
import io.sidewarp.v1.WorkRingKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Rings of one session. Confined to the session's thread. */
public final class SessionRings {

    /** Maximum time in ms that a connection of another loop waits for receives from the rings of this loop. */
    private static final long SUPPLY_MILLIS = 100;

    /** Time in ms between two looks at rings that are not empty before a session ends. */
    private static final long LOOK_MILLIS = 1;

    private final SessionContext context;
    private final SessionTransfers transfers;
    private final InlineSlots inline;
    /** Completion rings, with their work rings. Each ring has its own grant from the quotas. */
    private final List<CompletionRingWriter> completionRings = new ArrayList<>();

    /** Number of files that are being created or closed. */
    private int unsettled;

    private final CompletableFuture<Void> settled = new CompletableFuture<>();
    private boolean finishing;
    private boolean ended;

    public SessionRings(SessionContext context, SessionMemory memory, SessionTransfers transfers) {
        this.context = context;
        this.transfers = transfers;
        this.inline = new InlineSlots(context.device());
        memory.beforeDeallocation(inline::release);
    }

    /** Creates a completion ring. Completes on the session's thread. */
    public CompletableFuture<CompletionRing> createCompletionRing(CreateCompletionRingRequest request) {
        RingServer sockets = sockets();
        int limit = context.config().limits().queueOutstanding();
        int entries = blocks(
                "entries",
                request.getEntries(),
                context.config().advanced().connection().queueOutstanding(),
                limit);
        long id = context.ids().incrementAndGet();
        Grant grant = grant(entries);
        return create(id, RingLayout.KIND_COMPLETION, entries, id, grant).thenApply(file -> {
            CompletionRingWriter ring = new CompletionRingWriter(
                    id,
                    file,
                    entries,
                    context.loop(),
                    sockets.newToken(),
                    grant,
                    lost -> context.loop().execute(() -> lost(lost)));
            sockets.expect(ring);
            completionRings.add(ring);
            return CompletionRing.newBuilder()
                    .setId(id)
                    .setFile(toProto(file))
                    .setEntries(entries)
                    .setSocket(sockets.name())
                    .setToken(com.google.protobuf.ByteString.copyFrom(ring.token()))
                    .setEventLoop(loopNumber(context.loop()))
                    .build();
        });
    }

    /** Creates a work ring. Completes on the session's thread. */
    public CompletableFuture<WorkRing> createWorkRing(CreateWorkRingRequest request) {
        WorkRingKind kind = request.getKind();
        if (kind != WorkRingKind.WORK_RING_KIND_SEND && kind != WorkRingKind.WORK_RING_KIND_RECEIVE) {
            throw ApiError.invalid("kind", request.getKindValue(), "WORK_RING_KIND_SEND, WORK_RING_KIND_RECEIVE");
        }
        CompletionRingWriter completions = require(request.getCompletionRing());
        int limit = context.config().limits().queueOutstanding();
        int blocks =
                blocks("blocks", request.getBlocks(), completions.entries(), Math.max(limit, RingLayout.MIN_BLOCKS));
        long id = context.ids().incrementAndGet();
        int number = kind == WorkRingKind.WORK_RING_KIND_SEND ? RingLayout.KIND_SEND : RingLayout.KIND_RECEIVE;
        Grant grant = grant(blocks);
        return create(id, number, blocks, completions.id(), grant).thenApply(file -> {
            if (completions.isEnded()) {
                closeLater(file, grant);
                throw notFound(request.getCompletionRing());
            }
            WorkRingReader ring = new WorkRingReader(
                    id, kind, file, blocks, completions, transfers, inline, grant, () -> lost(completions));
            completions.add(ring);
            ring.wake();
            return WorkRing.newBuilder()
                    .setId(id)
                    .setKind(kind)
                    .setFile(toProto(file))
                    .setBlocks(blocks)
                    .setCompletionRing(completions.id())
                    .setEventLoop(loopNumber(context.loop()))
                    .build();
        });
    }

    /**
     * Ends a ring, and with a completion ring all of its work rings. The result is complete when the files are gone.
     */
    public CompletableFuture<Void> destroy(long id) {
        for (CompletionRingWriter ring : completionRings) {
            if (ring.id() == id) {
                return end(ring, "the ring was destroyed");
            }
        }
        for (WorkRingReader ring : workRings()) {
            if (ring.id() == id) {
                ring.drainThen(() -> close(ring));
                return ring.gone();
            }
        }
        throw notFound(id);
    }

    /** Returns a copy of the list of all work rings, because a ring may end meanwhile. */
    private List<WorkRingReader> workRings() {
        List<WorkRingReader> all = new ArrayList<>();
        completionRings.forEach(ring -> all.addAll(ring.workRings()));
        return all;
    }

    /** Returns the number of work rings whose entries wait for room in their completion ring. */
    public long ringsWithoutRoom() {
        return workRings().stream()
                .filter(ring -> ring.isHeldBack() && !ring.awaitsSpace())
                .count();
    }

    /** Returns why entries wait in rings. */
    PostCount.Hold hold() {
        PostCount.Hold hold = PostCount.Hold.NONE;
        for (WorkRingReader ring : workRings()) {
            if (ring.awaitsSpace()) {
                return PostCount.Hold.SEND_QUEUE;
            }
            if (ring.hasEntries()) {
                hold = PostCount.Hold.COMPLETION_RING;
            }
        }
        return hold;
    }

    /**
     * Posts the entries in all rings before a graceful end of the session. Fails if entries are left after the given
     * time, because their completion ring or the send queue of their connection is full.
     */
    public CompletableFuture<Void> takeAll(Duration time) {
        CompletableFuture<Void> taken = new CompletableFuture<>();
        takeAll(taken, System.nanoTime() + time.toNanos());
        return taken;
    }

    private void takeAll(CompletableFuture<Void> taken, long deadline) {
        WorkRingReader left = null;
        for (WorkRingReader ring : workRings()) {
            drain(ring);
            left = ring.hasEntries() ? ring : left;
        }
        if (left == null) {
            taken.complete(null);
        } else if (System.nanoTime() - deadline >= 0) {
            taken.completeExceptionally(ApiError.of(
                    io.grpc.Status.Code.ABORTED,
                    "ring " + left.id() + " had entries that were not carried out, because "
                            + (left.awaitsSpace()
                                    ? "the send queue of their connection was full; give the call more time"
                                    : "completion ring " + left.completions().id()
                                            + " was full; take completions before the session is closed")));
        } else {
            context.loop().schedule(() -> takeAll(taken, deadline), LOOK_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    /** Posts the receives in rings, because a message has found none. Called on the loop of any connection. */
    public void supplyReceives() {
        EventLoop loop = context.loop();
        if (loop.inEventLoop()) {
            takeReceives();
            return;
        }
        CompletableFuture<Void> taken = CompletableFuture.runAsync(this::takeReceives, loop);
        try {
            taken.get(SUPPLY_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            // The connection will end because it has no receive.
        }
    }

    private void takeReceives() {
        for (WorkRingReader ring : workRings()) {
            if (ring.kind() == WorkRingKind.WORK_RING_KIND_RECEIVE) {
                drain(ring);
            }
        }
    }

    private static void drain(WorkRingReader ring) {
        ring.onRoom();
        if (ring.isHeldBack()) {
            return;
        }
        try {
            ring.drain(ring.blocks());
        } catch (InternalError e) {
            ring.fail(e);
        }
    }

    /** Ends all rings. Entries in the rings are posted. Idempotent. */
    public void release(String reason) {
        ended = true;
        List.copyOf(completionRings).forEach(ring -> end(ring, reason));
    }

    /** Closes all rings after all connections are gone. The result is complete when nothing is left. */
    public CompletableFuture<Void> finish() {
        // No connection is left that could take the work.
        workRings().forEach(this::close);
        List.copyOf(completionRings).forEach(this::finishEnd);
        finishing = true;
        settle();
        return settled.thenCompose(ignored -> inline.release());
    }

    private void settle() {
        if (finishing && unsettled == 0) {
            settled.complete(null);
        }
    }

    /** Ends a completion ring because the application is gone or a ring is unusable. */
    private void lost(CompletionRingWriter ring) {
        end(
                ring,
                "a ring of the queue is broken: its file was cut short, or an entry has a number of blocks"
                        + " that is not 1 to 10; create new rings");
    }

    private CompletableFuture<Void> end(CompletionRingWriter ring, String reason) {
        if (ring.isEnded()) {
            return ring.gone();
        }
        context.ringSockets().orElseThrow().forget(ring);
        ring.end(reason);
        List<WorkRingReader> works = List.copyOf(ring.workRings());
        for (WorkRingReader work : works) {
            CompletionRingWriter.markEnded(work.file());
        }
        for (WorkRingReader work : works) {
            work.drainThen(() -> close(work));
        }
        finishEnd(ring);
        return ring.gone();
    }

    private void finishEnd(CompletionRingWriter ring) {
        if (!ring.isEnded() || !ring.workRings().isEmpty() || !completionRings.remove(ring)) {
            return;
        }
        ring.closeSocket();
        closeLater(ring.file(), ring.grant())
                .whenComplete((ignored, failure) -> ring.gone().complete(null));
    }

    private void close(WorkRingReader ring) {
        if (!ring.completions().workRings().remove(ring)) {
            return;
        }
        ring.close();
        CompletionRingWriter.markEnded(ring.file());
        closeLater(ring.file(), ring.grant())
                .whenComplete((ignored, failure) -> ring.gone().complete(null));
        finishEnd(ring.completions());
    }

    /**
     * Closes a file on a worker, because closing blocks. The memory counts against the quotas until the file is gone.
     */
    private CompletableFuture<Void> closeLater(SharedBacking file, Grant grant) {
        unsettled++;
        return CompletableFuture.runAsync(file::close, context.workers())
                .whenCompleteAsync(
                        (ignored, failure) -> {
                            grant.close();
                            unsettled--;
                            settle();
                        },
                        context.loop());
    }

    private CompletionRingWriter require(long id) {
        for (CompletionRingWriter ring : completionRings) {
            if (ring.id() == id && !ring.isEnded()) {
                return ring;
            }
        }
        if (workRings().stream().anyMatch(ring -> ring.id() == id)) {
            throw ApiError.invalid(
                    "completion_ring", Long.toUnsignedString(id), "a completion ring; this id is a work ring's");
        }
        throw notFound(id);
    }

    private static RuntimeException notFound(long id) {
        return ApiError.notFound("ring", id, "create it first, in this session");
    }

    private RingServer sockets() {
        if (ended) {
            throw ApiError.sessionEnded();
        }
        if (context.sharedVolume().isEmpty()) {
            throw ApiError.state(
                    "the sidecar has no shared volume, and rings are files there; set sidewarp.shared-volume,"
                            + " or use the Queue call");
        }
        return context.ringSockets()
                .orElseThrow(() -> ApiError.state("the sidecar has no socket for rings; use the Queue call"));
    }

    private static int blocks(String field, int wanted, int usual, int limit) {
        int asked = wanted == 0 ? Math.min(usual, limit) : wanted;
        if (Integer.compareUnsigned(asked, limit) > 0) {
            throw ApiError.of(
                    io.grpc.Status.Code.RESOURCE_EXHAUSTED,
                    field + " is " + Integer.toUnsignedString(wanted) + "; the limit is " + limit
                            + " (setting sidewarp.limits.queue-outstanding), ask for fewer or raise the setting");
        }
        int least = Math.max(asked, RingLayout.MIN_BLOCKS);
        return Integer.highestOneBit(least) == least ? least : Integer.highestOneBit(least) << 1;
    }

    /** Takes the share of a new ring from the quotas. */
    private Grant grant(int blocks) {
        if (ended) {
            throw ApiError.sessionEnded();
        }
        return Grant.holding(grant -> grant.take(context.quotas().totalRegions(), 1)
                .take(context.quotas().registeredOctets(), RingLayout.fileLength(blocks))
                .take(context.quotas().workEntries(), blocks));
    }

    private CompletableFuture<SharedBacking> create(long id, int kind, int blocks, long completionRing, Grant grant) {
        SharedVolume volume = context.sharedVolume().orElseThrow();
        unsettled++;
        return CompletableFuture.supplyAsync(() -> open(volume, id, kind, blocks, completionRing), context.workers())
                .handleAsync(
                        (file, failure) -> {
                            unsettled--;
                            if (failure != null) {
                                grant.close();
                                settle();
                                throw ApiError.from(failure);
                            }
                            if (ended) {
                                closeLater(file, grant);
                                throw ApiError.sessionEnded();
                            }
                            return file;
                        },
                        context.loop());
    }

    /** Creates the file. Its space is allocated before it is mapped, so that a full volume fails here. */
    private SharedBacking open(SharedVolume volume, long id, int kind, int blocks, long completionRing) {
        long length = RingLayout.fileLength(blocks);
        if (volume.pageSize() > length * 4 + (1 << 16)) {
            throw ApiError.state("the shared volume has pages of " + volume.pageSize()
                    + " bytes, too large for rings; use the Queue call");
        }
        String path = SessionMemory.RING_FILE_PREFIX + id + "-"
                + Integer.toHexString(ThreadLocalRandom.current().nextInt());
        SharedVolume.Holder holder = new SharedVolume.Holder(context.peer().uid(), "ring " + id);
        SharedBacking file = volume.open(path, 0, length, RegionFileMode.MUST_BE_NEW, holder, (octets, access) -> {});
        try {
            context.giveToPeer(file);
            RingLayout.initialize(file.segment(), kind, blocks, id, completionRing);
            LateFaults.raisePending();
            return file;
        } catch (RuntimeException | Error e) {
            file.close();
            throw e;
        }
    }

    private static RingFile toProto(SharedBacking file) {
        return RingFile.newBuilder()
                .setPath(file.path())
                .setLength(file.segment().byteSize())
                .build();
    }

    /** Returns the index of a loop among the loops of the sidecar. */
    private static int loopNumber(EventLoop loop) {
        int number = 0;
        for (var executor : loop.parent()) {
            if (executor.equals(loop)) {
                return number;
            }
            number++;
        }
        return 0;
    }
}
