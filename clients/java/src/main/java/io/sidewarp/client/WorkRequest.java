// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.ring.WorkEntryFlyweight;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One work request, immutable and without an id. Prepare it once and post it any number of times, from any thread. */
public final class WorkRequest {

    /** Maximum number of elements: more than devices take (max_sge), and few enough for a message. */
    private static final int MAX_ELEMENTS = 1024;

    private static final RemoteAddress NO_ADDRESS = new RemoteAddress(0, 0);

    private final Opcode opcode;

    /** Connection, or with FLAG_SHARED the shared receive queue. */
    private final long owner;

    /** Confirmation of the connection; null for the receives of a shared receive queue. */
    private final @Nullable Confirmation confirmation;

    /** Flags of {@link WorkEntryFlyweight}. */
    private final int flags;

    /** Place in the peer's memory; with FLAG_INVALIDATE, only the STag to invalidate. */
    private final RemoteAddress remote;

    private final List<Sge> local;
    private final Operands operands;

    /**
     * Request as rings take it, made at the first post to a ring. It is immutable: threads that race make equal
     * objects.
     */
    private @Nullable WorkImage image;

    /** Request as the gRPC API takes it, made at the first use. */
    private volatile io.sidewarp.v1.@Nullable WorkRequest proto;

    /**
     * Numbers of a request.
     *
     * @param operand number to add or to swap in, Immediate Data, or the key of a region's new STag
     */
    record Operands(long operand, long operandMask, long compare, long compareMask) {

        static final Operands NONE = of(0);

        static Operands of(long operand) {
            return new Operands(operand, 0, 0, 0);
        }
    }

    private WorkRequest(
            Opcode opcode,
            long owner,
            @Nullable Confirmation confirmation,
            int flags,
            RemoteAddress remote,
            List<Sge> local,
            Operands operands) {
        if (local.size() > MAX_ELEMENTS) {
            throw new IllegalArgumentException("The work request has " + local.size() + " elements; at most "
                    + MAX_ELEMENTS + " are possible. Split the work request.");
        }
        this.opcode = opcode;
        this.owner = owner;
        this.confirmation = confirmation;
        this.flags = flags;
        this.remote = remote;
        this.local = local;
        this.operands = operands;
    }

    /** Makes an RDMA Write of the local parts, one after another, to the peer's memory. */
    public static WorkRequest write(Connection connection, RemoteAddress remote, Sge... local) {
        return of(Opcode.WRITE, connection, remote, List.of(local), Operands.NONE);
    }

    /** Makes an RDMA Read from the peer's memory into the local part, which needs {@link Access#LOCAL_WRITE}. */
    public static WorkRequest read(Connection connection, RemoteAddress remote, Sge local) {
        return of(Opcode.READ, connection, remote, List.of(local), Operands.NONE);
    }

    /** Makes a Send of the local parts as one message. Without parts, the message is empty. */
    public static WorkRequest send(Connection connection, Sge... local) {
        return of(Opcode.SEND, connection, NO_ADDRESS, List.of(local), Operands.NONE);
    }

    /** Makes a receive of one message into the local parts, which need {@link Access#LOCAL_WRITE}. */
    public static WorkRequest receive(Connection connection, Sge... local) {
        return of(Opcode.RECEIVE, connection, NO_ADDRESS, List.of(local), Operands.NONE);
    }

    /**
     * Makes a receive of one message, of any connection that uses the queue.
     *
     * @param local parts of regions with {@link Access#LOCAL_WRITE} that all connections of the protection domain may
     *     use
     */
    public static WorkRequest receive(SharedReceiveQueue queue, Sge... local) {
        return new WorkRequest(
                Opcode.RECEIVE,
                queue.id(),
                null,
                WorkEntryFlyweight.FLAG_SHARED,
                NO_ADDRESS,
                List.of(local),
                Operands.NONE);
    }

    /** Makes a Write of no bytes. Its completion reports that all earlier work is complete. */
    static WorkRequest marker(long connection) {
        return new WorkRequest(Opcode.WRITE, connection, null, 0, NO_ADDRESS, List.of(), Operands.NONE);
    }

