// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.fuzz;

import io.sidewarp.ring.CompletionEntryFlyweight;
import io.sidewarp.ring.RingLayout;
import io.sidewarp.ring.RingRecord;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.v1.CompletionRing;
import io.sidewarp.v1.CreateCompletionRingRequest;
import io.sidewarp.v1.CreateWorkRingRequest;
import io.sidewarp.v1.RingFile;
import io.sidewarp.v1.RingServiceGrpc;
import io.sidewarp.v1.WorkRing;
import io.sidewarp.v1.WorkRingKind;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** A completion ring with a send ring and a receive ring, whose application breaks every rule. */
final class FuzzedQueue implements AutoCloseable {

    private static final int SEND = 0;
    private static final int RECEIVE = 1;

    private final CompletionRing completionRing;
    private final FuzzedFile completions;
    private final WorkRing[] rings = new WorkRing[2];
    private final FuzzedFile[] works = new FuzzedFile[2];
    private final long[] positions = new long[2];
    private final Path path;
    private final List<SocketChannel> sockets = new ArrayList<>();
    private long consumed;
    private long succeeded;

    FuzzedQueue(TestSidecar sidecar, TestSession session, Random random) {
        RingServiceGrpc.RingServiceBlockingStub service =
                RingServiceGrpc.newBlockingStub(session.channel()).withDeadlineAfter(20, TimeUnit.SECONDS);
        completionRing = service.createCompletionRing(CreateCompletionRingRequest.newBuilder()
                        .setSession(session.token())
                        .setEntries(16 << random.nextInt(3))
                        .build())
                .getCompletionRing();
        completions = open(sidecar, completionRing.getFile());
        for (int i = 0; i < rings.length; i++) {
            rings[i] = service.createWorkRing(CreateWorkRingRequest.newBuilder()
                            .setSession(session.token())
                            .setKindValue(
                                    i == SEND
                                            ? WorkRingKind.WORK_RING_KIND_SEND_VALUE
                                            : WorkRingKind.WORK_RING_KIND_RECEIVE_VALUE)
                            .setBlocks(16 << random.nextInt(2))
                            .setCompletionRing(completionRing.getId())
                            .build())
                    .getWorkRing();
            works[i] = open(sidecar, rings[i].getFile());
        }
        path = sidecar.socket().resolveSibling(completionRing.getSocket());
    }

    private static FuzzedFile open(TestSidecar sidecar, RingFile file) {
        return new FuzzedFile(sidecar.sharedVolume().resolve(file.getPath()), file.getLength());
    }

    CompletionRing completionRing() {
        return completionRing;
    }

    /** Returns the completions of work that succeeded. */
    long succeeded() {
        return succeeded;
    }

    /** Returns the id of one of the rings. */
    long ring(Random random) {
        int which = random.nextInt(3);
        return which == 2 ? completionRing.getId() : rings[which].getId();
    }

    FuzzedFile file(Random random) {
        int which = random.nextInt(3);
        return which == 2 ? completions : works[which];
    }

    // Entries.

    /** Writes an entry as a producer does. */
    void publish(boolean receive, byte[] entry, int blocks, boolean minded) {
        int ring = receive ? RECEIVE : SEND;
        FuzzedFile file = works[ring];
        long position = positions[ring];
        if (minded && position + blocks - file.getLong(RingLayout.CONSUMED_OFFSET) > file.blocks()) {
            return;
        }
        for (int i = blocks - 1; i >= 0; i--) {
            long at = file.at(position + i);
            file.put(
                    at + Long.BYTES, entry, i * RingLayout.BLOCK_SIZE + Long.BYTES, RingLayout.BLOCK_SIZE - Long.BYTES);
            file.putLong(at, position + i + 1);
        }
        positions[ring] = position + blocks;
    }

    /** Writes a sequence of the past or the future somewhere. */
    void sequence(Random random) {
        int ring = random.nextInt(rings.length);
        long block = positions[ring] + random.nextInt(33) - 16;
        works[ring].putLong(works[ring].at(block), block + 1 + random.nextInt(5) - 2);
    }

    /** Goes on producing somewhere else, or where the sidecar reads. */
    void jump(Random random) {
        int ring = random.nextInt(rings.length);
        positions[ring] = random.nextBoolean()
                ? works[ring].getLong(RingLayout.CONSUMED_OFFSET)
                : positions[ring] + random.nextInt(41) - 20;
    }

