// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.testing;

import io.sidewarp.ring.CompletionEntryFlyweight;
import io.sidewarp.ring.RingConsumer;
import io.sidewarp.ring.RingLayout;
import io.sidewarp.ring.RingProducer;
import io.sidewarp.ring.RingRecord;
import io.sidewarp.ring.WorkEntryFlyweight;
import io.sidewarp.v1.CompletionRing;
import io.sidewarp.v1.CreateCompletionRingRequest;
import io.sidewarp.v1.CreateWorkRingRequest;
import io.sidewarp.v1.RingFile;
import io.sidewarp.v1.RingServiceGrpc;
import io.sidewarp.v1.Sge;
import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WorkRequest;
import io.sidewarp.v1.WorkRing;
import io.sidewarp.v1.WorkRingKind;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A completion ring with a send ring and a receive ring, used by the flyweights alone. For one thread. */
public final class TestRings implements AutoCloseable {

    private static final long SECONDS = 20;

    private final Arena arena = Arena.ofShared();
    private final RingServiceGrpc.RingServiceBlockingStub service;
    private final CompletionRing completionRing;
    private final WorkRing sendRing;
    private final WorkRing receiveRing;
    private final Path volume;
    private final SocketChannel socket;
    private final RingProducer sends;
    private final RingProducer receives;
    private final RingConsumer completions;
    private final WorkEntryFlyweight entry =
            new WorkEntryFlyweight(MemorySegment.ofArray(new long[WorkEntryFlyweight.MAX_BLOCKS * 8]));
    private final CompletionEntryFlyweight completion =
            new CompletionEntryFlyweight(MemorySegment.ofArray(new long[CompletionEntryFlyweight.MAX_BLOCKS * 8]));

