// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.quota.Grant;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.WorkCompletion;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The receives that were given with Connect or Accept. Their completions wait here, bounded by their number, until a
 * Queue call that claimed them has sent them or Receive calls take them one at a time: what a call did not send is there
 * for the next one. Confined to the session's thread.
 */
public final class InitialReceives implements CompletionSink {

    private final long connection;
    private Runnable onUnclaimed;
    /** What nobody was sent yet, also what the claimant has been told. */
    private final ArrayDeque<WorkCompletion> parked = new ArrayDeque<>();

    private final ArrayDeque<CompletableFuture<WorkCompletion>> takers = new ArrayDeque<>();
    private @Nullable QueueCall claimant;
    private int outstanding;
    /** Of a connection that has ended, until nothing waits. */
    private Grant held = new Grant();

    /**
     * @param connection the API's id of the connection, of which nothing else is kept when it has ended
     * @param onUnclaimed runs when messages wait that nobody has claimed, until the connection has ended
     */
    InitialReceives(long connection, Runnable onUnclaimed) {
        this.connection = connection;
        this.onUnclaimed = onUnclaimed;
    }

    /** One more receive was posted. */
    void posted() {
        outstanding++;
    }

    /** Messages that wait, and that nobody has claimed. */
    public long unclaimed() {
        return claimant != null
                ? 0
                : parked.stream()
                        .filter(completion -> completion.getStatus() == CompletionStatus.COMPLETION_STATUS_SUCCESS)
                        .count();
    }

    /** Whether there are completions that nobody was sent. */
    public boolean hasParked() {
        return !parked.isEmpty();
    }

    /**
     * The connection has ended.
     *
     * @param grant what the completions that nobody was sent yet may take, given back when there are none
     */
    public void end(Grant grant) {
        held = grant;
        onUnclaimed = () -> {};
        giveBack();
    }

    /** Nobody can ask for completions any more. */
    public void forget() {
        held.close();
    }

    private void giveBack() {
        if (parked.isEmpty()) {
            held.close();
        }
    }

    /** FAILED_PRECONDITION when a call has them. */
    void requireUnclaimed() {
        if (claimant != null || !takers.isEmpty()) {
            throw ApiError.state("the initial receives of connection " + connection
                    + " are claimed by another Queue or Receive call; end that one first");
        }
    }

    /** Tells a call of all completions from now on, also of those that wait. Legal when they are unclaimed. */
    void claim(QueueCall call) {
        claimant = call;
        for (WorkCompletion completion : parked) {
            call.addInitial(completion, this);
        }
    }

    /** The claimant has sent the oldest completion. */
    void sent() {
        parked.remove();
        giveBack();
    }

    /** The call takes no more; what it did not send waits for the next one. */
    void unclaim(QueueCall call) {
        if (claimant == call) {
            claimant = null;
        }
    }

    /** The next completion. Failed with FAILED_PRECONDITION when none can come. */
    CompletableFuture<WorkCompletion> take() {
        CompletableFuture<WorkCompletion> result = new CompletableFuture<>();
        if (claimant != null) {
            result.completeExceptionally(ApiError.state("the initial receives of connection " + connection
                    + " are claimed by a Queue call; post a receive with work instead"));
            return result;
        }
        WorkCompletion waiting = parked.poll();
        if (waiting != null) {
            giveBack();
            SimpleWork.finish(result, waiting);
        } else if (outstanding <= takers.size()) {
            result.completeExceptionally(ApiError.state(
                    "connection " + connection + " has no initial receives left; post a receive with work instead"));
        } else {
            takers.add(result);
            // A caller that left must not take a message with it.
            result.whenComplete((completion, failure) -> takers.removeIf(CompletableFuture::isDone));
        }
        return result;
    }

    @Override
    public void complete(
            long connection, long id, boolean signaled, io.sidewarp.engine.verbs.WorkCompletion completion) {
        outstanding--;
        WorkCompletion message = Completions.toProto(id, connection, completion);
        parked.add(message);
        if (claimant != null) {
            claimant.addInitial(message, this);
        }
    }

    @Override
    public void flush() {
        if (claimant != null) {
            claimant.flush();
        }
        while (!parked.isEmpty() && !takers.isEmpty()) {
            SimpleWork.finish(takers.remove(), parked.remove());
        }
        if (claimant == null && !parked.isEmpty()) {
            onUnclaimed.run();
        }
        giveBack();
    }
}
