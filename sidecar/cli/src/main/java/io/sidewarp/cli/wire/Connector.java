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
import io.sidewarp.client.Session;
import io.sidewarp.client.SidewarpException;
import java.time.Duration;
import java.util.function.Supplier;

/** Connects to a peer, and explains failures. */
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
            connection.abort();
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
    static void open(Session session, HostPort peer, String server, Connection connection) {
        explained(session, peer, server, () -> session.connect(peer.host(), peer.port(), connection));
    }

    private static Connection explained(
            Session session, HostPort peer, String server, Supplier<Connection> connecting) {
        try {
            return connecting.get();
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

    /** Connects to any program, and tries again while nobody listens. */
    public static Connection open(
            Session session, HostPort peer, String server, ConnectionOptions options, Duration patience) {
        return patiently(
                () -> explained(session, peer, server, () -> session.connect(peer.host(), peer.port(), options)),
                patience);
    }

    /** Tries again while nobody listens. */
    static <T> T patiently(Supplier<T> connecting, Duration patience) {
        long end = System.nanoTime() + patience.toNanos();
        while (true) {
            try {
                return connecting.get();
            } catch (Failure failure) {
                boolean nobodyListens = failure.getCause() instanceof SidewarpException cause && isMissing(cause);
                if (!nobodyListens || System.nanoTime() - end >= 0) {
                    throw failure;
                }
                pause();
            }
        }
    }

    /** Returns whether nobody listens. A peer that breaks the protocol listens, and would break it again. */
    private static boolean isMissing(SidewarpException e) {
        return e.rdmaError().isEmpty()
                && (e.code() == Status.Code.UNAVAILABLE || e.code() == Status.Code.DEADLINE_EXCEEDED);
    }

    private static void pause() {
        Interruption.check();
        try {
            Thread.sleep(PAUSE);
        } catch (InterruptedException e) {
            throw Failure.interrupted();
        }
    }
}
