// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.Failures;
import io.sidewarp.cli.Interruption;
import io.sidewarp.cli.text.ProgressLine;
import io.sidewarp.cli.wire.Channel;
import io.sidewarp.client.Access;
import io.sidewarp.client.CompletionStatus;
import io.sidewarp.client.ConnectionInfo;
import io.sidewarp.client.RemoteAddress;
import io.sidewarp.client.Session;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.client.WorkRequest;
import java.io.IOException;
import java.nio.channels.SeekableByteChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** Pushes files by RDMA Writes, and pulls files by RDMA Reads, one after the other over one connection. */
final class CopyClient implements AutoCloseable {

    static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Session session;
    private final Channel<CopyMessage> channel;
    private final ProgressLine progress;
    private final int chunk;
    private final int slots;

    /**
     * @param chunk bytes of a chunk, if there is memory for them
     * @param slots chunks in flight, if there is memory for them
     */
    CopyClient(Session session, Channel<CopyMessage> channel, ProgressLine progress, int chunk, int slots) {
        this.session = session;
        this.channel = channel;
        this.progress = progress;
        this.chunk = chunk;
        this.slots = slots;
    }

    /**
     * File that has arrived.
     *
     * @param octets its bytes
     * @param line for people
     */
    record Copied(long octets, String line) {}

    /**
     * Stores a file at the server.
     *
     * @param label name of the file here, for people
     * @param name name of the file there
     * @param mode permissions there, or {@link Permissions#DEFAULT}
     */
    Copied push(SeekableByteChannel file, String label, String name, int mode) throws IOException {
        long size = file.size();
        try (Window own = window(size)) {
            channel.send(new CopyMessage.Put(size, own.chunk(), own.slots(), mode, name));
            CopyMessage.Window window = channel.receive(PATIENCE, CopyMessage.Window.class);
            Window.Layout layout = layout(size, own, window);
            Transfer transfer = new Transfer(label, size, progress);
            Queue<CompletableFuture<WorkCompletion>> writes = new ArrayDeque<>();
            for (long index = 0; index < layout.chunks(); index++) {
                Interruption.check();
                if (index >= layout.slots()) {
                    awaitTaken(index - layout.slots(), writes);
                }
                transfer.read(file, layout.buffer(own.region(), index));
                RemoteAddress remote = window.address().plus(layout.offset(index));
                WorkRequest write = WorkRequest.write(channel.connection(), remote, layout.slice(own.region(), index));
                boolean last = index == layout.chunks() - 1;
                writes.add(channel.submit(last && permitsFlush() ? write.flushed() : write));
                // A Send is delivered after the Writes before it are in memory (RFC 5040 section 5.5).
                channel.send(new CopyMessage.Chunk(index, layout.octets(index)));
            }
            for (long index = Math.max(0, layout.chunks() - layout.slots()); index < layout.chunks(); index++) {
                awaitTaken(index, writes);
            }
            byte[] digest = transfer.digest();
            channel.send(new CopyMessage.Finish(size, digest));
            channel.receive(PATIENCE, CopyMessage.Stored.class);
            return new Copied(size, transfer.verified(digest));
        }
    }

    /**
     * Fetches a file from the server.
     *
     * @param expected bytes of the file, as far as known; a file that is larger is slower
     */
    Copied pull(String name, long expected, FileTarget target) throws IOException {
        return fetch(name, expected, target, own -> new CopyMessage.Get(own.chunk(), own.slots(), name));
    }

    /** Returns the content of a directory of the server. */
    DirectoryListing list(String name) throws IOException {
        MemoryTarget listing = new MemoryTarget(DirectoryListing.MAX_LENGTH);
        fetch(name, chunk, listing, own -> new CopyMessage.ListDirectory(own.chunk(), own.slots(), name));
        return DirectoryListing.decode(listing.content());
    }

    /** Makes a directory at the server, unless it is there. Returns whether it is new. */
    boolean makeDirectory(String name, int mode) {
        channel.send(new CopyMessage.MakeDirectory(mode, name));
        return channel.receive(PATIENCE, CopyMessage.Made.class).created();
    }

