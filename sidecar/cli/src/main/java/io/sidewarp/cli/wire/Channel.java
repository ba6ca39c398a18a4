// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.Failures;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.IncomingConnection;
import io.sidewarp.client.Session;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.client.WorkRequest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Control messages between two ends of this command. At most 64 messages may be unanswered, as {@link Mailbox}
 * explains.
 *
 * @param <M> messages of the service
 */
public final class Channel<M extends Message> implements AutoCloseable {

    private static final Mailbox.Size SIZE = new Mailbox.Size(Message.MAX_LENGTH, 64, 64, 128);

    /** Maximum wait until a peer closes the connection after an error. */
    private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(60);

    private final Mailbox mailbox;
    private final Message.Decoder<M> decoder;

    private Channel(Mailbox mailbox, Message.Decoder<M> decoder) {
        this.mailbox = mailbox;
        this.decoder = decoder;
    }

    /** Work with a peer that connected to this side. */
    @FunctionalInterface
    public interface Conversation<M extends Message> {

        /**
         * Serves the peer.
         *
         * @return a line for standard output
         */
        String serve(Channel<M> channel) throws Exception;
    }

    /** Connects to a server of this command. */
    public static <M extends Message> Channel<M> connect(
            Session session, HostPort peer, Hello hello, ConnectionFlags flags, Message.Decoder<M> decoder) {
        Mailbox mailbox = Mailbox.open(
                session,
                SIZE,
                options(flags, hello),
                flags.patience(),
                connection -> Connector.connect(session, peer, hello, connection));
        return new Channel<>(mailbox, decoder);
    }

    /** Accepts a connection of this command, and serves it. The peer hears of a failure. */
    public static <M extends Message> String serve(
            Session session,
            IncomingConnection request,
            Service service,
            ConnectionFlags flags,
            Message.Decoder<M> decoder,
            Conversation<M> conversation)
            throws Exception {
        Mailbox mailbox =
                Mailbox.open(session, SIZE, options(flags, new Hello(service)), Duration.ZERO, request::accept);
        try (Channel<M> channel = new Channel<>(mailbox, decoder)) {
            try {
                return conversation.serve(channel);
            } catch (Exception e) {
                channel.sendError(Failures.of(e));
                channel.awaitPeerClose(CLOSE_PATIENCE);
                throw e;
            }
        }
    }

    private static ConnectionOptions options(ConnectionFlags flags, Hello hello) {
        return flags.options().privateData(hello.encode()).build();
    }

    public Connection connection() {
        return mailbox.connection();
    }

    /** Posts other work of the connection. The future completes with any status. */
    public CompletableFuture<WorkCompletion> submit(WorkRequest request) {
        return mailbox.submit(request);
    }

    /** Sends a message. Returns when it is posted. */
    public void send(Message message) {
        mailbox.send(target -> Message.encode(message, target));
    }

    /**
     * Returns the next message.
     *
     * @throws Failure when the peer reports an error, when the connection ended, or when no message comes in time
     */
    public M receive(Duration patience) {
        return next(patience)
                .orElseThrow(() -> new Failure(
                        ExitCode.FAILED, "the connection ended before the work was done: the peer closed it"));
    }

    /**
     * Returns the next message, or empty when the peer has closed the connection instead.
     *
     * @throws Failure when the peer reports an error, when the connection broke, or when no message comes in time
     */
    public Optional<M> next(Duration patience) {
        return mailbox.receive(patience).map(message -> Message.decode(message, decoder));
    }

    /**
     * Returns the next message, which must be of the only type that is possible here.
     *
     * @throws Failure as {@link #receive(Duration)} does, and when the message has another type
     */
    public <T extends M> T receive(Duration patience, Class<T> expected) {
        M message = receive(patience);
        if (!expected.isInstance(message)) {
            throw Message.unexpected(message.type());
        }
        return expected.cast(message);
    }

    /** Waits until the peer closes the connection, at most for the given time. */
    public void awaitPeerClose(Duration patience) {
        try {
            connection().closed().get(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            // The caller closes the connection in any case.
        }
    }

    /** Closes the connection when all posted work is complete. */
    @Override
    public void close() {
        mailbox.close();
    }

    /** Reports to the peer that this side cannot continue, if the connection still exists. */
    private void sendError(Failure cause) {
        if (mailbox.isOpen()) {
            try {
                send(ErrorMessage.of(cause));
            } catch (RuntimeException e) {
                cause.addSuppressed(e);
            }
        }
    }
}
