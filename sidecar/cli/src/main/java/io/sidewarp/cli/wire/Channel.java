// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.client.Access;
import io.sidewarp.client.CompletionHandler;
import io.sidewarp.client.CompletionStatus;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.IncomingConnection;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Control messages over a connection, by Sends. Each side posts up to {@value #RECEIVES} receives before the peer can
 * send. Each side posts a receive again before it delivers the message. A protocol on top must therefore have at most
 * that many messages unanswered. Other work of the connection goes through {@link #submit}.
 */
public final class Channel implements AutoCloseable {

    /** Number of receives that are posted at each side, and of messages that can be in flight. */
    public static final int RECEIVES = 64;

    private static final int SENDS = RECEIVES;
    private static final int DATA_REQUESTS = 128;
    private static final Duration SEND_PATIENCE = Duration.ofSeconds(30);

    /** Marks the end of the connection in the queue of messages. */
    private static final Frame END = new Frame(-1, ByteBuffer.allocate(0));

    private final SharedRegion region;
    private final Connection connection;
    private final WorkQueue queue;
    private final BlockingQueue<Frame> incoming = new LinkedBlockingQueue<>();
    private final BlockingQueue<Integer> freeSends = new ArrayBlockingQueue<>(SENDS);
    private volatile @Nullable Failure failure;

    private Channel(SharedRegion region, Connection connection, WorkQueue queue) {
        this.region = region;
        this.connection = connection;
        this.queue = queue;
        for (int slot = 0; slot < SENDS; slot++) {
            freeSends.add(slot);
        }
        queue.onCompletion(new Completions());
        // Receives hold their credits as long as no message comes. Leaves half of a small queue for sends.
        int receives = Math.min(RECEIVES, queue.credits() / 2);
        for (int slot = 0; slot < receives; slot++) {
            ReceivesFirst.post(queue, slot, receive(slot));
        }
    }

    /** Connects to a server of this command. */
    public static Channel connect(Session session, HostPort peer, Hello hello, ConnectionFlags flags) {
        ConnectionOptions options = flags.options().privateData(hello.encode()).build();
        return open(
                session,
                region -> Connector.patiently(
                        () -> open(
                                session,
                                region,
                                options,
                                connection -> Connector.connect(session, peer, hello, connection)),
                        flags.patience()));
    }

    /** Accepts a connection of this command. */
    public static Channel accept(Session session, IncomingConnection request, Hello hello, ConnectionFlags flags) {
        ConnectionOptions options = flags.options().privateData(hello.encode()).build();
        return open(session, region -> open(session, region, options, request::accept));
    }

    private static Channel open(Session session, Function<SharedRegion, Channel> opening) {
        SharedRegion region = session.createSharedRegion(
                RegionNames.next("control"), (long) (RECEIVES + SENDS) * Message.MAX_LENGTH, Access.LOCAL_WRITE);
        try {
            return opening.apply(region);
        } catch (RuntimeException e) {
            ConnectionEnd.release(null, region);
            throw e;
        }
    }

    private static Channel open(
            Session session, SharedRegion region, ConnectionOptions options, Consumer<Connection> establish) {
        return ReceivesFirst.open(
                session,
                options,
                RECEIVES + SENDS + DATA_REQUESTS,
                (connection, queue) -> new Channel(region, connection, queue),
                establish);
    }

    public Connection connection() {
        return connection;
    }

    /** Posts other work of the connection. The future completes with any status. */
    public CompletableFuture<WorkCompletion> submit(WorkRequest request) {
        return queue.submit(request);
    }

    /** Sends a message. Returns when it is posted. */
    public void send(Message message) {
        Integer slot = take(freeSends, SEND_PATIENCE);
        if (slot == null) {
            throw reason(new Failure(
                    ExitCode.TEMPORARY, "the peer accepted no message for " + SEND_PATIENCE.toSeconds() + " seconds"));
        }
        long offset = sendOffset(slot);
        ByteBuffer buffer = region.buffer(offset, Message.MAX_LENGTH);
        Message.encode(message, buffer);
        queue.post(RECEIVES + slot, WorkRequest.send(connection, region.slice(offset, buffer.position())));
    }

    /**
     * Returns the next message.
     *
     * @throws Failure when the peer reports an error, when the connection ended, or when no message comes in time
     */
    public Frame receive(Duration patience) {
        Frame frame = take(incoming, patience);
        if (frame == null) {
            throw new Failure(
                    ExitCode.TEMPORARY,
                    "the peer sent nothing for " + patience.toSeconds() + " seconds; is it stopped or overloaded?");
        }
        if (frame.equals(END)) {
            incoming.add(END);
            throw reason(new Failure(
                    ExitCode.FAILED,
                    "the connection ended before the work was done: "
                            + ConnectionEnd.error(connection).orElse("the peer closed it")));
        }
        if (frame.type() == ErrorMessage.TYPE) {
            throw frame.read(ErrorMessage::decode).toFailure();
        }
        return frame;
    }

    /** Reports to the peer that this side cannot continue, if the connection still exists. */
    public void sendError(Failure cause) {
        if (failure == null && !incoming.contains(END)) {
            try {
                send(ErrorMessage.of(cause));
            } catch (RuntimeException e) {
                cause.addSuppressed(e);
            }
        }
    }

    /** Waits until the peer closes the connection, at most for the given time. */
    public void awaitPeerClose(Duration patience) {
        try {
            connection.closed().get(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            // The caller closes the connection in any case.
        }
    }

    /** Closes the connection when all posted work is complete. */
    @Override
    public void close() {
        queue.close();
        ConnectionEnd.release(connection, region);
    }

    private WorkRequest receive(int slot) {
        return WorkRequest.receive(connection, region.slice(receiveOffset(slot), Message.MAX_LENGTH));
    }

    private static long receiveOffset(int slot) {
        return (long) slot * Message.MAX_LENGTH;
    }

    private static long sendOffset(int slot) {
        return (long) (RECEIVES + slot) * Message.MAX_LENGTH;
    }

    private static <T> @Nullable T take(BlockingQueue<T> from, Duration patience) {
        try {
            return from.poll(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.interrupted();
        }
    }

    private Failure reason(Failure otherwise) {
        Failure known = failure;
        return known != null ? known : otherwise;
    }

    /** Called on the client's event loop. */
    private final class Completions implements CompletionHandler {

        @Override
        public void onCompletion(WorkCompletion completion) {
            int slot = (int) completion.id();
            if (completion.status() == CompletionStatus.FLUSHED) {
                end();
            } else if (!completion.isSuccess()) {
                fail(new Failure(ExitCode.FAILED, "the connection failed: " + completion));
            } else if (slot >= RECEIVES) {
                freeSends.add(slot - RECEIVES);
            } else {
                received(slot, (int) completion.length());
            }
        }

        @Override
        public void onFailure(SidewarpException cause) {
            fail(new Failure(ExitCode.UNAVAILABLE, String.valueOf(cause.getMessage()), cause));
        }

        private void received(int slot, int length) {
            ByteBuffer copy = ByteBuffer.allocate(length);
            copy.put(region.buffer(receiveOffset(slot), length)).flip();
            boolean posted = queue.tryPost(slot, receive(slot));
            try {
                incoming.add(Frame.decode(copy));
            } catch (Failure malformed) {
                fail(malformed);
            }
            if (!posted) {
                fail(new Failure(ExitCode.INTERNAL, "no credit is left to post a receive again"));
            }
        }

        private void fail(Failure cause) {
            if (failure == null) {
                failure = cause;
            }
            end();
        }

        private void end() {
            if (!incoming.contains(END)) {
                incoming.add(END);
            }
        }
    }
}
