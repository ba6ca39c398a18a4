// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import io.grpc.Status;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.Interruption;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.ConnectionRejectedException;
import io.sidewarp.client.QueueOptions;
import io.sidewarp.client.Session;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import java.time.Duration;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** Sets up connections, and explains failures. */
public final class Connector {

    private static final Duration PAUSE = Duration.ofMillis(100);

    private Connector() {}

    /**
     * Connects to another end of this command.
     *
     * @param connection created with the hello as private data
     * @throws Failure when nobody listens, or the peer refuses or is another program
     */
    public static void connect(Session session, HostPort peer, Hello hello, Connection connection) {
        String server = hello.service().server();
        open(session, peer, server, connection);
        Service answered =
                Hello.decode(connection.privateData()).map(Hello::service).orElse(null);
        if (answered != hello.service()) {
            throw new Failure(
                    ExitCode.PROTOCOL,
                    peer + " accepted the connection, but is not \"" + server + "\" of this release");
        }
    }

    /**
     * Connects to any program.
     *
     * @param server the program that should listen there
     * @param connection from {@link Session#createConnection(ConnectionOptions)}
     * @throws Failure when nobody listens, or the peer refuses
     */
    public static void open(Session session, HostPort peer, String server, Connection connection) {
        try {
            session.connect(peer.host(), peer.port(), connection);
        } catch (ConnectionRejectedException e) {
            throw new Failure(
                    ExitCode.TEMPORARY,
                    peer + " refused the connection: "
                            + Hello.decodeRefusal(e.privateData())
                                    .orElse("it gave no known reason; is it \"" + server
                                            + "\", and has its sidecar reached a limit (see its log)?"),
                    e);
        } catch (SidewarpException e) {
            if (e.rdmaError().isPresent()) {
                throw new Failure(
                        ExitCode.PROTOCOL,
                        "cannot connect to " + peer + ": " + e.getMessage() + "; is it \"" + server + "\"?",
                        e);
            }
            if (!isMissing(e) || session.closed().isDone()) {
                throw e;
            }
            throw new Failure(
                    ExitCode.TEMPORARY,
                    "cannot connect to " + peer + ": " + e.getMessage() + "; does \"" + server + "\" listen there?",
                    e);
        }
    }

    /**
     * Creates a connection, and aborts it when it cannot be established.
     *
     * @param establish passes the connection to connect or accept
     * @return the result of {@code establish}
     */
    public static <T> T establish(Session session, ConnectionOptions options, Function<Connection, T> establish) {
        Connection connection = session.createConnection(options);
        try {
            return establish.apply(connection);
        } catch (RuntimeException e) {
            ConnectionEnd.abort(connection);
            throw e;
        }
    }

    /**
     * Sets up a connection with its own queue, whose receives are posted before the peer can send.
     *
     * @param begin posts receives, and creates the user of the connection
     * @param establish passes the connection to connect or accept
     */
    public static <T> T openWithQueue(
            Session session,
            ConnectionOptions options,
            QueueOptions queueOptions,
            BiFunction<Connection, WorkQueue, T> begin,
            Consumer<Connection> establish) {
        return establish(session, options, connection -> {
            WorkQueue queue = session.openQueue(queueOptions);
            try {
                T user = begin.apply(connection, queue);
                establish.accept(connection);
                return user;
            } catch (RuntimeException e) {
                queue.close();
                throw e;
            }
        });
    }

    /**
     * Posts a receive.
     *
     * @throws Failure when the queue has too few credits; a wait for credits would last forever
     */
    public static void postReceive(WorkQueue queue, long id, WorkRequest receive) {
        if (!queue.tryPost(id, receive)) {
            throw new Failure(
                    ExitCode.NO_RESOURCES,
                    "the sidecar grants " + queue.credits()
                            + " work requests at a time, too few for the receives (its setting"
                            + " sidewarp.limits.queue-outstanding); raise it, or use fewer messages or connections");
        }
    }

    /** Tries again while nobody listens. */
    public static <T> T patiently(Supplier<T> connecting, Duration patience) {
        long end = System.nanoTime() + patience.toNanos();
        while (true) {
            try {
                return connecting.get();
            } catch (Failure failure) {
                boolean nobodyListens = failure.getCause() instanceof SidewarpException cause && isMissing(cause);
                if (!nobodyListens || System.nanoTime() - end >= 0) {
                    throw failure;
                }
                Interruption.sleep(PAUSE);
            }
        }
    }

    /** Returns whether nobody listens. A peer that breaks the protocol listens, and would break it again. */
    private static boolean isMissing(SidewarpException e) {
        return e.rdmaError().isEmpty()
                && (e.code() == Status.Code.UNAVAILABLE || e.code() == Status.Code.DEADLINE_EXCEEDED);
    }
}
