// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.List;

/**
 * One work request, immutable and without an id: prepare it once and post it any number of times, from any thread.
 */
public final class WorkRequest {

    private final io.sidewarp.v1.WorkRequest proto;

    /** The request as it is sent, but for the id, which comes before it; and the same with a completion in any case. */
    private final byte[] encoded;

    private final byte[] encodedSignaled;

    private WorkRequest(io.sidewarp.v1.WorkRequest proto) {
        this.proto = proto;
        encoded = proto.toByteArray();
        encodedSignaled = proto.getUnsignaled()
                ? proto.toBuilder().setUnsignaled(false).build().toByteArray()
                : encoded;
    }

    /** RDMA Write of the local parts, one after another, to the peer's memory. */
    public static WorkRequest write(Connection connection, RemoteAddress remote, Sge... local) {
        return new WorkRequest(
                on(connection).setWrite(Protos.write(remote, List.of(local))).build());
    }

    /** RDMA Read from the peer's memory into the local part, of a region with {@link Access#LOCAL_WRITE}. */
    public static WorkRequest read(Connection connection, RemoteAddress remote, Sge local) {
        return new WorkRequest(
                on(connection).setRead(Protos.read(remote, local)).build());
    }

    /** Send of the local parts as one message. No parts: an empty message. */
    public static WorkRequest send(Connection connection, Sge... local) {
        return new WorkRequest(
                on(connection).setSend(Protos.send(List.of(local))).build());
    }

    /** Receive of one message into the local parts, of regions with {@link Access#LOCAL_WRITE}. */
    public static WorkRequest receive(Connection connection, Sge... local) {
        return new WorkRequest(
                on(connection).setReceive(Protos.receive(0, List.of(local))).build());
    }

    /** A copy that waits until all earlier RDMA Reads of the connection are complete. */
    public WorkRequest fenced() {
        return new WorkRequest(proto.toBuilder().setFence(true).build());
    }

    /**
     * A copy that gives no completion when it succeeds. Its place in the queue becomes free with a later completion
     * of the connection; the queue asks for one by itself when unsignaled requests hold half of its places.
     */
    public WorkRequest unsignaled() {
        return new WorkRequest(proto.toBuilder().setUnsignaled(true).build());
    }

    /**
     * A copy that wakes a peer that waits for solicited events.
     *
     * @throws IllegalStateException when this is not a Send
     */
    public WorkRequest solicited() {
        return changeSend(proto.getSend().toBuilder().setSolicited(true).build());
    }

    /**
     * A copy that invalidates an STag of the peer when the message is delivered there.
     *
     * @throws IllegalStateException when this is not a Send
     */
    public WorkRequest invalidating(int stag) {
        return changeSend(proto.getSend().toBuilder().setInvalidateStag(stag).build());
    }

    long connection() {
        return proto.getConnection();
    }

    boolean isReceive() {
        return proto.hasReceive();
    }

    boolean isUnsignaled() {
        return proto.getUnsignaled();
    }

    /** All fields but the id. Not to be changed. */
    byte[] encoded(boolean signaled) {
        return signaled ? encodedSignaled : encoded;
    }

    private WorkRequest changeSend(io.sidewarp.v1.SendWork send) {
        if (!proto.hasSend()) {
            throw new IllegalStateException("only a Send can be solicited or invalidate an STag");
        }
        return new WorkRequest(proto.toBuilder().setSend(send).build());
    }

    private static io.sidewarp.v1.WorkRequest.Builder on(Connection connection) {
        return io.sidewarp.v1.WorkRequest.newBuilder().setConnection(connection.id());
    }
}
