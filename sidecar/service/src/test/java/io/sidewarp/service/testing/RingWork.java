// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.testing;

import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WorkRequest;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;

/** Rings as a queue of work. Its own thread takes the completions, and posts work that had no room before. */
public final class RingWork implements PostedWork {

    private static final long PAUSE_NANOS = 50_000;

    private final TestRings rings;
    private final ArrayDeque<WorkRequest> waiting = new ArrayDeque<>();
    private final BlockingQueue<WorkCompletion> completions = new LinkedBlockingQueue<>();
    private final Thread thread = new Thread(this::run, "ring work");
    private volatile boolean closed;

    /** @param entries of the completion ring, and blocks of the others */
    public RingWork(TestSidecar sidecar, TestSession session, int entries) {
        rings = new TestRings(sidecar, session, entries);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public synchronized void post(List<WorkRequest> work) {
        waiting.addAll(work);
        publish();
    }

    private void publish() {
        boolean published = false;
        for (WorkRequest next = waiting.peek(); next != null && rings.hasRoom(next); next = waiting.peek()) {
            rings.publish(next);
            waiting.remove();
            published = true;
        }
        if (published) {
            rings.wakeSidecar();
        }
    }

    private void run() {
        while (!closed) {
            if (!take()) {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    private synchronized boolean take() {
        boolean taken = false;
        while (!closed && !rings.isEmpty()) {
            completions.add(rings.next());
            taken = true;
        }
        publish();
        return taken;
    }

    @Override
    public WorkCompletion next() {
        return TestSession.take(completions);
    }

    @Override
    public boolean isEmpty() {
        return completions.isEmpty();
    }

    @Override
    public void close() {
        closed = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        rings.close();
    }
}
