// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.v1.CompareSwapWork;
import io.sidewarp.v1.EnableWork;
import io.sidewarp.v1.FetchAddWork;
import io.sidewarp.v1.FlushWork;
import io.sidewarp.v1.ImmediateWork;
import io.sidewarp.v1.LocalInvalidateWork;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** One work request, immutable and without an id. Prepare it once and post it any number of times, from any thread. */
public final class WorkRequest {

    private final io.sidewarp.v1.WorkRequest proto;

    /** Confirmation of the connection; null for the receives of a shared receive queue. */
    private final @Nullable Confirmation confirmation;

    /**
     * Request as rings take it, made at the first post to a ring. It is immutable: threads that race make equal
     * objects.
     */
    private @Nullable WorkImage image;

    private WorkRequest(@Nullable Confirmation confirmation, io.sidewarp.v1.WorkRequest proto) {
        this.confirmation = confirmation;
        this.proto = proto;
    }

    /** Makes an RDMA Write of the local parts, one after another, to the peer's memory. */
    public static WorkRequest write(Connection connection, RemoteAddress remote, Sge... local) {
        return of(connection, builder -> builder.setWrite(Protos.write(remote, List.of(local))));
    }

    /** Makes an RDMA Read from the peer's memory into the local part, which needs {@link Access#LOCAL_WRITE}. */
    public static WorkRequest read(Connection connection, RemoteAddress remote, Sge local) {
        return of(connection, builder -> builder.setRead(Protos.read(remote, local)));
    }

    /** Makes a Send of the local parts as one message. Without parts, the message is empty. */
    public static WorkRequest send(Connection connection, Sge... local) {
        return of(connection, builder -> builder.setSend(Protos.send(List.of(local))));
    }

    /** Makes a receive of one message into the local parts, which need {@link Access#LOCAL_WRITE}. */
    public static WorkRequest receive(Connection connection, Sge... local) {
        return of(connection, builder -> builder.setReceive(Protos.receive(0, List.of(local))));
    }

    /**
     * Makes a receive of one message, of any connection that uses the queue.
     *
     * @param local parts of regions with {@link Access#LOCAL_WRITE} that all connections of the protection domain may
     *     use
     */
    public static WorkRequest receive(SharedReceiveQueue queue, Sge... local) {
        return new WorkRequest(
                null,
                io.sidewarp.v1.WorkRequest.newBuilder()
                        .setSharedReceiveQueue(queue.id())
                        .setReceive(Protos.receive(0, List.of(local)))
                        .build());
    }

    /**
     * Makes Immediate Data: 8 bytes that arrive in the completion of one receive of the peer, in order with Sends.
     *
     * @param data a number. It travels in network byte order, and {@link WorkCompletion#immediate()} of the peer is the
     *     same number.
     */
    public static WorkRequest immediate(Connection connection, long data) {
        return of(
                connection,
                builder -> builder.setImmediate(ImmediateWork.newBuilder().setData(data)));
    }

    /**
     * Makes an addition to 64 bits of the peer's memory. {@link WorkCompletion#original()} is the earlier value. All
     * values are numbers: in memory they have the byte order of the peer's machine, and callers do not swap bytes.
     *
     * @param remote memory in a region with {@link Access#REMOTE_ATOMIC}, aligned to 8 bytes
     */
    public static WorkRequest fetchAdd(Connection connection, RemoteAddress remote, long add) {
        return fetchAdd(connection, remote, add, 0);
    }

    /**
     * Makes an addition as {@link #fetchAdd(Connection, RemoteAddress, long)} does, in separate fields without carry
     * between them.
     *
     * @param mask the most significant bit of each field
     */
    public static WorkRequest fetchAdd(Connection connection, RemoteAddress remote, long add, long mask) {
        return of(
                connection,
                builder -> builder.setFetchAdd(FetchAddWork.newBuilder()
                        .setRemote(remote.toProto())
                        .setAdd(add)
                        .setMask(mask)));
    }

