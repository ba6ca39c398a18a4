// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.v1.WorkCompletion;

/** Takes the completions of entries of one ring that have the same tag. */
final class RingSink implements CompletionTarget, WorkSource {

    private final WorkRingReader ring;
    private final CompletionRingWriter completions;
    private final int tag;

    RingSink(WorkRingReader ring, int tag) {
        this.ring = ring;
        this.completions = ring.completions();
        this.tag = tag;
    }

    @Override
    public void complete(long connection, long id, boolean signaled, Cqe completion) {
        boolean success = completion.status() == CqeStatus.SUCCESS;
        if (!signaled && success) {
            completions.silently();
            return;
        }
        if (success) {
            completions.succeeded(id, connection, tag, completion);
        } else {
            completions.failed(CompletionProtos.toProto(id, connection, completion), tag);
        }
        ring.countTold(connection);
    }

    @Override
    public void refused(WorkCompletion completion) {
        completions.failed(completion, tag);
        ring.countTold(completion.getConnection());
    }

    @Override
    public void toldBy(ConnectionWork work) {}

    @Override
    public void flush() {
        completions.flush();
    }

    @Override
    public void resume() {
        ring.onSpace();
    }
}