    /** Takes the completions that are there, as a consumer does. */
    void consume(boolean wake) {
        for (int i = 0; i < completions.blocks(); i++) {
            byte[] block = completions.get(completions.at(consumed), RingLayout.BLOCK_SIZE);
            if (ByteBuffer.wrap(block).order(java.nio.ByteOrder.nativeOrder()).getLong() != consumed + 1) {
                break;
            }
            int blocks = block[CompletionEntryFlyweight.BLOCKS_OFFSET] & 0xFF;
            if (block[CompletionEntryFlyweight.STATUS_OFFSET] == CompletionEntryFlyweight.STATUS_SUCCESS) {
                succeeded++;
            }
            consumed += blocks < 1 || blocks > CompletionEntryFlyweight.MAX_BLOCKS ? 1 : blocks;
        }
        completions.putLong(RingLayout.CONSUMED_OFFSET, consumed);
        if (wake && completions.getInt(RingLayout.PRODUCER_WAITS_OFFSET) != 0) {
            completions.putInt(RingLayout.PRODUCER_WAITS_OFFSET, 0);
            write(RingRecord.of(RingRecord.WAKE, completionRing.getId()));
        }
    }

    /** Says that other completions were taken. */
    void pretendToConsume(Random random) {
        long value = switch (random.nextInt(5)) {
            case 0 -> consumed + random.nextInt(64);
            case 1 -> consumed - random.nextInt(64);
            case 2 -> 0;
            case 3 -> Long.MAX_VALUE;
            default -> random.nextLong();
        };
        completions.putLong(RingLayout.CONSUMED_OFFSET, value);
    }

    // The socket.

    /** Wakes the sidecar for the work rings. */
    void wake() {
        for (WorkRing ring : rings) {
            write(RingRecord.of(RingRecord.WAKE, ring.getId()));
        }
    }

    /** Connects with what is, or resembles, a first record. */
    void connect(Random random) {
        byte[] token = completionRing.getToken().toByteArray();
        if (random.nextInt(12) == 0) {
            token[random.nextInt(token.length)] ^= 1;
        }
        ByteBuffer hello = RingRecord.of(RingRecord.HELLO, 0, token);
        try {
            SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX);
            sockets.add(socket);
            socket.connect(UnixDomainSocketAddress.of(path));
            socket.configureBlocking(false);
            switch (random.nextInt(10)) {
                case 0 -> {
                    int all = hello.limit();
                    socket.write(hello.limit(1 + random.nextInt(all - 1)));
                    Thread.onSpinWait();
                    socket.write(hello.limit(all));
                }
                case 1 -> {
                    ByteBuffer both = ByteBuffer.allocate(256).put(hello);
                    for (WorkRing ring : rings) {
                        both.put(RingRecord.of(RingRecord.WAKE, ring.getId()));
                    }
                    socket.write(both.flip());
                }
                case 2 -> garbage(random);
                default -> socket.write(hello);
            }
        } catch (IOException e) {
            // The sidecar has closed it.
        }
    }

    /** Writes records that are wrong, or strange. */
    void garbage(Random random) {
        ByteBuffer record = switch (random.nextInt(6)) {
            case 0 -> ByteBuffer.wrap(bytes(random, 1 + random.nextInt(64)));
            case 1 -> RingRecord.of(random.nextInt(8), random.nextLong(), bytes(random, random.nextInt(300)));
            case 2 -> RingRecord.of(RingRecord.WAKE, random.nextLong());
            case 3 -> RingRecord.of(RingRecord.WAKE, ring(random), bytes(random, random.nextInt(4080)));
            case 4 -> RingRecord.of(RingRecord.WAKE, ring(random)).putInt(0, random.nextInt());
            default ->
                RingRecord.of(RingRecord.HELLO, 0, completionRing.getToken().toByteArray());
        };
        write(record.limit(random.nextInt(4) == 0 ? random.nextInt(record.limit() + 1) : record.limit()));
    }

    private static byte[] bytes(Random random, int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }

    /** Reads what the sidecar wrote. */
    void read() {
        for (SocketChannel socket : sockets) {
            try {
                if (socket.isConnected()) {
                    socket.read(ByteBuffer.allocate(1 << 16));
                }
            } catch (IOException e) {
                // The sidecar has closed it.
            }
        }
    }

    private void write(ByteBuffer record) {
        if (!sockets.isEmpty()) {
            try {
                sockets.getLast().write(record);
            } catch (IOException e) {
                // The sidecar has closed it, or the test.
            }
        }
    }

    void closeSockets() {
        for (SocketChannel socket : sockets) {
            try {
                socket.close();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
        sockets.clear();
    }

    @Override
    public void close() {
        closeSockets();
        completions.close();
        for (FuzzedFile file : works) {
            file.close();
        }
    }
}
