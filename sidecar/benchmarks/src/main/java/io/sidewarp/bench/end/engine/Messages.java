// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

import io.sidewarp.engine.verbs.Opcode;
import io.sidewarp.engine.verbs.WorkRequest;

/** One end of a ping-pong of Sends. */
final class Messages {

    private final EngineEnd end;
    private final Link link;
    private final Completions completions;
    private final WorkRequest request = new WorkRequest();

    Messages(EngineEnd end, Link link) {
        this.end = end;
        this.link = link;
        completions = new Completions(end.completions());
    }

    /** Returns whether a message has arrived. If so, its Receive is posted again. */
    boolean take() {
        boolean arrived = false;
        int count = completions.poll();
        for (int i = 0; i < count; i++) {
            if (completions.get(i).opcode() == Opcode.RECEIVE) {
                request.reset(completions.get(i).id(), Opcode.RECEIVE)
                        .addSge(
                                end.region(),
                                end.layout().slot(0, 0),
                                end.plan().size());
                EngineEnd.require(link.queuePair().postReceive(request));
                arrived = true;
            }
        }
        return arrived;
    }

    void send() {
        request.reset(0, Opcode.SEND)
                .addSge(end.region(), end.layout().slot(0, 1), end.plan().size())
                .signaled(false);
        EngineEnd.require(link.queuePair().postSend(request));
    }
}
