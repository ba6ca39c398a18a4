// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.Failures;
import io.sidewarp.cli.Interruption;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.client.Access;
import io.sidewarp.client.CompletionHandler;
import io.sidewarp.client.CompletionStatus;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.IncomingConnection;
import io.sidewarp.client.QueueOptions;
import io.sidewarp.client.QueuePath;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Exchanges messages over a connection, by Sends. Each side posts receives before the peer can send. Each side posts a
 * receive again before it delivers the message. A protocol on top must therefore have at most as many messages
 * unanswered as there are receives. Other work of the connection goes through {@link #submit}.
 */
public final class Mailbox implements AutoCloseable {

    /** Size for other programs. Their sides send small messages in turns. */
    private static final Size OTHER_PROGRAMS = new Size(64, 4, 1, 11);

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /**
     * Wait after connecting. Linux siw overlooks a message that comes before its queue pair is ready, until another
     * message comes.
     */
    private static final Duration SETTLING_TIME = Duration.ofMillis(100);

    /** Marks the end of the connection in the queue of messages. */
    private static final Optional<ByteBuffer> END = Optional.empty();

    private final Size size;
    private final SharedRegion region;
    private final Connection connection;
    private final WorkQueue queue;
    private final BlockingQueue<Optional<ByteBuffer>> incoming = new LinkedBlockingQueue<>();
    private final BlockingQueue<Integer> freeSends;
    private volatile @Nullable Failure failure;

    /**
     * Size of a mailbox. Each receive and each send has a slot of its own in the region.
     *
     * @param length bytes of the largest message
     * @param receives number of receives that are posted, if the queue is large enough
     * @param sends number of sends in flight
     * @param others number of other work requests in flight
     */
    record Size(int length, int receives, int sends, int others) {

        int slots() {
            return receives + sends;
        }
    }

    private Mailbox(Size size, SharedRegion region, Connection connection, WorkQueue queue) {
        this.size = size;
        this.region = region;
        this.connection = connection;
        this.queue = queue;
        freeSends = new ArrayBlockingQueue<>(size.sends());
        for (int slot = size.receives(); slot < size.slots(); slot++) {
            freeSends.add(slot);
        }
        queue.onCompletion(new Completions());
        // Receives hold their credits as long as no message comes. Leaves half of a small queue for sends.
        int receives = Math.min(size.receives(), queue.credits() / 2);
        for (int slot = 0; slot < receives; slot++) {
            Connector.postReceive(queue, slot, receive(slot));
        }
    }

    /**
     * Connects to another program, and tries again while nobody listens.
     *
     * @param server the program that should listen there
     */
    public static Mailbox connect(Session session, HostPort peer, String server, ConnectionFlags flags) {
        return open(session, OTHER_PROGRAMS, flags.options().build(), flags.patience(), connection -> {
            Connector.open(session, peer, server, connection);
            Interruption.sleep(SETTLING_TIME);
        });
    }

    /** Accepts a connection of another program. */
    public static Mailbox accept(Session session, IncomingConnection request, ConnectionFlags flags) {
        return open(session, OTHER_PROGRAMS, flags.options().build(), Duration.ZERO, request::accept);
    }

    /**
     * Opens a mailbox on a new connection.
     *
     * @param patience how long to try again while nobody listens
     * @param establish passes the connection to connect or accept
     */
    static Mailbox open(
            Session session, Size size, ConnectionOptions options, Duration patience, Consumer<Connection> establish) {
        SharedRegion region = session.createSharedRegion(
                RegionNames.next("control"), (long) size.slots() * size.length(), Access.LOCAL_WRITE);
        QueueOptions queueOptions =
                QueueOptions.defaults().withPath(QueuePath.GRPC).withOutstanding(size.slots() + size.others());
        try {
            return Connector.patiently(
                    () -> Connector.openWithQueue(
                            session,
                            options,
                            queueOptions,
                            (connection, queue) -> new Mailbox(size, region, connection, queue),
                            establish),
                    patience);
        } catch (RuntimeException e) {
            release(region);
            throw e;
        }
    }

    public Connection connection() {
        return connection;
    }

    /** Returns whether messages can still be exchanged. */
    boolean isOpen() {
        return failure == null && !incoming.contains(END);
    }

    /** Posts other work of the connection. The future completes with any status. */
    public CompletableFuture<WorkCompletion> submit(WorkRequest request) {
        return queue.submit(request);
    }

    /** Carries out other work of the connection. */
    public void carryOut(WorkRequest request) {
        Failures.await(submit(request), PATIENCE, "the peer carries out no more work")
                .orThrow();
    }

    /** Sends the content of the buffer. Returns when the message is posted. */
    public void send(ByteBuffer message) {
        send(target -> target.put(message.duplicate()));
    }

    /** Sends what the writer puts into a buffer. Returns when the message is posted. */
    void send(Consumer<ByteBuffer> writer) {
        int slot = take(freeSends, PATIENCE, "the peer accepted no message for " + PATIENCE.toSeconds() + " seconds");
        ByteBuffer buffer = region.buffer(offset(slot), size.length());
        writer.accept(buffer);
        queue.post(slot, WorkRequest.send(connection, region.slice(offset(slot), buffer.position())));
    }

    /**
     * Returns the next message.
     *
     * @return empty when the peer closed the connection instead
     * @throws Failure when no message comes in time, or the connection broke
     */
    public Optional<ByteBuffer> receive(Duration patience) {
        Optional<ByteBuffer> message = take(
                incoming,
                patience,
                "the peer sent nothing for " + patience.toSeconds() + " seconds; is it stopped or overloaded?");
        if (message.isPresent()) {
            return message;
        }
        incoming.add(END);
        throwFailure();
        ConnectionEnd.error(connection).ifPresent(error -> {
            throw new Failure(ExitCode.FAILED, "the connection ended before the work was done: " + error);
        });
        return Optional.empty();
    }

    /** Does the same as {@link #receive(Duration)}, for a peer that must send a message. */
    public ByteBuffer receive() {
        return receive(PATIENCE)
                .orElseThrow(() -> new Failure(ExitCode.FAILED, "the peer closed the connection during the work"));
    }

    /** Closes the connection when all posted work is complete. */
    @Override
    public void close() {
        queue.close();
        ConnectionEnd.close(connection);
        release(region);
    }

    private static void release(SharedRegion region) {
        try {
            region.close();
        } catch (SidewarpException e) {
            // Regions end with the session, too.
        }
    }

    private WorkRequest receive(int slot) {
        return WorkRequest.receive(connection, region.slice(offset(slot), size.length()));
    }

    private long offset(int slot) {
        return (long) slot * size.length();
    }

    /** @param late message of the failure when the time is over */
    private <T> T take(BlockingQueue<T> from, Duration patience, String late) {
        try {
            T taken = from.poll(patience.toMillis(), TimeUnit.MILLISECONDS);
            if (taken == null) {
                throwFailure();
                throw new Failure(ExitCode.TEMPORARY, late);
            }
            return taken;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.interrupted();
        }
    }

    /** Throws the failure of the connection or of its queue, if one is known. */
    private void throwFailure() {
        Failure known = failure;
        if (known != null) {
            throw known;
        }
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
            } else if (slot >= size.receives()) {
                freeSends.add(slot);
            } else {
                received(slot, (int) completion.length());
            }
        }

        @Override
        public void onFailure(SidewarpException cause) {
            fail(new Failure(ExitCode.UNAVAILABLE, String.valueOf(cause.getMessage()), cause));
        }

        private void received(int slot, int length) {
            ByteBuffer message = ByteBuffer.allocate(length);
            message.put(region.buffer(offset(slot), length)).flip();
            boolean posted = queue.tryPost(slot, receive(slot));
            incoming.add(Optional.of(message));
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
