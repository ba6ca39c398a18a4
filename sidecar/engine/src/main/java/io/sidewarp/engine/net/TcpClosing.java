// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How a TCP connection ends in order: a FIN behind the last output, then the peer's. That is waited for until the peer has
 * been silent for a while, or, where nothing that it sends is wanted any more, for no longer than that in all. Belongs to
 * one event loop.
 */
final class TcpClosing {

    private final SocketChannel channel;
    private final Duration patience;
    private final Runnable onImpatience;
    private final Runnable check = this::check;

    private boolean finWanted;
    private boolean inputUnwanted;
    private boolean outputShut;
    private boolean inputShut;
    private @Nullable ScheduledFuture<?> scheduled;
    private long lastInputNanos;

    /**
     * @param patience how long the peer's FIN is waited for
     * @param onImpatience runs when it did not come
     */
    TcpClosing(SocketChannel channel, Duration patience, Runnable onImpatience) {
        this.channel = channel;
        this.patience = patience;
        this.onImpatience = onImpatience;
    }

    /** The peer sent something. */
    void onInput(long nanoTime) {
        lastInputNanos = nanoTime;
    }

    /**
     * The peer's FIN is here.
     *
     * @return whether this is news
     */
    boolean onInputShut() {
        boolean news = !inputShut;
        inputShut = true;
        return news;
    }

    /** There is to be a FIN. */
    void wantFin() {
        finWanted = true;
    }

    /** Nothing that the peer still sends is wanted. */
    void refuseInput() {
        inputUnwanted = true;
    }

    boolean isOutputShut() {
        return outputShut;
    }

    /** Whether both have sent a FIN. */
    boolean isComplete() {
        return outputShut && inputShut;
    }

    /**
     * Goes on as far as it can.
     *
     * @param outputDone whether the socket took all output
     */
    void proceed(boolean outputDone) {
        if (finWanted && !outputShut && outputDone) {
            outputShut = true;
            channel.shutdownOutput();
            lastInputNanos = System.nanoTime();
            schedule(patience.toNanos());
        }
        if (isComplete()) {
            channel.close();
        }
    }

    private void schedule(long nanos) {
        if (scheduled == null && channel.isOpen()) {
            scheduled = channel.eventLoop().schedule(check, nanos, TimeUnit.NANOSECONDS);
        }
    }

    /** The connection is gone. Without this the loop would keep it until the time is over. */
    void end() {
        if (scheduled != null) {
            scheduled.cancel(false);
            scheduled = null;
        }
    }

    private void check() {
        scheduled = null;
        if (!channel.isOpen() || inputShut) {
            return;
        }
        long left = patience.toNanos() - (System.nanoTime() - lastInputNanos);
        if (left > 0 && !inputUnwanted) {
            schedule(left);
        } else {
            onImpatience.run();
        }
    }
}
