// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * Keeps as many messages in flight as the depth of the queue. They are posted in groups; the last message of a group
 * asks for a completion. The completion posts its group again, on the thread that takes completions and without
 * allocation.
 *
 * <p>The latency of a message is the time from its group's post to its completion.
 */
final class Pipeline extends DataEnd {

    private final WorkRequest[] requests;
    private final int signal;
    private final long[] postedAt;

    /** Groups that wait for the receiver's credits. */
    private final int[] waiting;

    private int waitingGroups;
    private int groupsUnderWay;
    private long posted;

    private final @Nullable Credits credits;

    /**
     * @param requests one for each message that may be in flight; each {@code signal}th of them signaled
     * @param credits of the receiver of Sends; null for other operations
     */
    Pipeline(WorkQueue queue, WorkRequest[] requests, int signal, @Nullable Credits credits) {
        super(queue);
        this.requests = requests.clone();
        this.signal = signal;
        this.credits = credits;
        postedAt = new long[requests.length / signal];
        waiting = new int[postedAt.length];
    }

    @Override
    void postReceives() {
        if (credits != null) {
            credits.postReceives();
        }
    }

    @Override
    synchronized void start() {
        queue.batch(_ -> {
            for (int group = 0; group < postedAt.length; group++) {
                postOrWait(group);
            }
        });
    }

    @Override
    synchronized void stop() {
        super.stop();
        finishWhenIdle();
    }

    @Override
    synchronized void completed(long id) {
        if (isStopping() && finished().isDone()) {
            return;
        }
        if (Credits.isCredit(id)) {
            onCredit(id);
            return;
        }
        int group = (int) id;
        count(signal, System.nanoTime() - postedAt[group]);
        groupsUnderWay--;
        if (isStopping()) {
            finishWhenIdle();
        } else {
            postOrWait(group);
        }
    }

    private void onCredit(long id) {
        if (credits == null) {
            throw new IllegalStateException("a receive completed that was never posted");
        }
        post(id, credits.arrived(id));
        while (waitingGroups > 0 && credits.allow(posted + signal) && !isStopping()) {
            post(waiting[--waitingGroups]);
        }
    }

    private void postOrWait(int group) {
        if (credits == null || credits.allow(posted + signal)) {
            post(group);
        } else {
            waiting[waitingGroups++] = group;
        }
    }

    private void post(int group) {
        int first = group * signal;
        postedAt[group] = System.nanoTime();
        queue.batch(batch -> {
            for (int i = first; i < first + signal; i++) {
                if (!batch.tryPost(group, requests[i])) {
                    fail(noCredit());
                    return;
                }
            }
        });
        posted += signal;
        groupsUnderWay++;
    }

    private void finishWhenIdle() {
        if (groupsUnderWay == 0) {
            finish();
        }
    }
}
