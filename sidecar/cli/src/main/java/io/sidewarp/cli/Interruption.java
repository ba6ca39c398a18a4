// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Ends the command in order when the process is told to stop (SIGINT, SIGTERM). The main thread is interrupted and
 * cleans up as on every failure. The process waits for it up to a time limit.
 */
public final class Interruption {

    private static final long PATIENCE_SECONDS = 20;

    private static final CountDownLatch FINISHED = new CountDownLatch(1);
    private static volatile boolean requested;

    private Interruption() {}

    /** Registers the calling thread to be interrupted when the process is told to stop. */
    static void install() {
        Thread main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(main), "sidewarp-stop"));
    }

    /** Reports that the main thread is done, so that nobody waits for it. */
    static void finished() {
        FINISHED.countDown();
    }

    /** Returns whether the process was told to stop. */
    public static boolean requested() {
        return requested;
    }

    /** @throws Failure when the process was told to stop, or this thread was interrupted */
    public static void check() {
        if (requested || Thread.currentThread().isInterrupted()) {
            throw Failure.interrupted();
        }
    }

    /**
     * Waits for some time.
     *
     * @throws Failure as {@link #check()} does
     */
    public static void sleep(Duration time) {
        check();
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            throw Failure.interrupted();
        }
    }

    private static void stop(Thread main) {
        if (FINISHED.getCount() == 0) {
            return;
        }
        requested = true;
        main.interrupt();
        try {
            if (!FINISHED.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                System.err.println("sidewarp: gave up waiting for an orderly end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
