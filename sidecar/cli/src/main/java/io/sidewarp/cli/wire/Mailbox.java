// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.Failures;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.client.Access;
import io.sidewarp.client.CompletionStatus;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.IncomingConnection;
import io.sidewarp.client.Session;
import io.sidewarp.client.Sge;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Exchanges small messages by Sends, as programs for other iWARP endpoints do. The sides send in turns, so that a few
 * receives at each side are enough. For one thread.
 */
public final class Mailbox implements AutoCloseable {

    /** Bytes of the largest message. */
    public static final int MAX_LENGTH = 64;

    private static final int RECEIVES = 4;
    private static final int QUEUE_LENGTH = 16;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /**
     * Wait after connecting. Linux siw overlooks a message that comes before its queue pair is ready, until another
     * message comes.
     */
    private static final Duration SETTLING_TIME = Duration.ofMillis(100);

    private final SharedRegion region;
    private final Connection connection;
    private final WorkQueue queue;

    private Mailbox(SharedRegion region, Connection connection, WorkQueue queue) {
        this.region = region;
        this.connection = connection;
        this.queue = queue;
        for (int slot = 0; slot < RECEIVES; slot++) {
            ReceivesFirst.post(queue, slot, receive(slot));
        }
    }

    /**
     * Connects, and tries again while nobody listens.
     *
     * @param server the program that should listen there
     */
    public static Mailbox connect(Session session, HostPort peer, String server, ConnectionFlags flags) {
        ConnectionOptions options = flags.options().build();
        return open(
                session,
                region -> Connector.patiently(
                        () -> open(session, region, options, connection -> {
                            Connector.open(session, peer, server, connection);
                            settle();
                        }),
                        flags.patience()));
    }

    private static void settle() {
        try {
            Thread.sleep(SETTLING_TIME);
        } catch (InterruptedException e) {
            throw Failure.interrupted();
        }
    }

    /** Accepts a connection. */
    public static Mailbox accept(Session session, IncomingConnection request, ConnectionOptions.Builder options) {
        return open(session, region -> open(session, region, options.build(), request::accept));
    }

    public Connection connection() {
        return connection;
    }

    /** Sends the content of the buffer, and waits for its completion at this side. */
    public void send(ByteBuffer message) {
        Sge slot = region.slice((long) RECEIVES * MAX_LENGTH, message.remaining());
        region.buffer(slot.offset(), message.remaining()).put(message.duplicate());
        carryOut(WorkRequest.send(connection, slot));
    }

    /** Carries out other work of the connection. */
    public void carryOut(WorkRequest request) {
        try {
            queue.submit(request)
                    .get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
                    .orThrow();
        } catch (InterruptedException e) {
            throw Failure.interrupted();
        } catch (ExecutionException e) {
            throw Failures.of(e);
        } catch (TimeoutException e) {
            throw new Failure(ExitCode.TEMPORARY, "the peer accepts no more messages", e);
        }
    }

    /**
     * Returns the next message.
     *
     * @return empty when the peer closed the connection instead
     * @throws Failure when no message comes in time, or the connection broke
     */
    public Optional<ByteBuffer> receive(Duration patience) {
        WorkCompletion completion = queue.poll(patience)
                .orElseThrow(() -> new Failure(
                        ExitCode.TEMPORARY,
                        "the peer sent nothing for " + patience.toSeconds()
                                + " seconds; is it stopped or overloaded?"));
        if (completion.status() == CompletionStatus.FLUSHED) {
            Optional<String> error = ConnectionEnd.error(connection);
            if (error.isPresent()) {
                throw new Failure(ExitCode.FAILED, "the connection broke: " + error.get());
            }
            return Optional.empty();
        }
        completion.orThrow();
        int slot = (int) completion.id();
        ByteBuffer message = ByteBuffer.allocate((int) completion.length());
        message.put(region.buffer((long) slot * MAX_LENGTH, message.capacity())).flip();
        queue.post(slot, receive(slot));
        return Optional.of(message);
    }

    /** Does the same as {@link #receive(Duration)}, for a peer that must send a message. */
    public ByteBuffer receive() {
        return receive(PATIENCE)
                .orElseThrow(() -> new Failure(ExitCode.FAILED, "the peer closed the connection during the work"));
    }

    @Override
    public void close() {
        queue.close();
        ConnectionEnd.release(connection, region);
    }

    private static Mailbox open(Session session, Function<SharedRegion, Mailbox> opening) {
        SharedRegion region = session.createSharedRegion(
                RegionNames.next("mailbox"), (RECEIVES + 1L) * MAX_LENGTH, Access.LOCAL_WRITE);
        try {
            return opening.apply(region);
        } catch (RuntimeException e) {
            ConnectionEnd.release(null, region);
            throw e;
        }
    }

    private static Mailbox open(
            Session session, SharedRegion region, ConnectionOptions options, Consumer<Connection> establish) {
        return ReceivesFirst.open(
                session,
                options,
                QUEUE_LENGTH,
                (connection, queue) -> new Mailbox(region, connection, queue),
                establish);
    }

    private WorkRequest receive(int slot) {
        return WorkRequest.receive(connection, region.slice((long) slot * MAX_LENGTH, MAX_LENGTH));
    }
}
