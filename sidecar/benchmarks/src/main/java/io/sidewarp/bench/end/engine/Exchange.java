// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/** One end of a ping-pong. Allocates nothing once it runs. */
abstract sealed class Exchange {

    final EngineEnd end;
    final Link link;
    final Completions completions;
    final Wr request = new Wr();
    final int size;

    private Exchange(EngineEnd end, Link link) {
        this.end = end;
        this.link = link;
        completions = new Completions(end.completions());
        size = end.plan().size();
    }

    static Exchange of(EngineEnd end, Link link) {
        return switch (end.plan().operation()) {
            case WRITE -> new Writes(end, link);
            case READ -> new Reads(end, link);
            case SEND -> new Sends(end, link);
        };
    }

    /** Sends a message. */
    abstract void send();

    /** Takes the next message if it has arrived. Returns whether it has. */
    abstract boolean receive();

    /** Returns the number of messages of a round. */
    int ways() {
        return 2;
    }

    /** Returns whether messages come with completions; otherwise they have to be looked for in memory. */
    boolean followsCompletions() {
        return true;
    }

    /**
     * RDMA Writes. The peer writes the first slot, and this end polls the slot's last byte. This end writes its second
     * slot to the peer. The last byte of a slot counts the messages.
     */
    private static final class Writes extends Exchange {

        private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

        private final long watched;
        private final long sent;
        private byte taken;
        private byte written;

        Writes(EngineEnd end, Link link) {
            super(end, link);
            TransferPlan plan = end.plan();
            watched = end.layout().slot(0, 0) + plan.size() - 1;
            sent = end.layout().slot(0, 1) + plan.size() - 1;
            // Earlier runs have counted in the same memory, and the next message may be there already.
            written = (byte) BYTE.getVolatile(end.memory(), sent);
            taken = written;
        }

        @Override
        void send() {
            BYTE.setVolatile(end.memory(), sent, ++written);
            link.transfer(
                    request,
                    WrOpcode.RDMA_WRITE,
                    0,
                    end.layout().slot(0, 1),
                    end.layout().slot(0, 0),
                    size,
                    false);
        }

        @Override
        boolean receive() {
            if ((byte) BYTE.getVolatile(end.memory(), watched) != (byte) (taken + 1)) {
                // Discards completions of Writes: the peer's answer says more.
                completions.poll();
                return false;
            }
            taken++;
            return true;
        }

        @Override
        boolean followsCompletions() {
            return false;
        }
    }

    /** RDMA Reads, one at a time. The passive end has nothing to do. */
    private static final class Reads extends Exchange {

        Reads(EngineEnd end, Link link) {
            super(end, link);
        }

        @Override
        void send() {
            long offset = end.layout().slot(0, 0);
            link.transfer(request, WrOpcode.RDMA_READ, 0, offset, offset, size, true);
        }

        @Override
        boolean receive() {
            return completions.poll() > 0;
        }

        @Override
        int ways() {
            return 1;
        }
    }

    /** Sends. */
    private static final class Sends extends Exchange {

        Sends(EngineEnd end, Link link) {
            super(end, link);
        }

        @Override
        void send() {
            request.reset(0, WrOpcode.SEND)
                    .addSge(end.region(), end.layout().slot(0, 1), size)
                    .signaled(false);
            EngineEnd.require(link.queuePair().postSend(request));
        }

        /** Posts the Receive of a message again. */
        @Override
        boolean receive() {
            boolean arrived = false;
            int count = completions.poll();
            for (int i = 0; i < count; i++) {
                if (completions.get(i).opcode() == WrOpcode.RECEIVE) {
                    request.reset(completions.get(i).id(), WrOpcode.RECEIVE)
                            .addSge(end.region(), end.layout().slot(0, 0), size);
                    EngineEnd.require(link.queuePair().postReceive(request));
                    arrived = true;
                }
            }
            return arrived;
        }
    }
}
