// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.sidewarp.engine.rdmap.CompletionStatus;
import io.sidewarp.engine.verbs.Opcode;
import io.sidewarp.engine.verbs.WorkCompletion;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.peer.AnswerQuota;
import io.sidewarp.service.peer.Peer;
import io.sidewarp.v1.QueueOpen;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One Queue call. A message is decoded while its work is posted; the next message is asked for when the last one is
 * posted completely, so that a full send queue holds the caller back instead of failing. Completions of one engine batch
 * go out in one message. What waits here is bounded by the credits: a completion that was not sent holds its credit. Work
 * that is refused holds nothing else, so that a caller who does not read is held back by it too. Work beyond the credits
 * waits, as work for a full send queue does. What waits of many completions, here or at gRPC, counts as an answer that is
 * not read, and when there is too much of that, the call ends. A call that has ended leaves nothing but its work.
 *
 * <p>gRPC's callbacks come on the transport's thread and continue on the session's. Allocates nothing per work request
 * unless it fails.
 */
final class QueueCall extends ServerCall.Listener<QueueFrame> implements WorkSource {

    /** Completions go out in messages of about this many octets at most. */
    private static final int MAX_MESSAGE = 64 * 1024;

    /** Octets that gRPC may have of the call before the transport has taken all of the last message, uncounted. */
    private static final int MAX_AHEAD = 4 * 1024;

    /** What a message takes besides its octets while gRPC has it, about. */
    private static final int MESSAGE_OVERHEAD = 512;

    /** Octets of completions from which on a caller that does not read them gets no more work refused. */
    private static final int MAX_UNREAD = 2 * 1024;

    private final ServerCall<QueueFrame, CompletionBatch> call;
    private final QueueSessions sessions;
    private final Peer peer;
    private final AnswerQuota quota;
    private final QueueDecoder decoder = new QueueDecoder();
    private final WorkItem item = new WorkItem();
    private final CompletionBatch batch = new CompletionBatch();
    private final Set<InitialReceives> claims = new LinkedHashSet<>();
    private final QueueSink sink = new QueueSink(this);
    /** Those that refused work of this call and tell it in turn. */
    private final Set<ConnectionWork> refusing = new HashSet<>();

    private final UnsignaledCredits unsignaled = new UnsignaledCredits();

    /** Set by the transport's thread with the first message, before anything goes to the session's thread. */
    private @Nullable SessionTransfers session;

    private int credits;
    /** Work requests that came and whose completion did not go out. */
    private int outstanding;
    /** Outstanding requests whose completion is in the batch. */
    private int unsent;
    /** Outstanding work that is unsignaled, and not complete. */
    private int silent;
    /** Outstanding receives that are not complete: a peer may wait for this side before it sends. */
    private int receives;
    /** What gRPC may still have of the call, in octets. */
    private int ahead;
    /** Octets of the batch and of these that count as not read. */
    private int counted;
    /** The batch has completions of initial receives. */
    private boolean initialUnsent;
    /** A decoded work request waits for a credit, or for space on its connection's send queue. */
    private boolean held;
    /** It is a credit that it waits for. */
    private boolean wantsCredit;
    /** Whose send queue that is, while it has no space. */
    private @Nullable ConnectionWork awaited;
    /** The rest of the message waits until the caller reads why work was refused. */
    private boolean paused;

    /** There is something to do when the transport has taken all. */
    private volatile boolean waiting;

    private boolean frameDone = true;
    private boolean halfClosed;
    private boolean closed;

    /** @param call ready when nothing waits for the transport */
    QueueCall(ServerCall<QueueFrame, CompletionBatch> call, QueueSessions sessions, Peer peer, AnswerQuota quota) {
        this.call = call;
        this.sessions = sessions;
        this.peer = peer;
        this.quota = quota;
    }

    // On the transport's thread.

    @Override
    public void onMessage(QueueFrame frame) {
        SessionTransfers current = session;
        if (current != null) {
            current.context().run(() -> onFrame(current, frame, false));
            return;
        }
        try {
            decoder.begin(frame);
            QueueOpen open = decoder.open();
            if (open == null) {
                throw ApiError.invalid("the first request of a Queue call must be open");
            }
            SessionTransfers found = sessions.find(open.getSession(), peer);
            session = found;
            found.context().run(() -> open(found, open, frame));
        } catch (RuntimeException e) {
            close(status(e));
        }
    }

    @Override
    public void onHalfClose() {
        SessionTransfers current = session;
        if (current == null) {
            close(Status.INVALID_ARGUMENT.withDescription("the Queue call ended before it was opened"));
        } else {
            current.context().run(() -> {
                halfClosed = true;
                closeWhenDone();
            });
        }
    }

    @Override
    public void onReady() {
        SessionTransfers current = session;
        if (waiting && current != null) {
            current.context().run(this::flush);
        }
    }

    @Override
    public void onCancel() {
        SessionTransfers current = session;
        if (current != null) {
            current.context().run(this::leave);
        }
    }