    /** @param entries of the completion ring, and blocks of the others */
    public TestRings(TestSidecar sidecar, TestSession session, int entries) {
        volume = sidecar.sharedVolume();
        service = RingServiceGrpc.newBlockingStub(session.channel());
        completionRing = service.createCompletionRing(CreateCompletionRingRequest.newBuilder()
                        .setSession(session.token())
                        .setEntries(entries)
                        .build())
                .getCompletionRing();
        sendRing = workRing(session, WorkRingKind.WORK_RING_KIND_SEND);
        receiveRing = workRing(session, WorkRingKind.WORK_RING_KIND_RECEIVE);
        try {
            socket = connect(sidecar.socket().resolveSibling(completionRing.getSocket()));
            sends = new RingProducer(
                    map(sendRing.getFile(), RingLayout.KIND_SEND, sendRing.getBlocks()), sendRing.getBlocks());
            receives = new RingProducer(
                    map(receiveRing.getFile(), RingLayout.KIND_RECEIVE, receiveRing.getBlocks()),
                    receiveRing.getBlocks());
            completions = new RingConsumer(
                    map(completionRing.getFile(), RingLayout.KIND_COMPLETION, completionRing.getEntries()),
                    completionRing.getEntries(),
                    CompletionEntryFlyweight.MAX_BLOCKS);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private WorkRing workRing(TestSession session, WorkRingKind kind) {
        return service.createWorkRing(CreateWorkRingRequest.newBuilder()
                        .setSession(session.token())
                        .setKind(kind)
                        .setCompletionRing(completionRing.getId())
                        .build())
                .getWorkRing();
    }

    private SocketChannel connect(Path path) throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        channel.connect(UnixDomainSocketAddress.of(path));
        channel.write(
                RingRecord.of(RingRecord.HELLO, 0, completionRing.getToken().toByteArray()));
        ByteBuffer welcome = ByteBuffer.allocate(RingRecord.HEADER).order(ByteOrder.nativeOrder());
        while (welcome.hasRemaining()) {
            if (channel.read(welcome) < 0) {
                throw new IOException("the socket of rings was closed");
            }
        }
        if (welcome.getShort(RingRecord.TYPE_OFFSET) != RingRecord.WELCOME) {
            throw new IOException("no WELCOME");
        }
        channel.configureBlocking(false);
        return channel;
    }

    private MemorySegment map(RingFile file, int kind, int blocks) throws IOException {
        try (FileChannel channel =
                FileChannel.open(volume.resolve(file.getPath()), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment segment = channel.map(FileChannel.MapMode.READ_WRITE, 0, file.getLength(), arena);
            RingLayout.check(segment, kind, blocks);
            return segment;
        }
    }

    public CompletionRing completionRing() {
        return completionRing;
    }

    public WorkRing sendRing() {
        return sendRing;
    }

    public WorkRing receiveRing() {
        return receiveRing;
    }

    public SocketChannel socket() {
        return socket;
    }

    public RingProducer sends() {
        return sends;
    }

    public RingProducer receives() {
        return receives;
    }

    public RingConsumer completions() {
        return completions;
    }

    /** The entry that {@link #publish} writes. */
    public WorkEntryFlyweight entry() {
        entry.segment().fill((byte) 0);
        return entry;
    }

    /** Posts work with signs for the sidecar where it sleeps. */
    public void post(WorkRequest... work) {
        for (WorkRequest request : work) {
            publish(request);
        }
        wakeSidecar();
    }

    /** Writes work into its ring, when there is room. */
    public void publish(WorkRequest request) {
        encode(request);
        publish(request.hasReceive());
    }

    /** Returns whether there is room for work now. */
    public boolean hasRoom(WorkRequest request) {
        encode(request);
        return (request.hasReceive() ? receives : sends).hasRoom(entry.blocks());
    }

    /** Writes the entry into a ring, when there is room. */
    public void publish(boolean receive) {
        RingProducer ring = receive ? receives : sends;
        waitFor(() -> ring.hasRoom(entry.blocks()));
        ring.publish(entry.segment(), entry.blocks());
    }

    /** Wakes the sidecar where it sleeps. */
    public void wakeSidecar() {
        if (sends.takeSleeper(true)) {
            send(RingRecord.of(RingRecord.WAKE, sendRing.getId()));
        }
        if (receives.takeSleeper(true)) {
            send(RingRecord.of(RingRecord.WAKE, receiveRing.getId()));
        }
    }

    private void send(ByteBuffer record) {
        try {
            while (record.hasRemaining()) {
                socket.write(record);
            }
        } catch (IOException e) {
            // The sidecar has closed the socket; the next read tells.
        }
    }

    private void encode(WorkRequest request) {
        WorkEntryFlyweight work = entry();
        int flags = (request.getFence() ? WorkEntryFlyweight.FLAG_FENCE : 0)
                | (request.getLocalFence() ? WorkEntryFlyweight.FLAG_LOCAL_FENCE : 0)
                | (request.getUnsignaled() ? WorkEntryFlyweight.FLAG_UNSIGNALED : 0)
                | (request.getWithFlush() ? WorkEntryFlyweight.FLAG_WITH_FLUSH : 0);
        work.id(request.getId()).connection(request.getConnection());
        List<Sge> local = List.of();
        switch (request.getWorkCase()) {
            case WRITE -> {
                work.opcode(
                        request.getWrite().hasImmediate()
                                ? WorkEntryFlyweight.OPCODE_WRITE_WITH_IMMEDIATE
                                : WorkEntryFlyweight.OPCODE_WRITE);
                work.remoteStag(request.getWrite().getRemote().getStag())
                        .remoteOffset(request.getWrite().getRemote().getTaggedOffset());
                if (request.getWrite().hasImmediate()) {
                    work.operands(request.getWrite().getImmediate(), 0, 0, 0);
                }
                local = request.getWrite().getLocalList();
            }
            case READ -> {
                work.opcode(WorkEntryFlyweight.OPCODE_READ)
                        .remoteStag(request.getRead().getRemote().getStag())
                        .remoteOffset(request.getRead().getRemote().getTaggedOffset());
                local = request.getRead().getLocalList();
            }
            case SEND -> {
                work.opcode(WorkEntryFlyweight.OPCODE_SEND);
                flags |= request.getSend().getSolicited() ? WorkEntryFlyweight.FLAG_SOLICITED : 0;
                if (request.getSend().hasInvalidateStag()) {
                    flags |= WorkEntryFlyweight.FLAG_INVALIDATE;
                    work.remoteStag(request.getSend().getInvalidateStag());
                }
                local = request.getSend().getLocalList();
            }
            case RECEIVE -> {
                work.opcode(WorkEntryFlyweight.OPCODE_RECEIVE);
                if (request.getSharedReceiveQueue() != 0) {
                    flags |= WorkEntryFlyweight.FLAG_SHARED;
                    work.connection(request.getSharedReceiveQueue());
                }
                local = request.getReceive().getLocalList();
            }
            case FLUSH -> work.opcode(WorkEntryFlyweight.OPCODE_FLUSH);
            case FETCH_ADD -> {
                work.opcode(WorkEntryFlyweight.OPCODE_FETCH_ADD)
                        .remoteStag(request.getFetchAdd().getRemote().getStag())
                        .remoteOffset(request.getFetchAdd().getRemote().getTaggedOffset())
                        .operands(
                                request.getFetchAdd().getAdd(),
                                request.getFetchAdd().getMask(),
                                0,
                                0);
                local = request.getFetchAdd().getLocalList();
            }
            case IMMEDIATE ->
                work.opcode(WorkEntryFlyweight.OPCODE_IMMEDIATE)
                        .remoteOffset(request.getImmediate().getData());
            case WORK_NOT_SET -> work.opcode(0);
            case COMPARE_SWAP, LOCAL_INVALIDATE, ENABLE ->
                throw new IllegalArgumentException("not encoded here: " + request.getWorkCase());
        }
        for (int i = 0; i < local.size(); i++) {
            work.element(i, local.get(i).getRegion(), local.get(i).getOffset(), (int)
                    local.get(i).getLength());
        }
        work.elements(local.size())
                .blocks(WorkEntryFlyweight.blocks(work.opcode(), local.size()))
                .flags(flags);
    }

    /** The next completion, in the API's words. */
    public WorkCompletion next() {
        waitFor(completions::isReady);
        int blocks = completions.copy(completion.segment());
        WorkCompletion.Builder builder = WorkCompletion.newBuilder()
                .setId(completion.id())
                .setConnection(completion.connection())
                .setOpcodeValue(completion.opcode())
                .setStatusValue(completion.status())
                .setLength(completion.length())
                .setMessage(completion.text())
                .setCode(completion.code())
                .setRetryValue(completion.retry())
                .setSolicited((completion.flags() & CompletionEntryFlyweight.FLAG_SOLICITED) != 0);
        if ((completion.flags() & CompletionEntryFlyweight.FLAG_IMMEDIATE) != 0) {
            builder.setImmediate(completion.result());
        }
        if ((completion.flags() & CompletionEntryFlyweight.FLAG_ORIGINAL) != 0) {
            builder.setOriginal(completion.result());
        }
        completions.advance(blocks);
        if (completions.release()) {
            send(RingRecord.of(RingRecord.WAKE, completionRing.getId()));
        }
        return builder.build();
    }

    public List<WorkCompletion> next(int count) {
        List<WorkCompletion> all = new ArrayList<>();
        while (all.size() < count) {
            all.add(next());
        }
        return all;
    }

    /** Returns whether the ring has no completion. */
    public boolean isEmpty() {
        return !completions.isReady();
    }

    /** Waits for a record, and returns its type; -1 at the end of the socket. */
    public int nextRecord() {
        ByteBuffer record = ByteBuffer.allocate(RingRecord.MAX_LENGTH).order(ByteOrder.nativeOrder());
        record.limit(RingRecord.HEADER);
        if (!read(record)) {
            return -1;
        }
        record.limit(record.getInt(RingRecord.LENGTH_OFFSET));
        return read(record) ? record.getShort(RingRecord.TYPE_OFFSET) : -1;
    }

    private boolean read(ByteBuffer buffer) {
        int[] last = {0};
        waitFor(() -> {
            try {
                last[0] = buffer.hasRemaining() ? socket.read(buffer) : 0;
                return last[0] < 0 || !buffer.hasRemaining();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        return last[0] >= 0;
    }

    private static void waitFor(java.util.function.BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("nothing came in " + Duration.ofSeconds(SECONDS));
            }
            Thread.onSpinWait();
        }
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        arena.close();
    }
}
