// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.ring.CompletionEntryFlyweight;
import io.sidewarp.ring.RingConsumer;
import io.sidewarp.ring.RingLayout;
import io.sidewarp.ring.RingProducer;
import io.sidewarp.ring.RingRecord;
import io.sidewarp.ring.WorkEntryFlyweight;
import io.sidewarp.v1.RingFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A completion ring with its work rings, served by one thread in the same way as by an event loop of the sidecar. The
 * thread polls for a while and then sleeps on the socket. It takes an entry only if the ring has room for its
 * completion.
 */
final class FakeRing {

    /** Decides the result of a work request. */
    @FunctionalInterface
    interface Work {

        /** @return whether it completes */
        boolean carryOut(WorkEntryFlyweight work, CompletionEntryFlyweight completion);
    }

    private static final int POLLS_BEFORE_SLEEP = 20;

    private final long id;
    private final Path volume;
    private final byte[] token;
    private final @Nullable String refusedHello;
    private final ServerSocketChannel server;
    private final Thread thread = new Thread(this::serve, "fake-ring");
    private final MemorySegment entry =
            Arena.ofAuto().allocate((long) WorkEntryFlyweight.MAX_BLOCKS * RingLayout.BLOCK_SIZE, 8);
    private final MemorySegment completionEntry =
            Arena.ofAuto().allocate((long) CompletionEntryFlyweight.MAX_BLOCKS * RingLayout.BLOCK_SIZE, 8);
    private final WorkEntryFlyweight work = new WorkEntryFlyweight(entry);
    private final CompletionEntryFlyweight completion = new CompletionEntryFlyweight(completionEntry);
    private final ByteBuffer input = ByteBuffer.allocate(8192).order(ByteOrder.nativeOrder());
    private @Nullable RingProducer completions;
    private @Nullable RingConsumer sends;
    private @Nullable RingConsumer receives;
    private long sendRing;
    private long receiveRing;

    final CountDownLatch welcomed = new CountDownLatch(1);
    final AtomicLong wakes = new AtomicLong();
    final AtomicLong taken = new AtomicLong();

    volatile @Nullable SocketChannel socket;
    volatile @Nullable Throwable failure;

    /** Takes no work while it is set. */
    volatile boolean holding;

    volatile Work behaviour = (request, completed) -> (request.flags() & WorkEntryFlyweight.FLAG_UNSIGNALED) == 0;

    private volatile boolean stopping;

