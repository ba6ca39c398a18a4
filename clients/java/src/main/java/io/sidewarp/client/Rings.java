// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.ring.CompletionEntryFlyweight;
import io.sidewarp.ring.RingConsumer;
import io.sidewarp.ring.RingFaults;
import io.sidewarp.ring.RingLayout;
import io.sidewarp.ring.RingProducer;
import io.sidewarp.v1.CompletionRing;
import io.sidewarp.v1.CreateCompletionRingRequest;
import io.sidewarp.v1.CreateCompletionRingResponse;
import io.sidewarp.v1.CreateWorkRingRequest;
import io.sidewarp.v1.CreateWorkRingResponse;
import io.sidewarp.v1.DestroyRingRequest;
import io.sidewarp.v1.RingFile;
import io.sidewarp.v1.RingServiceGrpc;
import io.sidewarp.v1.WorkRing;
import io.sidewarp.v1.WorkRingKind;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The mapped rings of a queue (a completion ring, a send ring and a receive ring) and their socket.
 *
 * @param arena arena of the mappings
 */
record Rings(
        Arena arena,
        RingSocket socket,
        CompletionRing completionRing,
        RingConsumer consumer,
        WorkRing sendRing,
        RingProducer sends,
        WorkRing receiveRing,
        RingProducer receives) {

    /**
     * Creates the rings.
     *
     * @param outstanding capacity in completions; 0 for the sidecar's default
     * @throws SidewarpException UNIMPLEMENTED or FAILED_PRECONDITION if rings are not possible
     */
    static Rings open(GrpcSession session, int outstanding) {
        Path api = api(session);
        session.regions().checkVolume();
        int limit = session.limits().maxQueueOutstanding();
        CompletionRing completionRing = Creation.create(
                session,
                RingServiceGrpc.getCreateCompletionRingMethod(),
                CreateCompletionRingRequest.newBuilder()
                        .setSession(session.id())
                        .setEntries(limit > 0 ? Math.min(outstanding, limit) : outstanding)
                        .build(),
                "create a completion ring",
                CreateCompletionRingResponse::getCompletionRing,
                created -> destroy(session, created));
        Arena arena = Arena.ofShared();
        try {
            Rings rings = open(session, api, completionRing, arena);
            RingFaults.raisePending();
            return rings;
        } catch (IOException | IllegalArgumentException | InternalError e) {
            arena.close();
            destroy(session, completionRing);
            throw RingErrors.notAccessible(e);
        } catch (RuntimeException e) {
            arena.close();
            destroy(session, completionRing);
            throw e;
        }
    }

    private static Rings open(GrpcSession session, Path api, CompletionRing completionRing, Arena arena)
            throws IOException {
        MemorySegment completions = map(session, completionRing.getFile(), RingLayout.KIND_COMPLETION, arena);
        WorkRing sendRing = workRing(session, WorkRingKind.WORK_RING_KIND_SEND, completionRing);
        MemorySegment sends = map(session, sendRing.getFile(), RingLayout.KIND_SEND, arena);
        WorkRing receiveRing = workRing(session, WorkRingKind.WORK_RING_KIND_RECEIVE, completionRing);
        MemorySegment receives = map(session, receiveRing.getFile(), RingLayout.KIND_RECEIVE, arena);
        RingSocket socket = RingSocket.open(
                api.resolveSibling(completionRing.getSocket()),
                completionRing.getToken().toByteArray(),
                Durations.nanos(session.client().options().callTimeout()));
        return new Rings(
                arena,
                socket,
                completionRing,
                new RingConsumer(completions, RingLayout.blocks(completions), CompletionEntryFlyweight.MAX_BLOCKS),
                sendRing,
                new RingProducer(sends, RingLayout.blocks(sends)),
                receiveRing,
                new RingProducer(receives, RingLayout.blocks(receives)));
    }

    private static Path api(GrpcSession session) {
        String target = session.client().target();
        if (Target.parse(target) instanceof Target.Unix unix) {
            return unix.path().toAbsolutePath();
        }
        throw RingErrors.noSocket(target);
    }

    private static WorkRing workRing(GrpcSession session, WorkRingKind kind, CompletionRing completionRing) {
        return Creation.create(
                session,
                RingServiceGrpc.getCreateWorkRingMethod(),
                CreateWorkRingRequest.newBuilder()
                        .setSession(session.id())
                        .setKind(kind)
                        .setCompletionRing(completionRing.getId())
                        .build(),
                "create a work ring",
                CreateWorkRingResponse::getWorkRing,
                // The work ring ends with its completion ring.
                late -> {});
    }

    /** Maps a file, and checks that it is the ring that the sidecar described. */
    private static MemorySegment map(GrpcSession session, RingFile file, int kind, Arena arena) throws IOException {
        Path path = session.regions().locate(file.getPath());
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            // A mapping would extend a shorter file.
            if (channel.size() < file.getLength() || file.getLength() < RingLayout.DATA_OFFSET) {
                throw new IOException(path + " has " + channel.size() + " bytes, and the ring has " + file.getLength());
            }
            MemorySegment segment = channel.map(FileChannel.MapMode.READ_WRITE, 0, file.getLength(), arena);
            int blocks = RingLayout.blocks(segment);
            RingLayout.check(segment, kind, blocks);
            if (Integer.bitCount(blocks) != 1 || RingLayout.fileLength(blocks) > file.getLength()) {
                throw new IOException(path + " has " + file.getLength() + " bytes, and its header has " + blocks
                        + " blocks of 64 bytes after offset 512");
            }
            return segment;
        }
    }

    private static void destroy(GrpcSession session, CompletionRing ring) {
        Creation.undo(
                session,
                RingServiceGrpc.getDestroyRingMethod(),
                DestroyRingRequest.newBuilder()
                        .setSession(session.id())
                        .setRing(ring.getId())
                        .build());
    }

    /** Ends the rings, when no thread uses them any more. */
    void unmap() {
        arena.close();
    }
}
