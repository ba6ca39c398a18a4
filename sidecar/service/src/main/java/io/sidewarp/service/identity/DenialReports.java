// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.identity;

import com.google.gson.JsonObject;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Tells the controller how many peers were denied, so that the owner of the pod gets an event. The first denial is told
 * after a second, and further ones together, once an interval. A report that fails is repeated with the next one.
 */
final class DenialReports {

    private static final int MAX_MESSAGE = 700;
    private static final long FIRST_MILLIS = 1000;

    /** Sends one report, and returns whether the controller took it. Runs on the thread of the identity. */
    interface Sender {
        boolean send(String report) throws InterruptedException;
    }

    private final ScheduledExecutorService thread;
    private final long intervalMillis;
    private final Sender sender;
    private long count;
    private String last = "";
    private boolean scheduled;

    DenialReports(ScheduledExecutorService thread, long intervalMillis, Sender sender) {
        this.thread = thread;
        this.intervalMillis = intervalMillis;
        this.sender = sender;
    }

    /** Adds a denial. Thread-safe, and does not block. */
    synchronized void add(String message) {
        count++;
        last = message.length() > MAX_MESSAGE ? message.substring(0, MAX_MESSAGE) : message;
        if (!scheduled) {
            scheduled = schedule(FIRST_MILLIS);
        }
    }

    private boolean schedule(long millis) {
        try {
            thread.schedule(this::report, millis, TimeUnit.MILLISECONDS);
            return true;
        } catch (RejectedExecutionException e) {
            // Closed meanwhile.
            return false;
        }
    }

    private void report() {
        long told;
        JsonObject report = new JsonObject();
        synchronized (this) {
            if (count == 0) {
                scheduled = false;
                return;
            }
            told = count;
            report.addProperty("count", told);
            report.addProperty("last", last);
        }
        try {
            if (sender.send(report.toString())) {
                taken(told);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        schedule(intervalMillis);
    }

    private synchronized void taken(long told) {
        count -= told;
    }
}