    FakeRing(long id, Path volume, Path path, byte[] token, @Nullable String refusedHello) throws IOException {
        this.id = id;
        this.volume = volume;
        this.token = token;
        this.refusedHello = refusedHello;
        server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(path));
    }

    /** Creates the file of one of the rings; with the last one it begins to serve. */
    RingFile create(int kind, long ring, int blocks) throws IOException {
        Path file = volume.resolve("ring-" + ring);
        long length = RingLayout.fileLength(blocks);
        try (FileChannel channel = FileChannel.open(
                file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment segment = channel.map(FileChannel.MapMode.READ_WRITE, 0, length, Arena.ofAuto());
            RingLayout.initialize(segment, kind, blocks, ring, id);
            switch (kind) {
                case RingLayout.KIND_COMPLETION -> completions = new RingProducer(segment, blocks);
                case RingLayout.KIND_SEND -> {
                    sends = new RingConsumer(segment, blocks, WorkEntryFlyweight.MAX_BLOCKS);
                    sendRing = ring;
                }
                default -> {
                    receives = new RingConsumer(segment, blocks, WorkEntryFlyweight.MAX_BLOCKS);
                    receiveRing = ring;
                    thread.setDaemon(true);
                    thread.start();
                }
            }
        }
        return RingFile.newBuilder()
                .setPath(volume.relativize(file).toString())
                .setLength(length)
                .build();
    }

    @SuppressWarnings("ThreadPriorityCheck") // Polls as an event loop does.
    private void serve() {
        try (SocketChannel accepted = server.accept();
                Selector selector = Selector.open()) {
            socket = accepted;
            if (!welcome(accepted)) {
                return;
            }
            accepted.configureBlocking(false);
            accepted.register(selector, SelectionKey.OP_READ);
            int idle = 0;
            while (!stopping) {
                if (serveOnce(accepted)) {
                    idle = 0;
                } else if (++idle < POLLS_BEFORE_SLEEP) {
                    Thread.yield();
                } else {
                    sleep(selector, accepted);
                    idle = 0;
                }
            }
        } catch (IOException | RuntimeException | Error e) {
            failure = e;
        }
    }

    private boolean welcome(SocketChannel accepted) throws IOException {
        ByteBuffer hello = ByteBuffer.allocate(RingRecord.HEADER + token.length);
        while (hello.hasRemaining()) {
            if (accepted.read(hello) < 0) {
                return false;
            }
        }
        byte[] sent = Arrays.copyOfRange(hello.array(), RingRecord.HEADER, hello.capacity());
        String refused = Arrays.equals(sent, token) ? refusedHello : "wrong token";
        if (refused != null) {
            accepted.write(RingRecord.of(RingRecord.ERROR, 16, refused.getBytes(StandardCharsets.UTF_8)));
            return false;
        }
        // Something of a newer sidecar first, and in pieces.
        ByteBuffer unknown = RingRecord.of(99, 1, new byte[5]);
        accepted.write(unknown.slice(0, 7));
        accepted.write(unknown.slice(7, unknown.limit() - 7));
        accepted.write(RingRecord.of(RingRecord.WELCOME, id));
        welcomed.countDown();
        return true;
    }

    private boolean serveOnce(SocketChannel accepted) throws IOException {
        boolean busy = false;
        if (!holding) {
            busy |= take(sends(), sendRing, accepted);
            busy |= take(receives(), receiveRing, accepted);
        }
        return busy;
    }

    private boolean take(RingConsumer ring, long ringId, SocketChannel accepted) throws IOException {
        int count = 0;
        while (count < 16 && ring.isReady() && completions().hasRoom(1)) {
            int blocks = ring.copy(entry);
            ring.advance(blocks);
            completion.set(
                    work.id(),
                    (work.flags() & WorkEntryFlyweight.FLAG_SHARED) == 0 ? work.connection() : 0,
                    work.opcode(),
                    CompletionEntryFlyweight.STATUS_SUCCESS,
                    work.tag(),
                    Integer.toUnsignedLong(work.length(0)));
            if (behaviour.carryOut(work, completion)) {
                completions().publish(completionEntry, completion.blocks());
            }
            taken.incrementAndGet();
            count++;
        }
        if (count > 0) {
            if (ring.release()) {
                accepted.write(RingRecord.of(RingRecord.WAKE, ringId));
            }
            if (completions().takeSleeper(false)) {
                accepted.write(RingRecord.of(RingRecord.WAKE, id));
            }
        }
        return count > 0;
    }

    /** Returns whether there is an entry. */
    private boolean arm() {
        boolean sendReady = sends().arm(RingLayout.WAITS_FOR_ANY);
        return receives().arm(RingLayout.WAITS_FOR_ANY) || sendReady;
    }

    private RingProducer completions() {
        return Objects.requireNonNull(completions);
    }

    private RingConsumer sends() {
        return Objects.requireNonNull(sends);
    }

    private RingConsumer receives() {
        return Objects.requireNonNull(receives);
    }

    private void sleep(Selector selector, SocketChannel accepted) throws IOException {
        boolean ready = !holding && arm();
        boolean full = !completions().hasRoom(1);
        if (full) {
            completions().armForRoom();
            full = !completions().hasRoom(1);
        }
        if (!ready || full) {
            selector.select(key -> {}, holding ? 1 : 20_000);
        }
        int octets = accepted.read(input);
        if (octets < 0) {
            stopping = true;
        }
        wakes.addAndGet(Math.max(0, octets) / RingRecord.HEADER);
        input.clear();
    }

    /** Sends a record. */
    void send(ByteBuffer record) throws IOException {
        Objects.requireNonNull(socket).write(record);
    }

    /** Returns the header word of the send ring that tells whether the sidecar sleeps. */
    boolean isAsleep() {
        return sends().file().get(ValueLayout.JAVA_INT, RingLayout.CONSUMER_WAITS_OFFSET) != 0;
    }

    long id() {
        return id;
    }

    /** Ends the rings as DestroyRing does, and takes no more work. */
    void end(String text) throws IOException {
        holding = true;
        RingLayout.end(completions().file());
        send(RingRecord.of(RingRecord.END, id, text.getBytes(StandardCharsets.UTF_8)));
    }

    /** Closes the socket, as a sidecar does that was killed. */
    void close() {
        stopping = true;
        try {
            server.close();
            SocketChannel accepted = socket;
            if (accepted != null) {
                accepted.close();
            }
            thread.join(5000);
            Files.deleteIfExists(volume.resolve("ring-" + id));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
