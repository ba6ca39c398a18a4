// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.grpc.Status;
import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.memory.RegionState;
import io.sidewarp.engine.memory.RegionUser;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.StreamError;
import io.sidewarp.engine.verbs.TlsAttributes;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.memory.SessionMemory;
import io.sidewarp.service.memory.SessionRegion;
import org.jspecify.annotations.Nullable;

/**
 * Converts work from the API to work requests and posts them. Allocates nothing unless the work is refused. After a
 * refusal it looks for the cause, so that the message can name it. Confined to the session's thread.
 */
final class WorkPoster {

    /** Result for a full send queue. Callers may wait instead of failing. */
    static final Refusal QUEUE_FULL = Refusal.invalid(
            Status.Code.RESOURCE_EXHAUSTED,
            "the send queue is full; wait for completions, or give the connection a longer one"
                    + " (ConnectionOptions.send_queue)");

    private static final long MAX_LENGTH = 0xFFFF_FFFFL;

    private final SessionMemory memory;
    private final int maxSge;
    private final Wr request = new Wr();

    WorkPoster(SessionMemory memory, int maxSge) {
        this.memory = memory;
        this.maxSge = Math.min(maxSge, Wr.MAX_SGE);
    }

    /** Posts work. Returns null on success, and {@link #QUEUE_FULL} if the send queue has no room. */
    @Nullable
    Refusal post(ConnectionWork work, WorkItem item, CompletionTarget sink) {
        WrOpcode opcode = item.opcode;
        if (opcode == null) {
            return Refusal.invalid("the work request names no work; set write, read, send, receive or another");
        }
        if (item.sgeCount > maxSge) {
            return tooManyElements(item);
        }
        if (opcode == WrOpcode.RDMA_READ && item.sgeCount != 1) {
            return Refusal.invalid("the read has " + item.sgeCount + " local elements; it needs exactly one");
        }
        if (opcode.isAtomic() && !fitsResult(item)) {
            return Refusal.invalid("the local element of an atomic operation receives the 8 original bytes; give one"
                    + " element of length 8, or none");
        }
        if (!item.remote && needsRemote(item, opcode)) {
            return Refusal.invalid("remote is not set; give the STag and the tagged offset that the peer's application"
                    + " advertised");
        }
        boolean receive = opcode == WrOpcode.RECEIVE;
        if (item.withFlush && (receive || opcode.isLocal())) {
            return Refusal.invalid("with_flush is for Writes, Sends and Immediate Data; this work sends no data");
        }
        SharedReceiveWork shared = work.sharedReceives();
        if (receive && shared != null) {
            return Refusal.invalid("connection " + work.connection() + " takes its receives from shared receive queue "
                    + shared.id() + "; post them there (shared_receive_queue instead of connection)");
        }
        int slot = work.claim(sink, item.id, !item.unsignaled || receive, receive);
        if (slot < 0) {
            return receive ? receiveQueueFull(work) : QUEUE_FULL;
        }
        Refusal missing = fill(item, slot, opcode);
        if (missing != null) {
            work.unclaim(slot);
            return missing;
        }
        PostResult result = work.post(request);
        return switch (result) {
            case POSTED -> null;
            case QUEUE_FULL -> receive ? receiveQueueFull(work) : QUEUE_FULL;
            case INVALID_STATE -> notReady(work, item.isFlush());
            case INVALID_REQUEST -> explain(work, item, opcode);
        };
    }

