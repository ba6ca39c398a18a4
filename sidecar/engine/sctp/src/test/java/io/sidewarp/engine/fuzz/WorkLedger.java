// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import io.sidewarp.engine.rdmap.CompletionSink;
import io.sidewarp.engine.rdmap.Wqe;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.StreamError;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Records the work of one stream. Each completion must come once and in the order of posting. No work may succeed after
 * failed work.
 */
final class WorkLedger implements CompletionSink {

    /** A posted work request. */
    private record Posted(long id, boolean signaled, boolean placing, int offset, int length) {

        boolean covers(int octet) {
            return placing && octet >= offset && octet < offset + length;
        }
    }

    private final ArrayDeque<Posted> sends = new ArrayDeque<>();
    private final ArrayDeque<Posted> receives = new ArrayDeque<>();
    /** Buffers that were in use when the latest step began. */
    private final List<Posted> placing = new ArrayList<>();

    private final List<Long> received = new ArrayList<>();

    private boolean sendFailed;
    private boolean receiveFailed;
    private boolean notified = true;

    /** A Write, Read or Send is about to be posted; a read places into a part of the local region. */
    void posting(long id, boolean signaled, boolean read, int offset, int length) {
        sends.add(new Posted(id, signaled, read, offset, length));
    }

    /** A receive is about to be posted for a part of the local region. */
    void postingReceive(long id, int offset, int length) {
        receives.add(new Posted(id, true, true, offset, length));
    }

    /** Notes which buffers are in use before something happens. */
    void before() {
        placing.clear();
        placing.addAll(sends);
        placing.addAll(receives);
    }

    /** Returns whether a byte of the local region belonged to a buffer in use. */
    boolean covers(int octet) {
        for (Posted posted : placing) {
            if (posted.covers(octet)) {
                return true;
            }
        }
        return false;
    }

    /** Lengths of the messages that were received, oldest first. */
    List<Long> received() {
        return received;
    }

    @Override
    public void onSendCompletion(Wqe wqe, CqeStatus status, @Nullable StreamError error) {
        completed();
        Posted posted = sends.poll();
        while (posted != null && posted.id() != wqe.id()) {
            Violation.unless(!posted.signaled() && !sendFailed, "completion of " + wqe.id() + " before " + posted.id());
            posted = sends.poll();
        }
        Violation.unless(posted != null, "completion of " + wqe.id() + ", which is not outstanding");
        boolean success = status == CqeStatus.SUCCESS;
        Violation.unless(!success || !sendFailed, "work " + wqe.id() + " succeeded behind work that failed");
        Violation.unless(!success || posted.signaled(), "unsignaled work " + wqe.id() + " completed");
        sendFailed |= !success;
    }

    @Override
    public void onReceiveCompletion(
            Wqe wqe, CqeStatus status, long length, int control, int invalidatedStag, @Nullable StreamError error) {
        completed();
        Posted posted = receives.poll();
        Violation.unless(posted != null && posted.id() == wqe.id(), "receive " + wqe.id() + " completed out of order");
        boolean success = status == CqeStatus.SUCCESS;
        Violation.unless(!success || !receiveFailed, "receive " + wqe.id() + " succeeded behind one that failed");
        Violation.unless(!success || length <= posted.length(), "a message of " + length + " octets overran a receive");
        receiveFailed |= !success;
        if (success) {
            received.add(length);
        }
    }

    private void completed() {
        notified = false;
    }

    @Override
    public void onCompletionsDone() {
        notified = true;
    }

    /** The stream is over: nothing may be left. */
    void verifyAllCompleted() {
        boolean left = sends.stream().anyMatch(posted -> posted.signaled() || sendFailed);
        Violation.unless(!left && receives.isEmpty(), "work never completed: " + sends + receives);
        verifyNotified();
    }

    /** A step is over: completions must have been announced. */
    void verifyNotified() {
        Violation.unless(notified, "completions were not announced");
    }
}