    /**
     * Makes Immediate Data: 8 bytes that arrive in the completion of one receive of the peer, in order with Sends.
     *
     * @param data a number. It travels in network byte order, and {@link WorkCompletion#immediate()} of the peer is the
     *     same number.
     */
    public static WorkRequest immediate(Connection connection, long data) {
        return of(Opcode.IMMEDIATE, connection, NO_ADDRESS, List.of(), Operands.of(data));
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
        return of(Opcode.FETCH_ADD, connection, remote, List.of(), new Operands(add, mask, 0, 0));
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
        Operands operands = new Operands(swap, swapMask, compare, compareMask);
        return of(Opcode.COMPARE_SWAP, connection, remote, List.of(), operands);
    }

    /**
     * Makes a request that invalidates the STag of a local region, in order with earlier and later work.
     *
     * @param region region that only this connection may use ({@link RegionOptions})
     */
    public static WorkRequest invalidate(Connection connection, Region region) {
        return of(Opcode.LOCAL_INVALIDATE, connection, NO_ADDRESS, List.of(new Sge(region.id(), 0, 0)), Operands.NONE);
    }

    /**
     * Makes a request that enables a local region with another STag, {@link Region#addressWithKey}, in order with
     * earlier and later work.
     *
     * @param region region that only this connection may use ({@link RegionOptions})
     * @param key low 8 bits of the new STag, 0 to 255; use another key each time
     */
    public static WorkRequest enable(Connection connection, Region region, int key) {
        return of(Opcode.ENABLE, connection, NO_ADDRESS, List.of(new Sge(region.id(), 0, 0)), Operands.of(key));
    }

    /**
     * Makes a flush. It completes when all earlier work of the connection has been placed at the peer's RDMA layer, and
     * fails with the peer's error otherwise. The peer's program may not have seen the data, and the data is not
     * durable. A flush takes one of the connection's ord.
     */
    public static WorkRequest flush(Connection connection) {
        return of(Opcode.FLUSH, connection, NO_ADDRESS, List.of(), Operands.NONE);
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
        return flagged(WorkEntryFlyweight.FLAG_WITH_FLUSH);
    }

    /** Returns a copy that waits until all earlier work of the connection is complete. */
    public WorkRequest fencedLocally() {
        return flagged(WorkEntryFlyweight.FLAG_LOCAL_FENCE);
    }

    /**
     * Returns a copy that sends Immediate Data behind the data.
     *
     * @param data a number, as for {@link #immediate(Connection, long)}
     * @throws IllegalStateException if this request is not a Write
     */
    public WorkRequest withImmediate(long data) {
        if (opcode != Opcode.WRITE && opcode != Opcode.WRITE_WITH_IMMEDIATE) {
            throw new IllegalStateException("only a Write can be followed by Immediate Data");
        }
        return copy(Opcode.WRITE_WITH_IMMEDIATE, flags, remote, local, Operands.of(data));
    }

    /**
     * Returns a copy of an atomic operation that also stores the earlier value in local memory, in the byte order of
     * this machine.
     *
     * @param local 8 bytes of a region with {@link Access#LOCAL_WRITE}
     * @throws IllegalStateException if this request is not an atomic operation
     */
    public WorkRequest into(Sge local) {
        if (opcode != Opcode.FETCH_ADD && opcode != Opcode.COMPARE_SWAP) {
            throw new IllegalStateException("only an atomic operation brings back a value");
        }
        return copy(opcode, flags, remote, List.of(local), operands);
    }

    /** Returns a copy that waits until all earlier RDMA Reads and atomic operations of the connection are complete. */
    public WorkRequest fenced() {
        return flagged(WorkEntryFlyweight.FLAG_FENCE);
    }

    /**
     * Returns a copy that has no completion when it succeeds.
     *
     * <p>Over gRPC its credit becomes free with a later completion of the connection. The queue itself asks for a
     * completion when unsignaled requests hold half of the credits, or when hardly any credit is free. In rings its
     * blocks become free without a completion.
     */
    public WorkRequest unsignaled() {
        return flagged(WorkEntryFlyweight.FLAG_UNSIGNALED);
    }