    /** Takes all permissions from a directory of the server that the mode does not have. */
    void restrict(String name, int mode) {
        channel.send(new CopyMessage.Restrict(mode, name));
        channel.receive(PATIENCE, CopyMessage.Stored.class);
    }

    @Override
    public void close() {
        channel.close();
    }

    private Copied fetch(String name, long expected, FileTarget target, Function<Window, CopyMessage> request)
            throws IOException {
        try (Window own = window(expected, Access.LOCAL_WRITE)) {
            channel.send(request.apply(own));
            CopyMessage.Window window = channel.receive(PATIENCE, CopyMessage.Window.class);
            target.expect(window.size());
            Window.Layout layout = layout(window.size(), own, window);
            Transfer transfer = new Transfer(name, window.size(), progress);
            Queue<CompletableFuture<WorkCompletion>> reads = new ArrayDeque<>();
            long written = 0;
            for (long index = 0; index < layout.chunks(); index++) {
                Interruption.check();
                if (reads.size() == layout.slots()) {
                    take(reads, layout, own, target, transfer, written++);
                }
                layout.check(channel.receive(PATIENCE, CopyMessage.Chunk.class), index);
                RemoteAddress remote = window.address().plus(layout.offset(index));
                reads.add(channel.submit(
                        WorkRequest.read(channel.connection(), remote, layout.slice(own.region(), index))));
            }
            while (!reads.isEmpty()) {
                take(reads, layout, own, target, transfer, written++);
            }
            byte[] digest = transfer.digest();
            transfer.verify(channel.receive(PATIENCE, CopyMessage.Finish.class), digest);
            target.commit();
            return new Copied(window.size(), transfer.verified(digest));
        }
    }

    private Window window(long size, Access... access) {
        return Window.create(session, new Window.Layout(size, chunk, slots), Window.MAX_LENGTH, access);
    }

    /** Waits for the oldest read, stores its chunk, and gives its slot back. */
    private void take(
            Queue<CompletableFuture<WorkCompletion>> reads,
            Window.Layout layout,
            Window own,
            FileTarget target,
            Transfer transfer,
            long index)
            throws IOException {
        Failures.await(reads.remove()).orThrow();
        transfer.write(target.channel(), layout.buffer(own.region(), index));
        channel.send(new CopyMessage.Taken(index));
    }

    /** Waits until the server has stored a chunk. The Write of that chunk is then complete. */
    private void awaitTaken(long index, Queue<CompletableFuture<WorkCompletion>> writes) {
        try {
            channel.receive(PATIENCE, CopyMessage.Taken.class).check(index);
        } catch (Failure ended) {
            // A failed Write's completion says more than the end of the connection. A flushed one says less.
            writes.stream()
                    .filter(CompletableFuture::isDone)
                    .map(Failures::await)
                    .filter(write -> write.status() != CompletionStatus.FLUSHED)
                    .forEach(WorkCompletion::orThrow);
            throw ended;
        }
        Failures.await(writes.remove()).orThrow();
    }

    /**
     * Returns whether a flush, which is an RDMA Read, is possible. Without Reads, only the server's last message
     * confirms that the file has arrived.
     */
    private boolean permitsFlush() {
        ConnectionInfo.Agreement agreed = channel.connection().established().agreed();
        return agreed.ord() > 0 && agreed.peerIrd().orElse(1) > 0;
    }

    /** Returns a layout with the peer's window, which is at most as large as this side's. */
    private static Window.Layout layout(long size, Window own, CopyMessage.Window peer) {
        if (peer.chunk() < 1 || peer.chunk() > own.chunk() || peer.slots() < 1 || peer.slots() > own.slots()) {
            throw new Failure(ExitCode.PROTOCOL, "the peer offers a window that is larger than requested");
        }
        return new Window.Layout(size, peer.chunk(), peer.slots());
    }
}
