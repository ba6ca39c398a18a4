// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.engine.verbs.Opcode;
import io.sidewarp.engine.verbs.WorkRequest;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * One end of a ping-pong of RDMA Writes. The peer writes the first slot, and this end polls the slot's last byte. This
 * end writes its second slot to the peer. The last byte of a slot counts the messages.
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

    /**
     * Makes one end of a ping-pong.
     *
     * @param count messages that went each way before, modulo 256; memory may already contain the next one
     */
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

    /** Returns the number of messages that this end has written so far, modulo 256; new memory is zero. */
    static byte count(EngineEnd end) {
        return (byte) OCTET.getVolatile(
                end.memory(), end.layout().slot(0, 1) + end.plan().size() - 1);
    }

    /** Takes the next message if it has arrived. Returns whether it has. */
    boolean take() {
        if ((byte) OCTET.getVolatile(end.memory(), watched) != (byte) (taken + 1)) {
            // Discards completions of Writes: the peer's answer says more.
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