    /**
     * Returns a copy that wakes a peer that waits for solicited events.
     *
     * @throws IllegalStateException if this request is no Send and has no Immediate Data
     */
    public WorkRequest solicited() {
        if (opcode != Opcode.SEND && opcode != Opcode.IMMEDIATE && opcode != Opcode.WRITE_WITH_IMMEDIATE) {
            throw new IllegalStateException("only a Send or Immediate Data can be solicited");
        }
        return flagged(WorkEntryFlyweight.FLAG_SOLICITED);
    }

    /**
     * Returns a copy that invalidates an STag of the peer when the message is delivered there.
     *
     * @throws IllegalStateException if this request is not a Send
     */
    public WorkRequest invalidating(int stag) {
        if (opcode != Opcode.SEND) {
            throw new IllegalStateException("only a Send can invalidate an STag");
        }
        return copy(opcode, flags | WorkEntryFlyweight.FLAG_INVALIDATE, new RemoteAddress(stag, 0), local, operands);
    }

    Opcode opcode() {
        return opcode;
    }

    /** Returns the connection, or with FLAG_SHARED the shared receive queue. */
    long owner() {
        return owner;
    }

    /** Returns the connection; 0 for the receives of a shared receive queue. */
    long connection() {
        return has(WorkEntryFlyweight.FLAG_SHARED) ? 0 : owner;
    }

    /** Returns whether the request has a flag of {@link WorkEntryFlyweight}. */
    boolean has(int flag) {
        return (flags & flag) != 0;
    }

    int flags() {
        return flags;
    }

    RemoteAddress remote() {
        return remote;
    }

    List<Sge> local() {
        return local;
    }

    Operands operands() {
        return operands;
    }

    /** Returns whether the request carries data to the peer. */
    boolean isData() {
        return switch (opcode) {
            case WRITE, WRITE_WITH_IMMEDIATE, SEND, IMMEDIATE -> true;
            default -> false;
        };
    }

    /** Returns whether the request succeeds with an answer of the peer. */
    boolean isAnswered() {
        return switch (opcode) {
            case READ, FETCH_ADD, COMPARE_SWAP, FLUSH -> true;
            default -> has(WorkEntryFlyweight.FLAG_WITH_FLUSH);
        };
    }

    boolean isReceive() {
        return opcode == Opcode.RECEIVE;
    }

    boolean isUnsignaled() {
        return has(WorkEntryFlyweight.FLAG_UNSIGNALED);
    }

    /** Returns the request as the gRPC API takes it, without an id. */
    io.sidewarp.v1.WorkRequest toProto() {
        io.sidewarp.v1.WorkRequest made = proto;
        if (made == null) {
            made = Protos.work(this);
            proto = made;
        }
        return made;
    }

    /**
     * Returns the request as the Queue call takes it.
     *
     * @param signaled whether the request has a completion in any case
     */
    io.sidewarp.v1.WorkRequest toProto(long id, boolean signaled) {
        return toProto().toBuilder()
                .setId(id)
                .setUnsignaled(isUnsignaled() && !signaled)
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
            made = WorkImage.of(this);
            image = made;
        }
        return made;
    }

    /** Returns the record of confirmed data, for work of a connection. */
    @Nullable
    Confirmation confirmation() {
        return confirmation;
    }

    private static WorkRequest of(
            Opcode opcode, Connection connection, RemoteAddress remote, List<Sge> local, Operands operands) {
        Confirmation known = connection instanceof GrpcConnection grpc ? grpc.confirmation() : null;
        return new WorkRequest(opcode, connection.id(), known, 0, remote, local, operands);
    }

    private WorkRequest flagged(int flag) {
        return copy(opcode, flags | flag, remote, local, operands);
    }

    private WorkRequest copy(
            Opcode newOpcode, int newFlags, RemoteAddress newRemote, List<Sge> newLocal, Operands newOperands) {
        return new WorkRequest(newOpcode, owner, confirmation, newFlags, newRemote, newLocal, newOperands);
    }
}
