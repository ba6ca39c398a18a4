// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import io.grpc.Status;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.Failures;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.client.IncomingConnection;
import io.sidewarp.client.Listener;
import io.sidewarp.client.Session;
import io.sidewarp.client.SidewarpException;
import java.io.PrintWriter;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** Listens for connection requests and serves each on a thread of its own, until it is interrupted. */
public final class Server {

    /** Serves one connection request. */
    @FunctionalInterface
    public interface Handler {

        /**
         * Accepts and serves, or rejects.
         *
         * @return a line for standard output; empty when the connection is only a part of what is served
         * @throws Exception the failure of this peer; the server continues
         */
        String serve(IncomingConnection request) throws Exception;
    }

    /** Serves one connection request of another end of this command. */
    @FunctionalInterface
    public interface GreetedHandler {

        /**
         * Serves like {@link Handler#serve}.
         *
         * @param hello the peer's wish
         */
        String serve(IncomingConnection request, Hello hello) throws Exception;
    }

    /** Text between the address and the UDP port that a server on SCTP prints. */
    public static final String UDP_PORT = " in UDP port ";

    private final Handler handler;
    private final PrintWriter out;
    private final boolean once;
    private final CompletableFuture<Integer> first = new CompletableFuture<>();

    /** True when this side ends. Failures of peers are then a consequence of this end. */
    private volatile boolean ending;

    /** @param once whether to end after the first peer */
    public Server(Handler handler, PrintWriter out, boolean once) {
        this.handler = handler;
        this.out = out;
        this.once = once;
    }

    /**
     * Returns a server of this command, which refuses other programs.
     *
     * @param main service that the server is started for
     * @param handlers handlers of this service, and of those that belong to it
     */
    public static Server greeted(Service main, Map<Service, GreetedHandler> handlers, PrintWriter out, boolean once) {
        return new Server(request -> greet(main.server(), handlers, out, request), out, once);
    }

    /**
     * Listens until it is interrupted, or, with {@code once}, until the first peer was served.
     *
     * @return exit code
     */
    public int run(Session session, HostPort at, ConnectionFlags flags) {
        try (Listener listener = listen(session, at, flags)) {
            HostPort address = new HostPort(listener.address(), listener.port());
            String below = listener.udpPort() == 0 ? "" : UDP_PORT + listener.udpPort();
            out.println("listening on " + address + below);
            CompletableFuture.anyOf(first, listener.closed(), session.closed()).get();
            return first.getNow(ExitCode.OK);
        } catch (InterruptedException e) {
            throw Failure.interrupted();
        } catch (ExecutionException e) {
            throw Failures.of(e);
        } finally {
            ending = true;
        }
    }

    private Listener listen(Session session, HostPort at, ConnectionFlags flags) {
        try {
            return session.listen(at.host(), at.port(), flags.listenOptions(), this::handle);
        } catch (SidewarpException e) {
            if (e.code() != Status.Code.UNAVAILABLE || session.closed().isDone()) {
                throw e;
            }
            throw new Failure(ExitCode.TEMPORARY, String.valueOf(e.getMessage()), e);
        }
    }

    private void handle(IncomingConnection request) {
        int exitCode = ExitCode.OK;
        boolean served = true;
        try {
            String told = handler.serve(request);
            served = !told.isEmpty();
            if (served) {
                out.println(peer(request) + ": " + told);
            }
        } catch (Exception e) {
            Failure failure = Failures.of(e);
            exitCode = failure.exitCode();
            if (!ending) {
                refuse(request, failure);
                out.println(peer(request) + ": " + failure.getMessage());
            }
        }
        if (once && served) {
            first.complete(exitCode);
        }
    }

    /** Tells a peer that waits for an answer why it is refused. A peer that was accepted hears nothing of this. */
    private static void refuse(IncomingConnection request, Failure failure) {
        String whose = failure.getCause() instanceof SidewarpException ? "its sidecar says: " : "";
        reject(request, whose + failure.getMessage());
    }

    private static String greet(
            String name, Map<Service, GreetedHandler> handlers, PrintWriter out, IncomingConnection request)
            throws Exception {
        Hello hello = Hello.decode(request.privateData()).orElse(null);
        if (hello == null) {
            reject(request, "this is \"" + name + "\", which serves the sidewarp command of the same release");
            out.println(peer(request) + ": refused, not a sidewarp command of this release");
            return "";
        }
        GreetedHandler handler = handlers.get(hello.service());
        if (handler == null) {
            reject(request, "this is \"" + name + "\"");
            throw new Failure(ExitCode.PROTOCOL, "refused, it asked for another service");
        }
        return handler.serve(request, hello);
    }

    private static HostPort peer(IncomingConnection request) {
        return new HostPort(request.remoteAddress(), request.remotePort());
    }

    /** Rejects with a reason. The request may have lapsed meanwhile. */
    public static void reject(IncomingConnection request, String why) {
        try {
            request.reject(Hello.refusal(why));
        } catch (SidewarpException e) {
            // The peer is gone, or its own time limit will end the attempt.
        }
    }
}
