// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static io.sidewarp.provider.kernel.Native.LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** Channel for the events of a device's connections. */
final class CmChannel implements VerbsLoop.Source {

    private final long channel;
    private final Map<Long, Consumer<CmEvent>> handlers = new ConcurrentHashMap<>();

    CmChannel() {
        channel = CmCalls.createEventChannel();
        KernelErrors.check("cannot open a channel to the connection manager (/dev/infiniband/rdma_cm)", channel);
    }

    /** Creates an identifier. The handler gets its events on the loop. */
    CmId create(Consumer<CmEvent> handler) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(LONG);
            KernelErrors.check("cannot begin a connection", CmCalls.createId(channel, out));
            return adopt(out.get(LONG, 0), handler);
        }
    }

    /** Wraps the identifier of a connection request. The handler gets its events on the loop. */
    CmId adopt(long id, Consumer<CmEvent> handler) {
        handlers.put(id, handler);
        return new CmId(this, id);
    }

    /** Destroys an identifier, which ends its connection or listener. */
    void destroy(long id) {
        handlers.remove(id);
        int ignored = CmCalls.destroyId(id);
    }

    @Override
    public int descriptor() {
        return Native.getInt(channel + VerbsLayout.EVENT_CHANNEL_FD);
    }

    @Override
    public void onReadable() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(LONG);
            while (CmCalls.getCmEvent(channel, out) == 0) {
                CmEvent event = CmEvent.copyOf(out.get(LONG, 0));
                // Acknowledges first: the library destroys an identifier only after all its events are acknowledged.
                CmCalls.ackCmEvent(out.get(LONG, 0));
                boolean request = event.kind() == CmEvent.Kind.CONNECT_REQUEST;
                Consumer<CmEvent> handler = handlers.get(request ? event.listenId() : event.id());
                if (handler != null) {
                    handler.accept(event);
                } else if (request) {
                    destroy(event.id());
                }
            }
        }
    }

    void close() {
        CmCalls.destroyEventChannel(channel);
    }
}
