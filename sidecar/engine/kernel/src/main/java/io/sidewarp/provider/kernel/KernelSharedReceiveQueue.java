// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static io.sidewarp.provider.kernel.Native.INT;

import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.memory.RegionUser;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.Srq;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.provider.Listeners;
import io.sidewarp.provider.PostChecks;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A shared receive queue of the device. */
final class KernelSharedReceiveQueue implements Srq {

    private final KernelDevice device;
    private final KernelDomain domain;
    private final RegionUser user;
    private final long number;
    private final long srq;
    private final int maxSge;
    private final Arena arena = Arena.ofShared();
    private final DeviceWorkQueue receives;
    private final AtomicInteger users = new AtomicInteger();
    private final Lifetime lifetime = new Lifetime(this::destroy);
    private @Nullable Runnable limitListener;
    private boolean closed;

    KernelSharedReceiveQueue(
            KernelDevice device, KernelDomain domain, long number, int capacity, int maxSge, long srq) {
        this.device = device;
        this.domain = domain;
        this.user = new RegionUser(domain.facade(), 0);
        this.number = number;
        this.srq = srq;
        this.maxSge = maxSge;
        this.receives = new DeviceWorkQueue(
                arena,
                CompletionRoutes.receiveTag(number),
                capacity,
                maxSge,
                (request, failed) -> device.dataPath().postSharedReceive(srq, request, failed));
        domain.facade().retainSharedReceiveQueue();
        domain.lifetime().retain();
    }

    long handle() {
        return srq;
    }

    long number() {
        return number;
    }

    Pd domain() {
        return domain.facade();
    }

    DeviceWorkQueue receives() {
        return receives;
    }

    Lifetime lifetime() {
        return lifetime;
    }

    @Override
    public synchronized PostResult postReceive(Wr request) {
        if (closed) {
            return PostResult.INVALID_STATE;
        }
        PostResult check = PostChecks.checkReceive(request, user);
        if (check != PostResult.POSTED || request.sgeCount() > maxSge) {
            return PostResult.INVALID_REQUEST;
        }
        return receives.post(request);
    }

    @Override
    public int capacity() {
        return receives.capacity();
    }

    /** Includes receives into which a message is arriving. */
    @Override
    public int size() {
        return receives.outstanding();
    }

    @Override
    public void armLimit(int limit, Runnable listener) {
        synchronized (this) {
            limitListener = limit == 0 ? null : listener;
        }
        if (limit > 0 && receives.outstanding() < limit) {
            device.loop().execute(this::onLimit);
            return;
        }
        try (Arena call = Arena.ofConfined()) {
            MemorySegment attributes = call.allocate(VerbsLayout.SRQ_ATTR_LENGTH, Long.BYTES);
            attributes.set(INT, VerbsLayout.SRQ_LIMIT, limit);
            int ignored = VerbsCalls.modifySrq(srq, attributes, VerbsLayout.SRQ_MASK_LIMIT);
        }
    }

    /** Calls the limit listener once. Runs on the loop. */
    void onLimit() {
        Runnable told;
        synchronized (this) {
            told = limitListener;
            limitListener = null;
        }
        if (told != null) {
            Listeners.tell(told);
        }
    }

    void retain() {
        users.incrementAndGet();
        lifetime.retain();
    }

    /** Ends the use by an application's queue pair. The device may still use this queue for that queue pair. */
    void release() {
        users.decrementAndGet();
    }

    @Override
    public void close() {
        synchronized (this) {
            if (users.get() > 0) {
                throw new IllegalStateException("queue pairs use this shared receive queue; close them first");
            }
            if (closed) {
                return;
            }
            closed = true;
            limitListener = null;
        }
        domain.facade().releaseSharedReceiveQueue();
        lifetime.close();
    }

    private void destroy() {
        device.onClosed(this);
        int ignored = VerbsCalls.destroySrq(srq);
        domain.lifetime().release();
        arena.close();
    }
}
