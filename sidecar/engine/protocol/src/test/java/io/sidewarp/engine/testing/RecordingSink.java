// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import io.sidewarp.engine.rdmap.CompletionSink;
import io.sidewarp.engine.rdmap.Wqe;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.StreamError;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Records the completions of a stream. */
public final class RecordingSink implements CompletionSink {

    /**
     * A completion.
     *
     * @param receive true for a receive; length, control and STag are then those of the message
     * @param result result of an atomic operation, or received Immediate Data
     */
    public record Completion(
            boolean receive,
            long id,
            CqeStatus status,
            long length,
            int control,
            int invalidatedStag,
            long result,
            @Nullable StreamError error) {

        /** The message's opcode. */
        public int opcode() {
            return control & 0x0F;
        }
    }

    private final List<Completion> sends = new ArrayList<>();
    private final List<Completion> receives = new ArrayList<>();
    private boolean notified = true;
    private Runnable onCompletion = () -> {};

    /** Called at each completion, before the work's slot is given back. */
    public void onEachCompletion(Runnable action) {
        onCompletion = action;
    }

    @Override
    public void onSendCompletion(Wqe wqe, CqeStatus status, @Nullable StreamError error) {
        sends.add(new Completion(false, wqe.id(), status, wqe.length(), 0, 0, wqe.result(), error));
        notified = false;
        onCompletion.run();
    }

    @Override
    public void onReceiveCompletion(
            Wqe wqe, CqeStatus status, long length, int control, int invalidatedStag, @Nullable StreamError error) {
        receives.add(new Completion(true, wqe.id(), status, length, control, invalidatedStag, wqe.result(), error));
        notified = false;
        onCompletion.run();
    }

    @Override
    public void onCompletionsDone() {
        notified = true;
    }

    /** Completions of Writes, Reads and Sends, oldest first. */
    public List<Completion> sends() {
        return sends;
    }

    /** Completions of receives, oldest first. */
    public List<Completion> receives() {
        return receives;
    }

    /** Returns the results of {@link #sends()}. */
    public List<Long> sendResults() {
        return sends.stream().map(Completion::result).toList();
    }

    /** Returns the results of {@link #receives()}. */
    public List<Long> receiveResults() {
        return receives.stream().map(Completion::result).toList();
    }

    /** Ids of {@link #sends()}. */
    public List<Long> sendIds() {
        return sends.stream().map(Completion::id).toList();
    }

    /** Ids of {@link #receives()}. */
    public List<Long> receiveIds() {
        return receives.stream().map(Completion::id).toList();
    }

    /** Statuses of {@link #sends()}. */
    public List<CqeStatus> sendStatuses() {
        return sends.stream().map(Completion::status).toList();
    }

    /** Statuses of {@link #receives()}. */
    public List<CqeStatus> receiveStatuses() {
        return receives.stream().map(Completion::status).toList();
    }

    /** True when the end of a batch was told since the last completion. */
    public boolean notified() {
        return notified;
    }

    public boolean isEmpty() {
        return sends.isEmpty() && receives.isEmpty();
    }

    public void clear() {
        sends.clear();
        receives.clear();
    }
}