    /** Posts a receive to a shared receive queue. Returns null on success. */
    @Nullable
    Refusal post(SharedReceiveWork queue, WorkItem item, CompletionTarget sink) {
        if (item.opcode != WrOpcode.RECEIVE) {
            return Refusal.invalid(
                    "a shared receive queue takes receives only; for other work name a connection instead"
                            + " of shared_receive_queue");
        }
        if (item.connection != 0) {
            return Refusal.invalid("the receive names connection " + Long.toUnsignedString(item.connection)
                    + " and shared receive queue " + queue.id() + "; name one of them");
        }
        if (item.sgeCount > maxSge) {
            return tooManyElements(item);
        }
        int slot = queue.claim(sink, item.id);
        if (slot < 0) {
            return sharedQueueFull(queue);
        }
        Refusal missing = fill(item, slot, WrOpcode.RECEIVE);
        if (missing != null) {
            queue.unclaim(slot);
            return missing;
        }
        return switch (queue.post(request)) {
            case POSTED -> null;
            case QUEUE_FULL -> sharedQueueFull(queue);
            case INVALID_STATE -> Refusal.flushed("shared receive queue " + queue.id() + " was destroyed");
            case INVALID_REQUEST -> {
                Refusal refusal =
                        explainElements(item, "the shared receive queue", new RegionUser(queue.domain(), 0), true);
                yield refusal != null ? refusal : Refusal.invalid("the device refused the receive");
            }
        };
    }

    private Refusal tooManyElements(WorkItem item) {
        return Refusal.invalid(
                "the work request has " + item.sgeCount + " elements; at most " + maxSge + " are possible, split it");
    }

    private static Refusal sharedQueueFull(SharedReceiveWork queue) {
        return Refusal.invalid(
                Status.Code.RESOURCE_EXHAUSTED,
                "shared receive queue " + queue.id() + " is full with " + queue.capacity()
                        + " receives; wait for messages, or create a longer one (capacity)");
    }

    private static boolean fitsResult(WorkItem item) {
        return item.sgeCount == 0 || item.sgeCount == 1 && item.lengths[0] == Long.BYTES;
    }

    /**
     * Returns whether the work needs a remote address. Without this check the peer would see a missing address as an
     * invalid STag and end the connection.
     */
    private static boolean needsRemote(WorkItem item, WrOpcode opcode) {
        return switch (opcode) {
            case RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE, RDMA_READ -> hasOctets(item);
            case FETCH_ADD, COMPARE_SWAP -> true;
            case SEND, RECEIVE, IMMEDIATE, LOCAL_INVALIDATE, ENABLE, FLUSH -> false;
        };
    }

    private static boolean hasOctets(WorkItem item) {
        for (int i = 0; i < item.sgeCount; i++) {
            if (item.lengths[i] != 0) {
                return true;
            }
        }
        return false;
    }

    private @Nullable Refusal fill(WorkItem item, int slot, WrOpcode opcode) {
        request.reset(slot, opcode);
        MemoryRegion inline = item.inline;
        if (inline != null) {
            request.addSge(inline, item.offsets[0], item.lengths[0]);
        }
        for (int i = 0; inline == null && i < item.sgeCount; i++) {
            SessionRegion region = memory.find(item.regions[i]);
            if (region == null) {
                return missing(item.regions[i]);
            }
            request.addSge(region.region(), item.offsets[i], item.lengths[i]);
        }
        request.remote(item.remoteStag, item.remoteTaggedOffset)
                .fence(item.fence)
                .localFence(item.localFence)
                .solicited(item.solicited)
                .flush(item.withFlush);
        if (item.invalidate) {
            request.invalidateStag(item.invalidateStag);
        }
        switch (opcode) {
            case IMMEDIATE, RDMA_WRITE_WITH_IMMEDIATE -> request.immediate(item.immediate);
            case FETCH_ADD -> request.add(item.operand, item.operandMask);
            case COMPARE_SWAP -> request.compareSwap(item.compare, item.compareMask, item.operand, item.operandMask);
            case LOCAL_INVALIDATE, ENABLE -> {
                return fillSubject(item, opcode);
            }
            case RDMA_WRITE, RDMA_READ, SEND, RECEIVE, FLUSH -> {}
        }
        return null;
    }

