// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

import io.sidewarp.engine.verbs.Opcode;
import io.sidewarp.engine.verbs.WorkRequest;

/** Posts one RDMA Read at a time, and measures from the post to the completion. */
final class ReadPingPong extends PingPong {

    private final EngineEnd end;
    private final Link link;
    private final Completions completions;
    private final WorkRequest request = new WorkRequest();

    ReadPingPong(EngineEnd end, Link link, long nanos) {
        super(nanos, 1);
        this.end = end;
        this.link = link;
        completions = new Completions(end.completions());
    }

    @Override
    void send() {
        long offset = end.layout().slot(0, 0);
        request.reset(0, Opcode.RDMA_READ)
                .addSge(end.region(), offset, end.plan().size())
                .remote(link.peer().stag(), link.peer().taggedOffset() + offset);
        EngineEnd.require(link.queuePair().postSend(request));
    }

    @Override
    boolean receive() {
        return completions.poll() > 0;
    }

    @Override
    public boolean followsCompletions() {
        return true;
    }
}
