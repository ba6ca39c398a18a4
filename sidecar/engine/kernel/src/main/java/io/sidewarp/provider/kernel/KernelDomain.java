// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import io.sidewarp.engine.memory.Pd;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A protection domain, and the device's handle of it. */
final class KernelDomain {

    private final Pd facade;
    private final long pd;
    /** Memory for flushes: an RDMA Read needs an element with a valid key, even if it reads no bytes. */
    private final Arena arena;

    private final MemorySegment sink;
    private final long sinkRegion;
    private final Lifetime lifetime;

    private KernelDomain(Pd facade, long pd, Arena arena, MemorySegment sink, long sinkRegion) {
        this.facade = facade;
        this.pd = pd;
        this.arena = arena;
        this.sink = sink;
        this.sinkRegion = sinkRegion;
        this.lifetime = new Lifetime(this::destroy);
    }

    /**
     * Registers the memory for flushes.
     *
     * @param pd the device's protection domain, which is deallocated when the registration fails
     * @throws IllegalStateException when the device cannot register more memory
     */
    static KernelDomain of(Pd facade, long pd) {
        Arena arena = Arena.ofShared();
        MemorySegment sink = arena.allocate(Long.BYTES, Long.BYTES);
        long region = VerbsCalls.regMr(pd, sink.address(), sink.byteSize(), VerbsLayout.ACCESS_LOCAL_WRITE);
        if (region < 0) {
            arena.close();
            int ignored = VerbsCalls.deallocPd(pd);
            KernelErrors.check("cannot register memory for flushes", region);
        }
        return new KernelDomain(facade, pd, arena, sink, region);
    }

    Pd facade() {
        return facade;
    }

    long handle() {
        return pd;
    }

    long sinkAddress() {
        return sink.address();
    }

    int sinkKey() {
        return Native.getInt(sinkRegion + VerbsLayout.MR_LKEY);
    }

    Lifetime lifetime() {
        return lifetime;
    }

    private void destroy() {
        int ignored = VerbsCalls.deregMr(sinkRegion);
        ignored = VerbsCalls.deallocPd(pd);
        arena.close();
    }
}
