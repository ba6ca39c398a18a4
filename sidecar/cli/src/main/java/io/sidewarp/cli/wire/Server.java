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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** Listens for other ends of this command and serves each on a thread of its own, until it is interrupted. */
public final class Server {

    /** Serves one peer. */
    @FunctionalInterface
    public interface Handler {

        /**
         * Accepts and serves, or rejects.
         *
         * @param hello what the peer wants
         * @return what to tell on standard output about it; empty for nothing
         * @throws Exception what went wrong with this peer; the server lives on
         */
        String serve(IncomingConnection request, Hello hello) throws Exception;
    }

    private final String name;
    private final Handler handler;
    private final PrintWriter out;
    private final boolean once;
    private final CompletableFuture<Integer> first = new CompletableFuture<>();

    /** What becomes of peers is a consequence of this side's end from then on. */
    private volatile boolean ending;

    /**
     * @param name of what is offered, for refusals
     * @param once end when the first peer was served
     */
    public Server(String name, Handler handler, PrintWriter out, boolean once) {
        this.name = name;
        this.handler = handler;
        this.out = out;
        this.once = once;
    }

    /**
     * Listens until it is interrupted, or the first peer was served when that is all.
     *
     * @return exit code
     */
    public int run(Session session, HostPort at, ConnectionFlags flags) {
        try (Listener listener = listen(session, at, flags)) {
            out.println("listening on " + new HostPort(listener.address(), listener.port()));
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
        HostPort peer = new HostPort(request.remoteAddress(), request.remotePort());
        Hello hello = Hello.decode(request.privateData()).orElse(null);
        if (hello == null) {
            reject(request, "this is \"" + name + "\", which serves the sidewarp command of the same release");
            out.println(peer + ": refused, not a sidewarp command of this release");
            return;
        }
        int exitCode = ExitCode.OK;
        try {
            String told = handler.serve(request, hello);
            if (!told.isEmpty()) {
                out.println(peer + ": " + told);
            }
        } catch (Exception e) {
            Failure failure = Failures.of(e);
            exitCode = failure.exitCode();
            if (!ending) {
                out.println(peer + ": " + failure.getMessage());
            }
        }
        if (once && hello.service() != Service.PERF_DATA) {
            first.complete(exitCode);
        }
    }

    /** Rejects with a reason; the request may have lapsed meanwhile. */
    public static void reject(IncomingConnection request, String why) {
        try {
            request.reject(Hello.refusal(why));
        } catch (SidewarpException e) {
            // The peer is gone, or hears of it by its own time limit.
        }
    }
}
