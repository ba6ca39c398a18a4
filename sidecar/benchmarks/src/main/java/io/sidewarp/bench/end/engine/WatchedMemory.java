// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.engine.verbs.Opcode;
import io.sidewarp.engine.verbs.WorkRequest;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * A ping-pong of RDMA Writes at one end: the peer writes the first slot, whose last octet is watched, and this end
 * writes its second slot there. The last octet counts the messages.
 */
final class WatchedMemory {

    private static final VarHandle OCTET = ValueLayout.JAVA_BYTE.varHandle();

    private final EngineEnd end;
    private final Link link;
    private final Completions completions;
    private final WorkRequest request = new WorkRequest();
    private final long watched;
    private final long sent;
    private byte taken;
    private byte written;

    /** @param count messages that went each way before, modulo 256; memory itself may already hold the next */
    WatchedMemory(EngineEnd end, Link link, byte count) {
        this.end = end;
        this.link = link;
        completions = new Completions(end.completions());
        TransferPlan plan = end.plan();
        watched = end.layout().slot(0, 0) + plan.size() - 1;
        sent = end.layout().slot(0, 1) + plan.size() - 1;
        taken = count;
        written = count;
    }

    /** Messages that this end has written so far, modulo 256; new memory is zero. */
    static byte count(EngineEnd end) {
        return (byte) OCTET.getVolatile(
                end.memory(), end.layout().slot(0, 1) + end.plan().size() - 1);
    }

    /** Whether the next message is there; if so, it is taken. */
    boolean take() {
        if ((byte) OCTET.getVolatile(end.memory(), watched) != (byte) (taken + 1)) {
            // Nobody waits for these: the answer says more.
            completions.poll();
            return false;
        }
        taken++;
        return true;
    }

    void write() {
        OCTET.setVolatile(end.memory(), sent, ++written);
        request.reset(0, Opcode.RDMA_WRITE)
                .addSge(end.region(), end.layout().slot(0, 1), end.plan().size())
                .remote(
                        link.peer().stag(),
                        link.peer().taggedOffset() + end.layout().slot(0, 0))
                .signaled(false);
        EngineEnd.require(link.queuePair().postSend(request));
    }
}
