// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static io.sidewarp.provider.kernel.Native.LONG;

import io.sidewarp.engine.linux.NativeLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** Channel for the events of a device's connections. */
final class CmChannel {

    /** Name of the library of the connection manager (rdma/rdma_cma.h). It depends on the verbs library. */
    static final String LIBRARY = "librdmacm.so.1";

    static final NativeLibrary CM = Native.library(LIBRARY);

    private static final int PORT_SPACE_TCP = 0x106;
    private final long channel;
    private final Map<Long, Consumer<CmEvent>> handlers = new ConcurrentHashMap<>();

    CmChannel() {
        channel = CM.callForPointer("rdma_create_event_channel");
        KernelErrors.check("cannot open a channel to the connection manager (/dev/infiniband/rdma_cm)", channel);
    }

    /** Creates an identifier. The handler gets its events on the loop. */
    CmId create(Consumer<CmEvent> handler) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(LONG);
            KernelErrors.check(
                    "cannot begin a connection", CM.call("rdma_create_id", channel, out, 0L, PORT_SPACE_TCP));
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
        // Blocks until all events of the identifier are acknowledged.
        CM.call("rdma_destroy_id", id);
    }

    VerbsLoop.Source events() {
        return new VerbsLoop.Source(Native.getInt(channel + VerbsLayout.EVENT_CHANNEL_FD), this::onReadable);
    }

    private void onReadable() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(LONG);
            while (CM.call("rdma_get_cm_event", channel, out) == 0) {
                CmEvent event = CmEvent.copyOf(out.get(LONG, 0));
                // Acknowledges first: the library destroys an identifier only after all its events are acknowledged.
                CM.call("rdma_ack_cm_event", out.get(LONG, 0));
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
        CM.run("rdma_destroy_event_channel", channel);
    }
}