    /**
     * Makes a request that replaces 64 bits of the peer's memory if they equal the expected value.
     * {@link WorkCompletion#original()} is the earlier value. All values are numbers, as for
     * {@link #fetchAdd(Connection, RemoteAddress, long)}.
     *
     * @param remote memory in a region with {@link Access#REMOTE_ATOMIC}, aligned to 8 bytes
     */
    public static WorkRequest compareSwap(Connection connection, RemoteAddress remote, long compare, long swap) {
        return compareSwap(connection, remote, compare, -1L, swap, -1L);
    }

    /**
     * Makes a request as {@link #compareSwap(Connection, RemoteAddress, long, long)} does, for some of the bits.
     *
     * @param compareMask bits that are compared; 0 swaps unconditionally
     * @param swapMask bits that are replaced
     */
    public static WorkRequest compareSwap(
            Connection connection, RemoteAddress remote, long compare, long compareMask, long swap, long swapMask) {
        return of(
                connection,
                builder -> builder.setCompareSwap(CompareSwapWork.newBuilder()
                        .setRemote(remote.toProto())
                        .setCompare(compare)
                        .setCompareMask(compareMask)
                        .setSwap(swap)
                        .setSwapMask(swapMask)));
    }

    /**
     * Makes a request that invalidates the STag of a local region, in order with earlier and later work.
     *
     * @param region region that only this connection may use ({@link RegionOptions})
     */
    public static WorkRequest invalidate(Connection connection, Region region) {
        return of(
                connection,
                builder -> builder.setLocalInvalidate(
                        LocalInvalidateWork.newBuilder().setRegion(region.id())));
    }

    /**
     * Makes a request that enables a local region with another STag, {@link Region#addressWithKey}, in order with
     * earlier and later work.
     *
     * @param region region that only this connection may use ({@link RegionOptions})
     * @param key low 8 bits of the new STag, 0 to 255; use another key each time
     */
    public static WorkRequest enable(Connection connection, Region region, int key) {
        return of(
                connection,
                builder -> builder.setEnable(
                        EnableWork.newBuilder().setRegion(region.id()).setKey(key)));
    }

    /**
     * Makes a flush. It completes when all earlier work of the connection has been placed at the peer's RDMA layer, and
     * fails with the peer's error otherwise. The peer's program may not have seen the data, and the data is not
     * durable. A flush takes one of the connection's ord.
     */
    public static WorkRequest flush(Connection connection) {
        return of(connection, builder -> builder.setFlush(FlushWork.getDefaultInstance()));
    }

    /**
     * Returns a copy that completes when it, and everything before it, has been placed at the peer, as with
     * {@link #flush} behind it.
     *
     * @throws IllegalStateException if this request sends no data
     */
    public WorkRequest flushed() {
        if (!isData()) {
            throw new IllegalStateException("only Writes, Sends and Immediate Data can be flushed");
        }
        return new WorkRequest(
                confirmation, proto.toBuilder().setWithFlush(true).build());
    }

    /** Returns a copy that waits until all earlier work of the connection is complete. */
    public WorkRequest fencedLocally() {
        return new WorkRequest(
                confirmation, proto.toBuilder().setLocalFence(true).build());
    }

    /**
     * Returns a copy that sends Immediate Data behind the data.
     *
     * @param data a number, as for {@link #immediate(Connection, long)}
     * @throws IllegalStateException if this request is not a Write
     */
    public WorkRequest withImmediate(long data) {
        if (!proto.hasWrite()) {
            throw new IllegalStateException("only a Write can be followed by Immediate Data");
        }
        return new WorkRequest(
                confirmation,
                proto.toBuilder()
                        .setWrite(proto.getWrite().toBuilder().setImmediate(data))
                        .build());
    }

    /**
     * Returns a copy of an atomic operation that also stores the earlier value in local memory, in the byte order of
     * this machine.
     *
     * @param local 8 bytes of a region with {@link Access#LOCAL_WRITE}
     * @throws IllegalStateException if this request is not an atomic operation
     */
    public WorkRequest into(Sge local) {
        io.sidewarp.v1.WorkRequest.Builder copy = proto.toBuilder();
        if (copy.hasFetchAdd()) {
            copy.getFetchAddBuilder().clearLocal().addLocal(local.toProto());
        } else if (copy.hasCompareSwap()) {
            copy.getCompareSwapBuilder().clearLocal().addLocal(local.toProto());
        } else {
            throw new IllegalStateException("only an atomic operation brings back a value");
        }
        return new WorkRequest(confirmation, copy.build());
    }

