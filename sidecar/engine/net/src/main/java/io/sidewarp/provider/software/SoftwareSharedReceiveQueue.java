// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.memory.RegionUser;
import io.sidewarp.engine.rdmap.SharedReceives;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.Srq;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.provider.Listeners;
import io.sidewarp.provider.PostChecks;
import java.util.concurrent.atomic.AtomicInteger;

/** A shared receive queue over the engine. */
final class SoftwareSharedReceiveQueue implements Srq {

    private final Pd domain;
    private final RegionUser user;
    private final SharedReceives receives;
    private final AtomicInteger users = new AtomicInteger();
    private volatile boolean closed;

    SoftwareSharedReceiveQueue(Pd domain, int capacity) {
        this.domain = domain;
        this.user = new RegionUser(domain, 0);
        this.receives = new SharedReceives(capacity);
        domain.retainSharedReceiveQueue();
    }

    Pd domain() {
        return domain;
    }

    SharedReceives receives() {
        return receives;
    }

    @Override
    public PostResult postReceive(Wr request) {
        if (closed) {
            return PostResult.INVALID_STATE;
        }
        PostResult check = PostChecks.checkReceive(request, user);
        if (check != PostResult.POSTED) {
            return check;
        }
        return receives.post(request, (wanted, wqe) -> wqe.set(wanted)) ? PostResult.POSTED : PostResult.QUEUE_FULL;
    }

    @Override
    public int capacity() {
        return receives.capacity();
    }

    @Override
    public int size() {
        return receives.size();
    }

    @Override
    public void armLimit(int limit, Runnable listener) {
        receives.arm(limit, () -> Listeners.tell(listener));
    }

    void retain() {
        users.incrementAndGet();
    }

    void release() {
        users.decrementAndGet();
    }

    @Override
    public synchronized void close() {
        if (users.get() > 0) {
            throw new IllegalStateException("queue pairs use this shared receive queue; close them first");
        }
        if (!closed) {
            closed = true;
            receives.arm(0, () -> {});
            domain.releaseSharedReceiveQueue();
        }
    }
}
