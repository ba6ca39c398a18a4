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

/** Connects to another end of this command, and tells what is wrong when that fails. */
public final class Connector {

    private static final Duration PAUSE = Duration.ofMillis(100);

    private Connector() {}

    /**
     * Connects, and tries again while nobody listens.
     *
     * @param hello goes as private data
     * @param options all else
     * @param patience for how long to try again
     * @throws Failure when nobody listens, or the peer refuses, or is something else
     */
    static Connection connect(
            Session session, HostPort peer, Hello hello, ConnectionOptions.Builder options, Duration patience) {
        long end = System.nanoTime() + patience.toNanos();
        while (true) {
            try {
                return connect(session, peer, hello, options);
            } catch (Failure failure) {
                boolean nobodyListens = failure.getCause() instanceof SidewarpException cause && isMissing(cause);
                if (!nobodyListens || System.nanoTime() - end >= 0) {
                    throw failure;
                }
                pause();
            }
        }
    }

    /**
     * Connects.
     *
     * @param hello goes as private data
     * @param options all else
     * @throws Failure when nobody listens, or the peer refuses, or is something else
     */
    public static Connection connect(Session session, HostPort peer, Hello hello, ConnectionOptions.Builder options) {
        Connection connection;
        try {
            connection = session.connect(
                    peer.host(),
                    peer.port(),
                    options.privateData(hello.encode()).build());
        } catch (ConnectionRejectedException e) {
            throw new Failure(
                    ExitCode.TEMPORARY,
                    peer + " refused the connection: "
                            + Hello.decodeRefusal(e.privateData())
                                    .orElse("it gave no reason that this command understands; is it \""
                                            + hello.service().server() + "\"?"),
                    e);
        } catch (SidewarpException e) {
            if (!isMissing(e) || session.closed().isDone()) {
                throw e;
            }
            throw new Failure(
                    ExitCode.TEMPORARY,
                    "cannot connect to " + peer + ": " + e.getMessage() + "; does \""
                            + hello.service().server() + "\" listen there?",
                    e);
        }
        Service answered =
                Hello.decode(connection.privateData()).map(Hello::service).orElse(null);
        if (answered != hello.service()) {
            connection.abort();
            throw new Failure(
                    ExitCode.PROTOCOL,
                    peer + " accepted the connection, but is not \""
                            + hello.service().server() + "\" of this release");
        }
        return connection;
    }

    private static boolean isMissing(SidewarpException e) {
        return e.code() == Status.Code.UNAVAILABLE || e.code() == Status.Code.DEADLINE_EXCEEDED;
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