    /** Returns a copy that waits until all earlier RDMA Reads and atomic operations of the connection are complete. */
    public WorkRequest fenced() {
        return new WorkRequest(confirmation, proto.toBuilder().setFence(true).build());
    }

    /**
     * Returns a copy that has no completion when it succeeds.
     *
     * <p>Over gRPC its credit becomes free with a later completion of the connection. The queue itself asks for a
     * completion when unsignaled requests hold half of the credits, or when hardly any credit is free. In rings its
     * blocks become free without a completion.
     */
    public WorkRequest unsignaled() {
        return new WorkRequest(
                confirmation, proto.toBuilder().setUnsignaled(true).build());
    }

    /**
     * Returns a copy that wakes a peer that waits for solicited events.
     *
     * @throws IllegalStateException if this request is no Send and has no Immediate Data
     */
    public WorkRequest solicited() {
        io.sidewarp.v1.WorkRequest.Builder copy = proto.toBuilder();
        if (copy.hasSend()) {
            copy.getSendBuilder().setSolicited(true);
        } else if (copy.hasImmediate()) {
            copy.getImmediateBuilder().setSolicited(true);
        } else if (copy.getWrite().hasImmediate()) {
            copy.getWriteBuilder().setSolicited(true);
        } else {
            throw new IllegalStateException("only a Send or Immediate Data can be solicited");
        }
        return new WorkRequest(confirmation, copy.build());
    }

    /**
     * Returns a copy that invalidates an STag of the peer when the message is delivered there.
     *
     * @throws IllegalStateException if this request is not a Send
     */
    public WorkRequest invalidating(int stag) {
        if (!proto.hasSend()) {
            throw new IllegalStateException("only a Send can invalidate an STag");
        }
        return new WorkRequest(
                confirmation,
                proto.toBuilder()
                        .setSend(proto.getSend().toBuilder().setInvalidateStag(stag))
                        .build());
    }

    long connection() {
        return proto.getConnection();
    }

    io.sidewarp.v1.WorkRequest toProto() {
        return proto;
    }

    /** Returns whether the request carries data to the peer. */
    boolean isData() {
        return proto.hasWrite() || proto.hasSend() || proto.hasImmediate();
    }

    /** Returns whether the request succeeds with an answer of the peer. */
    boolean isAnswered() {
        return proto.hasRead()
                || proto.hasFetchAdd()
                || proto.hasCompareSwap()
                || proto.hasFlush()
                || proto.getWithFlush();
    }

    boolean isReceive() {
        return proto.hasReceive();
    }

    boolean isUnsignaled() {
        return proto.getUnsignaled();
    }

    /**
     * Returns the request as the Queue call takes it.
     *
     * @param signaled whether the request has a completion in any case
     */
    io.sidewarp.v1.WorkRequest toProto(long id, boolean signaled) {
        return proto.toBuilder()
                .setId(id)
                .setUnsignaled(proto.getUnsignaled() && !signaled)
                .build();
    }

    /**
     * Returns the request as rings take it.
     *
     * @throws IllegalArgumentException if rings cannot carry the request
     */
    WorkImage image() {
        WorkImage made = image;
        if (made == null) {
            made = WorkImage.of(proto);
            image = made;
        }
        return made;
    }

    /** Returns the record of confirmed data, for work of a connection. */
    @Nullable
    Confirmation confirmation() {
        return confirmation;
    }

    private static WorkRequest of(Connection connection, UnaryOperator<io.sidewarp.v1.WorkRequest.Builder> work) {
        io.sidewarp.v1.WorkRequest.Builder builder =
                io.sidewarp.v1.WorkRequest.newBuilder().setConnection(connection.id());
        Confirmation known = connection instanceof GrpcConnection grpc ? grpc.confirmation() : null;
        return new WorkRequest(known, work.apply(builder).build());
    }
}
