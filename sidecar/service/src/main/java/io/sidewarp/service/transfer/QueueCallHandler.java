// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.v1.QueueCompletions;
import io.sidewarp.v1.QueueOpen;
import io.sidewarp.v1.QueueOpened;
import io.sidewarp.v1.QueueRequest;
import io.sidewarp.v1.QueueResponse;
import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WorkRequest;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One Queue call. Posts the work of one request after the other. Asks for the next request when all work of the
 * previous one is posted, a credit is free and the caller reads. Work beyond the credits, or for a full send queue,
 * waits in order. Completions of one engine batch share one response. A completion holds its credit until it was sent,
 * so the credits bound the memory for a caller that does not read. After the end of a call only its posted work
 * remains.
 *
 * <p>gRPC's callbacks arrive on the transport's thread and continue on the session's thread.
 */
public final class QueueCallHandler implements StreamObserver<QueueRequest>, WorkSource {

    /**
     * Maximum number of completions in one response. Such a response is far smaller than the 4 MiB that gRPC clients
     * accept by default.
     */
    private static final int MAX_COMPLETIONS = 512;

    private final ServerCallStreamObserver<QueueResponse> observer;
    private final Function<String, SessionTransfers> sessions;
    private final WorkItem item = new WorkItem();
    private final Sink sink = new Sink(this);
    /** Connections that refused work of this call and will report the refusal in turn. */
    private final Set<ConnectionWork> refusing = new HashSet<>();

    private final UnsignaledCredits unsignaled = new UnsignaledCredits();
    /** Completions that were not sent yet. */
    private final ArrayDeque<WorkCompletion> unsent = new ArrayDeque<>();

    /**
     * Session of the call. Set by the transport's thread with the first request, before any task runs on the session's
     * thread.
     */
    private volatile @Nullable SessionTransfers session;

    private int credits;
    /** Number of work requests that were posted or refused and whose completion was not sent. */
    private int outstanding;
    /** Number of outstanding unsignaled work requests that are not complete. */
    private int silent;
    /** Number of outstanding receives that are not complete. The peer may wait for this side before it sends. */
    private int receives;

    /** Work of the current request, and the number of work requests that are posted. */
    private List<WorkRequest> work = List.of();

    private int posted;
    /** Connection whose send queue has no space for the next work request. */
    private @Nullable ConnectionWork awaited;
    /** True if the next request was asked for and has not arrived. */
    private boolean asked = true;

    private boolean halfClosed;
    private boolean closed;

    /**
     * Begins a call. Must run in the service's method, where gRPC allows the setting of flow control and handlers.
     *
     * @param sessions returns the transfers of the session that a token names; fails with a status if there is none
     */
    public QueueCallHandler(
            ServerCallStreamObserver<QueueResponse> observer, Function<String, SessionTransfers> sessions) {
        this.observer = observer;
        this.sessions = sessions;
        observer.disableAutoRequest();
        observer.setOnReadyHandler(() -> onSession(this::flush));
        observer.setOnCancelHandler(() -> onSession(this::leave));
        observer.request(1);
    }

    // On the transport's thread.

    @Override
    public void onNext(QueueRequest request) {
        if (session != null) {
            onSession(() -> onRequest(request));
            return;
        }
        try {
            if (!request.hasOpen()) {
                throw ApiError.invalid("the first request of a Queue call must be open");
            }
            SessionTransfers found = sessions.apply(request.getOpen().getSession());
            session = found;
            onSession(() -> open(found, request.getOpen()));
        } catch (RuntimeException e) {
            fail(e);
        }
    }

    @Override
    public void onError(Throwable failure) {
        // The cancel handler does the work.
    }

    @Override
    public void onCompleted() {
        if (session == null) {
            fail(ApiError.invalid("the Queue call ended before it was opened"));
            return;
        }
        onSession(() -> {
            halfClosed = true;
            closeWhenDone();
        });
    }

    private void onSession(Runnable task) {
        SessionTransfers current = session;
        if (current != null) {
            current.context().run(task);
        }
    }

    // On the session's thread.

    private void open(SessionTransfers current, QueueOpen open) {
        if (closed) {
            return;
        }
        try {
            int granted = current.credits(open.getOutstanding());
            current.add(this);
            observer.onNext(QueueResponse.newBuilder()
                    .setOpened(QueueOpened.newBuilder().setCredits(granted))
                    .build());
            credits = granted;
        } catch (RuntimeException e) {
            fail(e);
            return;
        }
        asked = false;
        flush();
    }

    private void onRequest(QueueRequest request) {
        if (closed) {
            return;
        }
        switch (request.getRequestCase()) {
            case POST -> {
                asked = false;
                work = request.getPost().getWorkList();
                posted = 0;
                flush();
            }
            case OPEN ->
                fail(ApiError.invalid("open occurs again; only the first request of a Queue call may be open"));
            case REQUEST_NOT_SET ->
                fail(ApiError.invalid("each request of a Queue call after open must be post; this request is neither"));
        }
    }

    /** Sends completions while the caller reads, posts work while there are credits, and asks for more. */
    @Override
    public void flush() {
        SessionTransfers current = session;
        if (closed || credits == 0 || current == null) {
            return;
        }
        try {
            do {
                send();
                postWork(current);
            } while (!unsent.isEmpty() && observer.isReady());
        } catch (RuntimeException e) {
            fail(e);
            return;
        }
        if (!asked && posted == work.size() && outstanding < credits && observer.isReady()) {
            asked = true;
            observer.request(1);
        }
        closeWhenDone();
    }

    /** Returns whether the next work waits for a credit, which a completion that was read gives back. */
    boolean awaitsCredit() {
        return posted < work.size() && outstanding >= credits;
    }