    // On the session's thread.

    private void open(SessionTransfers current, QueueOpen open, QueueFrame frame) {
        if (closed) {
            return;
        }
        try {
            credits = current.credits(open.getOutstanding());
            current.add(this);
            // All of them can be claimed or none is: completions that wait at one do not go down with a call that
            // fails.
            for (long connection : open.getReceiveConnectionsList()) {
                InitialReceives receives = current.connections().initialReceives(connection);
                receives.requireUnclaimed();
                claims.add(receives);
            }
            call.sendHeaders(new Metadata());
            call.sendMessage(CompletionBatch.opened(credits));
            ahead += MESSAGE_OVERHEAD;
            for (InitialReceives receives : claims) {
                receives.claim(this);
            }
        } catch (RuntimeException e) {
            close(status(e));
            return;
        }
        onFrame(current, frame, true);
    }

    private void onFrame(SessionTransfers current, QueueFrame frame, boolean first) {
        if (closed) {
            return;
        }
        decoder.begin(frame, first);
        frameDone = false;
        postFrame(current);
    }

    /** Posts the rest of the message, as far as there is space. */
    private void postFrame(SessionTransfers current) {
        try {
            while (held || decoder.next(item)) {
                if (!held || wantsCredit) {
                    wantsCredit = outstanding == credits;
                    held = wantsCredit;
                    if (held) {
                        flush();
                        return;
                    }
                    outstanding++;
                }
                int told = batch.count();
                held = post(current);
                if (held) {
                    flush();
                    return;
                }
                paused = batch.count() > told && !hasRoom();
                if (paused || closed) {
                    return;
                }
            }
        } catch (RuntimeException e) {
            close(status(e));
            return;
        }
        frameDone = true;
        flush();
        call.request(1);
        closeWhenDone();
    }

    /** Sends the batch when it has much; false when the caller has to read first. */
    private boolean hasRoom() {
        if (batch.octets() < (call.isReady() ? MAX_MESSAGE : MAX_UNREAD)) {
            return true;
        }
        flush();
        return batch.count() == 0;
    }

    /** The caller reads, or a credit came back. */
    private void goOn(SessionTransfers current) {
        if (!closed && (paused || hasCredit())) {
            paused = false;
            postFrame(current);
        }
    }

    private boolean hasCredit() {
        return wantsCredit && outstanding < credits;
    }

    /** Goes on with the message, but not from within the completion of other work. */
    private void goOnSoon() {
        SessionTransfers current = session;
        if (current != null) {
            current.context().loop().execute(() -> goOn(current));
        }
    }

    /** Posts the decoded work request; true when it has to wait for space. */
    private boolean post(SessionTransfers current) {
        boolean silently = item.unsignaled && item.opcode != Opcode.RECEIVE && item.sharedReceives == 0;
        if (!silently) {
            unsignaled.completes(current.connections());
        }
        if (item.sharedReceives != 0) {
            Refusal refusal = current.postShared(item, sink);
            if (refusal == null) {
                receives++;
            }
            refuse(current, refusal);
            return false;
        }
        ConnectionWork work = current.connections().find(item.connection);
        if (work == null) {
            refuse(current, Refusal.of(current.connections().missing(item.connection), item.isFlush()));
            return false;
        }
        Refusal refusal = silently && isLastCredit()
                ? UnsignaledCredits.LAST
                : current.poster().post(work, item, sink);
        if (WorkPoster.QUEUE_FULL.equals(refusal)) {
            awaited = work;
            work.awaitSpace(this);
            return true;
        }
        if (refusal == null) {
            if (silently) {
                silent++;
                unsignaled.posted(item.connection, current.connections());
            } else if (item.opcode == Opcode.RECEIVE) {
                receives++;
            } else {
                unsignaled.completesInTurn(item.connection);
            }
        } else if (refusal.isFlushed() && item.opcode != Opcode.RECEIVE) {
            unsignaled.completesInTurn(item.connection);
            refusing.add(work);
            work.refuseInTurn(this, Completions.refused(item.id, item.connection, item.opcode, refusal));
        } else {
            refuse(current, refusal);
        }
        work.onPosted();
        return false;
    }

    /** Whether no completion is due, and the caller counts all credits as taken by unsignaled work but for this one. */
    private boolean isLastCredit() {
        return outstanding - 1 - receives == silent && unsignaled.total() + receives + 1 >= credits;
    }

    private void refuse(SessionTransfers current, @Nullable Refusal refusal) {
        if (refusal != null) {
            unsignaled.completes(current.connections());
            refused(Completions.refused(item.id, item.connection, item.opcode, refusal));
        }
    }

    /** Tells of work that was not posted, with the next flush. */
    @Override
    public void refused(io.sidewarp.v1.WorkCompletion completion) {
        if (!closed) {
            batch.add(completion);
            unsent++;
            countTold(completion.getConnection());
        }
    }