    private @Nullable Refusal fillSubject(WorkItem item, WrOpcode opcode) {
        SessionRegion region = memory.find(item.subject);
        if (region == null) {
            return missing(item.subject);
        }
        if (opcode == WrOpcode.ENABLE) {
            request.enable(region.region(), item.key);
        } else {
            request.invalidate(region.region());
        }
        return null;
    }

    private static Refusal missing(long region) {
        return Refusal.protection(
                Status.Code.NOT_FOUND,
                "region " + Long.toUnsignedString(region) + " is not registered in this session; register it first");
    }

    private static Refusal receiveQueueFull(ConnectionWork work) {
        return Refusal.invalid(
                Status.Code.RESOURCE_EXHAUSTED,
                "the receive queue is full with " + work.receiveQueue() + " receives; wait for messages, or give the"
                        + " connection a longer one (ConnectionOptions.receive_queue)");
    }

    /** @param flush true if the work reports on earlier work */
    private static Refusal notReady(ConnectionWork work, boolean flush) {
        QueuePairState state = work.queuePair().state();
        if (state == QueuePairState.IDLE || state == QueuePairState.CONNECTING) {
            return Refusal.notYet("connection " + work.connection() + " is "
                    + (state == QueuePairState.IDLE ? "idle" : "connecting")
                    + "; wait for Connect or Accept to return, then post the work");
        }
        StreamError error = work.queuePair().error();
        String end = error == null ? " is closing or has ended" : " has ended: " + error;
        String message = "connection " + work.connection() + end + "; " + CompletionProtos.remedy(error);
        return flush ? Refusal.flushed(message, error) : Refusal.flushed(ApiError.closed(error, message));
    }

    /** Finds the reason why the engine refused the work. */
    private Refusal explain(ConnectionWork work, WorkItem item, WrOpcode opcode) {
        if (opcode.isLocal()) {
            return explainSubject(work, item);
        }
        boolean noReads = work.queuePair().attributes().ord() == 0;
        if (noReads && item.isFlush()) {
            return Refusal.invalid(
                    Status.Code.FAILED_PRECONDITION,
                    "a flush is an RDMA Read of no bytes, and the connection allows none: its ord is 0; connect with"
                            + " ord of at least 1 here and ird of at least 1 at the peer, or have the peer answer by a"
                            + " Send");
        }
        boolean requests = opcode == WrOpcode.RDMA_READ || opcode.isAtomic();
        boolean writes = requests || opcode == WrOpcode.RECEIVE;
        Refusal refusal = explainElements(item, "the connection", user(work), writes);
        if (refusal != null) {
            return refusal;
        }
        if (requests && noReads) {
            return Refusal.invalid("the connection allows no RDMA Reads and atomic operations: its ORD is 0; connect"
                    + " with ord of at least 1 here and ird of at least 1 at the peer");
        }
        if (isExtension(opcode)) {
            return Refusal.invalid("the connection has no Immediate Data and atomic operations (RFC 7306): they are"
                    + " switched off here (sidewarp.extensions), or the peer is too old");
        }
        return Refusal.invalid("the device refused the work request");
    }

    private static RegionUser user(ConnectionWork work) {
        TlsAttributes tls = work.queuePair().attributes().tls();
        return new RegionUser(
                work.domain(),
                work.queuePair().number(),
                tls == null ? "" : tls.peer().id().toString());
    }

    private static boolean isExtension(WrOpcode opcode) {
        return switch (opcode) {
            case IMMEDIATE, RDMA_WRITE_WITH_IMMEDIATE, FETCH_ADD, COMPARE_SWAP -> true;
            case RDMA_WRITE, RDMA_READ, SEND, RECEIVE, LOCAL_INVALIDATE, ENABLE, FLUSH -> false;
        };
    }