    private void send() {
        while (!unsent.isEmpty() && observer.isReady()) {
            QueueCompletions.Builder completions = QueueCompletions.newBuilder();
            while (!unsent.isEmpty() && completions.getCompletionsCount() < MAX_COMPLETIONS) {
                completions.addCompletions(unsent.remove());
                outstanding--;
            }
            observer.onNext(
                    QueueResponse.newBuilder().setCompletions(completions).build());
        }
    }

    private void postWork(SessionTransfers current) {
        while (awaited == null && posted < work.size() && outstanding < credits) {
            item.of(work.get(posted));
            outstanding++;
            if (post(current)) {
                posted++;
            } else {
                outstanding--;
            }
        }
        if (posted == work.size()) {
            work = List.of();
            posted = 0;
        }
    }

    /** Posts a work request. Returns false if it must wait for space. */
    private boolean post(SessionTransfers current) {
        boolean silently = item.unsignaled && item.opcode != WrOpcode.RECEIVE && item.sharedReceives == 0;
        if (!silently) {
            unsignaled.completes(current.connections());
        }
        if (item.sharedReceives != 0) {
            Refusal refusal = current.postShared(item, sink);
            if (refusal == null) {
                receives++;
            } else {
                refuse(current, refusal);
            }
            return true;
        }
        ConnectionWork connection = current.connections().find(item.connection);
        if (connection == null) {
            refuse(current, Refusal.of(current.connections().missing(item.connection), item.isFlush()));
            return true;
        }
        Refusal refusal = silently && isLastCredit()
                ? UnsignaledCredits.LAST
                : current.poster().post(connection, item, sink);
        if (WorkPoster.QUEUE_FULL.equals(refusal)) {
            awaited = connection;
            connection.awaitSpace(this);
            return false;
        }
        if (refusal == null) {
            if (silently) {
                silent++;
                unsignaled.posted(item.connection, current.connections());
            } else if (item.opcode == WrOpcode.RECEIVE) {
                receives++;
            } else {
                unsignaled.completesInTurn(item.connection);
            }
        } else if (refusal.isFlushed() && item.opcode != WrOpcode.RECEIVE) {
            unsignaled.completesInTurn(item.connection);
            refusing.add(connection);
            connection.refuseInTurn(this, CompletionProtos.refused(item, refusal));
        } else {
            refuse(current, refusal);
        }
        connection.onPosted();
        return true;
    }

    /**
     * Returns whether no completion is due and the caller counts this credit as the last one: unsignaled work and
     * receives hold all others.
     */
    private boolean isLastCredit() {
        return outstanding - 1 - receives == silent && unsignaled.total() + receives + 1 >= credits;
    }

    private void refuse(SessionTransfers current, Refusal refusal) {
        unsignaled.completes(current.connections());
        current.record(refusal, item);
        refused(CompletionProtos.refused(item, refusal));
    }

    /** Adds the completion of refused work, which the next flush sends. */
    @Override
    public void refused(WorkCompletion completion) {
        tell(completion);
    }

    /** Notes that a connection has reported all its refusals. */
    @Override
    public void toldBy(ConnectionWork connection) {
        refusing.remove(connection);
    }

    /** Resumes waiting work, because a send queue may have space. */
    @Override
    public void resume() {
        awaited = null;
        flush();
    }

    /** Takes the completion of work, see {@link CompletionTarget#complete}. */
    void complete(long connection, long id, boolean signaled, Cqe completion) {
        if (completion.opcode() == WrOpcode.RECEIVE) {
            receives--;
        }
        if (!signaled) {
            silent--;
            if (completion.status() == CqeStatus.SUCCESS) {
                outstanding--;
                return;
            }
            // Later work fails too, and its completions say this.
            unsignaled.completesInTurn(connection);
        }
        tell(CompletionProtos.toProto(id, connection, completion));
    }

    /** Adds a completion. Events of the connection must follow the completion. */
    private void tell(WorkCompletion completion) {
        SessionTransfers current = session;
        if (closed || current == null) {
            return;
        }
        unsent.add(completion);
        ConnectionWork connection = current.connections().find(completion.getConnection());
        if (connection != null) {
            connection.onTold();
        }
    }

    private void closeWhenDone() {
        if (halfClosed && !closed && posted == work.size() && outstanding == 0 && unsent.isEmpty()) {
            observer.onCompleted();
            leave();
        }
    }

    /** Ends the call because the session has ended. */
    void end() {
        fail(ApiError.sessionEnded());
    }

    private void fail(RuntimeException failure) {
        if (!closed) {
            observer.onError(ApiError.from(failure));
            leave();
        }
    }

    /** Stops sending. Posted work continues, and everything else is released. */
    private void leave() {
        closed = true;
        sink.leave();
        work = List.of();
        posted = 0;
        unsent.clear();
        if (awaited != null) {
            awaited.forget(this);
        }
        refusing.forEach(connection -> connection.forget(this));
        refusing.clear();
        SessionTransfers current = session;
        if (current != null) {
            current.remove(this);
        }
    }

    /**
     * Takes the completions of a call's work. Work can be outstanding long after its call has ended: it then references
     * only this object and not the call.
     */
    private static final class Sink implements CompletionTarget {

        private @Nullable QueueCallHandler call;

        Sink(QueueCallHandler call) {
            this.call = call;
        }

        /** Drops all further completions. */
        void leave() {
            call = null;
        }

        @Override
        public void complete(long connection, long id, boolean signaled, Cqe completion) {
            if (call != null) {
                call.complete(connection, id, signaled, completion);
            }
        }

        @Override
        public void flush() {
            if (call != null) {
                call.flush();
            }
        }
    }
}