    /** A completion is in the batch: events of its connection come behind it. */
    private void countTold(long connection) {
        SessionTransfers current = session;
        ConnectionWork work = current == null ? null : current.connections().find(connection);
        if (work != null) {
            work.onTold();
        }
    }

    /** A connection has told all that it refused. */
    @Override
    public void toldBy(ConnectionWork work) {
        refusing.remove(work);
    }

    /** There may be space on a send queue that work waits for. */
    @Override
    public void resume() {
        awaited = null;
        SessionTransfers current = session;
        if (!closed && held && current != null) {
            postFrame(current);
        }
    }

    /** Work is complete: {@link CompletionSink#complete}. */
    void complete(long connection, long id, boolean signaled, WorkCompletion completion) {
        if (completion.opcode() == Opcode.RECEIVE) {
            receives--;
        }
        boolean success = completion.status() == CompletionStatus.SUCCESS;
        if (!signaled) {
            silent--;
            if (success) {
                outstanding--;
                return;
            }
            // Work behind it fails, and tells so.
            unsignaled.completesInTurn(connection);
        }
        if (success) {
            batch.add(id, connection, completion);
        } else {
            batch.add(Completions.toProto(id, connection, completion));
        }
        unsent++;
        countTold(connection);
        if (batch.octets() >= MAX_MESSAGE) {
            flush();
        }
    }

    /** Adds the completion of an initial receive, which holds no credit. */
    void addInitial(io.sidewarp.v1.WorkCompletion completion) {
        if (!closed) {
            batch.add(completion);
            initialUnsent = true;
            countTold(completion.getConnection());
        }
    }

    /** Sends what was collected. */
    @Override
    public void flush() {
        do {
            sendBatch();
            // Whoever hears of it later sees that there is something to do, or else it is ready now.
        } while (waiting && !closed && call.isReady());
        if (hasCredit()) {
            goOnSoon();
        }
        closeWhenDone();
    }

    /**
     * Sends the batch if gRPC has little of this call. What it keeps for long is what a caller does not read; there is no
     * way to see how much that is, only when it is nothing.
     */
    private void sendBatch() {
        if (closed || (batch.count() == 0 && counted == 0)) {
            return;
        }
        // A call whose caller has left is not ready either.
        if (call.isReady()) {
            ahead = 0;
        }
        int next = ahead + batch.octets() + MESSAGE_OVERHEAD;
        if (batch.count() > 0 && (ahead == 0 || next <= MAX_AHEAD)) {
            if (!count(next, 0)) {
                return;
            }
            ahead = next;
            send();
        } else if (!count(ahead, batch.excess())) {
            return;
        }
        waiting = batch.count() > 0 || counted > 0;
    }

    private void send() {
        batch.seal();
        call.sendMessage(batch);
        batch.clear();
        outstanding -= unsent;
        unsent = 0;
        if (initialUnsent) {
            initialUnsent = false;
            claims.forEach(InitialReceives::sent);
        }
        if (paused) {
            goOnSoon();
        }
    }

    /**
     * Counts what the caller did not read, if it is much; ends the call when it may not be.
     *
     * @param sent octets that gRPC may have
     * @param waits octets that wait here, if they are many
     */
    private boolean count(int sent, int waits) {
        int more = (sent > MAX_AHEAD ? sent : 0) + waits - counted;
        if (more < 0) {
            quota.giveAnswerOctets(-more);
        } else if (more > 0) {
            try {
                quota.takeAnswerOctets(more);
            } catch (StatusRuntimeException e) {
                close(e.getStatus());
                return false;
            }
        }
        counted += more;
        return true;
    }

    private void closeWhenDone() {
        if (halfClosed && frameDone && outstanding == 0 && batch.count() == 0) {
            close(Status.OK);
        }
    }

    /** The session ends. */
    void end() {
        close(Status.CANCELLED.withDescription("the session ended"));
    }

    private void close(Status status) {
        if (!closed) {
            call.close(status, ApiError.trailers(status));
            leave();
        }
    }

    /** Nothing goes out any more; work that was posted goes on, and nothing else is kept. */
    private void leave() {
        closed = true;
        sink.leave();
        decoder.end();
        batch.clear();
        ConnectionWork full = awaited;
        if (full != null) {
            full.forget(this);
        }
        for (ConnectionWork work : refusing) {
            work.forget(this);
        }
        refusing.clear();
        // What gRPC has counts until nothing of the call is left.
        count(ahead, 0);
        for (InitialReceives receives : claims) {
            receives.unclaim(this);
        }
        claims.clear();
        SessionTransfers current = session;
        if (current != null) {
            current.remove(this);
        }
    }

    private static Status status(RuntimeException failure) {
        if (failure instanceof ProtoReader.MalformedMessage) {
            return Status.INVALID_ARGUMENT.withDescription(failure.getMessage());
        }
        return ApiError.from(failure).getStatus();
    }
}