    private Refusal explainSubject(ConnectionWork work, WorkItem item) {
        SessionRegion region = memory.find(item.subject);
        if (region == null) {
            return missing(item.subject);
        }
        if (region.region().queuePair() != work.queuePair().number()) {
            return Refusal.protection(
                    Status.Code.PERMISSION_DENIED,
                    "region " + item.subject + " is not bound to connection " + work.connection()
                            + "; register it with RegisterRegionRequest.connection");
        }
        return item.key < 0 || item.key > 0xFF
                ? Refusal.invalid("key " + Integer.toUnsignedString(item.key) + " is not in 0..255")
                : Refusal.protection(
                        Status.Code.FAILED_PRECONDITION,
                        "region " + item.subject + " is " + region.region().state()
                                + " and cannot be used; deregister it and register anew");
    }

    /**
     * Returns the refusal for an invalid element of a work request, or null.
     *
     * @param where name of the target in messages
     */
    private @Nullable Refusal explainElements(WorkItem item, String where, RegionUser user, boolean writes) {
        long total = 0;
        for (int i = 0; i < item.sgeCount; i++) {
            SessionRegion region = memory.find(item.regions[i]);
            if (region == null) {
                break;
            }
            Refusal refusal = explain(region, item.offsets[i], item.lengths[i], writes);
            if (refusal == null) {
                refusal = explainAssociation(region, where, user);
            }
            if (refusal != null) {
                return refusal;
            }
            total += item.lengths[i];
        }
        return total > MAX_LENGTH
                ? Refusal.invalid("the work request has " + total + " bytes; at most " + MAX_LENGTH
                        + " are possible (2^32-1), split it")
                : null;
    }

    private static @Nullable Refusal explain(SessionRegion registered, long offset, long length, boolean writes) {
        MemoryRegion region = registered.region();
        String name = "region " + registered.id();
        if (Long.compareUnsigned(length, region.length()) > 0
                || Long.compareUnsigned(offset, region.length() - length) > 0) {
            return Refusal.protection(
                    Status.Code.OUT_OF_RANGE,
                    "offset " + Long.toUnsignedString(offset) + " and length " + Long.toUnsignedString(length)
                            + " are outside of " + name + ", which has " + region.length() + " bytes");
        }
        if (!region.isValidOrExpected()) {
            String remedy = region.state() == RegionState.INVALIDATED && region.queuePair() != 0
                    ? "enable it (EnableWork), or deregister it and register anew"
                    : "deregister it and register anew";
            return Refusal.protection(
                    Status.Code.FAILED_PRECONDITION, name + " is " + region.state() + " and cannot be used; " + remedy);
        }
        if (writes && !region.allows(AccessRight.LOCAL_WRITE.bit())) {
            return Refusal.protection(
                    Status.Code.PERMISSION_DENIED,
                    name + " was registered without ACCESS_LOCAL_WRITE, which the target of a read or receive needs");
        }
        return null;
    }

    private static @Nullable Refusal explainAssociation(SessionRegion registered, String where, RegionUser user) {
        MemoryRegion region = registered.region();
        Pd domain = user.protectionDomain();
        if (region.protectionDomain() != domain) {
            return Refusal.protection(
                    Status.Code.PERMISSION_DENIED,
                    "region " + registered.id() + " is in protection domain "
                            + region.protectionDomain().id() + ", " + where + " in " + domain.id() + "; use the same");
        }
        if (!region.peer().isEmpty() && !region.peer().equals(user.peer())) {
            return Refusal.protection(
                    Status.Code.PERMISSION_DENIED,
                    "region " + registered.id() + " was registered for the peer " + region.peer() + " only, and "
                            + (user.peer().isEmpty()
                                    ? "TLS has verified no peer of " + where
                                    : "the peer is " + user.peer())
                            + "; use a region without peer_identity");
        }
        if (region.queuePair() != 0 && region.queuePair() != user.queuePair()) {
            return Refusal.protection(
                    Status.Code.PERMISSION_DENIED,
                    "region " + registered.id() + " was registered for connection " + registered.connection()
                            + " only");
        }
        return null;
    }
}
