// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How a TCP connection ends in order: a FIN behind the last output, then the peer's. Once the peer has acknowledged the FIN,
 * its own is waited for until it has been silent for a while, or, where nothing that it sends is wanted any more, for no
 * longer than that in all. Until then it is to acknowledge something from time to time. Belongs to one event loop.
 */
final class TcpClosing {

    /** How often it is looked whether the FIN is acknowledged, in the time of patience: no event tells. */
    private static final int LOOKS = 8;

    private final SocketChannel channel;
    private final Duration patience;
    private final Runnable onImpatience;
    private final StallWatch unacknowledged;
    private final Runnable check = this::check;

    private boolean finWanted;
    private boolean inputUnwanted;
    private boolean outputShut;
    private boolean outputAcknowledged;
    private boolean inputShut;
    private @Nullable ScheduledFuture<?> scheduled;
    private long lastInputNanos;

    /**
     * @param settings how long the peer's FIN is waited for, and an acknowledgement
     * @param onImpatience runs when the peer's FIN did not come
     * @param onStall runs when the peer acknowledges no more of the output
     */
    TcpClosing(SocketChannel channel, NetSettings settings, Runnable onImpatience, Runnable onStall) {
        this.channel = channel;
        this.patience = settings.lingerTimeout();
        this.onImpatience = onImpatience;
        this.unacknowledged = new StallWatch(
                channel.eventLoop(), settings.stallTimeout(), () -> LastOutput.acknowledged(channel), onStall);
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
        boolean finDue = finWanted && !outputShut && outputDone;
        if (finDue) {
            outputShut = true;
            channel.shutdownOutput();
        }
        if (isComplete()) {
            // The kernel goes on with what it has.
            channel.close();
        } else if (finDue) {
            unacknowledged.begin();
            look();
        }
    }

    /** The peer's time begins when it has acknowledged the FIN. */
    private void look() {
        outputAcknowledged = LastOutput.acknowledged(channel) == StallWatch.NOT_WAITING;
        lastInputNanos = System.nanoTime();
        schedule(outputAcknowledged ? patience.toNanos() : patience.toNanos() / LOOKS);
    }

    private void schedule(long nanos) {
        if (scheduled == null && channel.isOpen()) {
            scheduled = channel.eventLoop().schedule(check, nanos, TimeUnit.NANOSECONDS);
        }
    }

    /** The connection is gone. Without this the loop would keep it until the time is over. */
    void end() {
        unacknowledged.end();
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
        if (!outputAcknowledged) {
            look();
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
