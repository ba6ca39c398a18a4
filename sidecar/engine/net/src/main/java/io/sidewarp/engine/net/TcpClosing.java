// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import java.time.Duration;

/**
 * Closes a TCP connection in order: a FIN follows the last output, and then the peer's FIN arrives. Until the peer has
 * acknowledged the FIN, it must acknowledge something from time to time.
 *
 * <p>After that, this side waits for the peer's FIN until the peer has been silent for a while. If no more input is
 * wanted, the total wait is no longer than that time. Belongs to one event loop.
 */
final class TcpClosing {

    /**
     * Number of checks for the acknowledgement of the FIN within the linger time. No event reports this
     * acknowledgement.
     */
    private static final int LOOKS = 8;

    private final SocketChannel channel;
    private final Duration patience;
    private final Runnable onImpatience;
    private final StallWatch unacknowledged;
    private final LoopTimer check;
    private boolean finWanted;
    private boolean inputUnwanted;
    private boolean outputShut;
    private boolean outputAcknowledged;
    private boolean inputShut;
    private long lastInputNanos;

    /**
     * @param settings hold the time to wait for the peer's FIN, and for an acknowledgement
     * @param onImpatience runs when the peer's FIN did not come
     * @param onStall runs when the peer acknowledges no more of the output
     */
    TcpClosing(SocketChannel channel, NetSettings settings, Runnable onImpatience, Runnable onStall) {
        this.channel = channel;
        this.patience = settings.timeouts().linger();
        this.onImpatience = onImpatience;
        this.check = new LoopTimer(channel.eventLoop(), this::check);
        this.unacknowledged = new StallWatch(channel.eventLoop(), settings.stallTimeout(), this::acknowledged, onStall);
    }

    /** Notes that the peer sent something. */
    void onInput(long nanoTime) {
        lastInputNanos = nanoTime;
    }

    /**
     * Notes the peer's FIN.
     *
     * @return whether this is the first time
     */
    boolean onInputShut() {
        boolean news = !inputShut;
        inputShut = true;
        return news;
    }

    /** Requests a FIN after the last output. */
    void wantFin() {
        finWanted = true;
    }

    /** Notes that further input is not wanted. */
    void refuseInput() {
        inputUnwanted = true;
    }

    boolean isOutputShut() {
        return outputShut;
    }

    /** Returns whether both sides have sent a FIN. */
    boolean isComplete() {
        return outputShut && inputShut;
    }

    /**
     * Continues the close as far as possible.
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
            // The kernel sends the rest of its data.
            channel.close();
        } else if (finDue) {
            unacknowledged.begin();
            look();
        }
    }

    /** Checks for the acknowledgement of the FIN. The linger time of the peer begins with this acknowledgement. */
    private void look() {
        outputAcknowledged = acknowledged() == StallWatch.NOT_WAITING;
        lastInputNanos = System.nanoTime();
        schedule(outputAcknowledged ? patience.toNanos() : patience.toNanos() / LOOKS);
    }

    private void schedule(long nanos) {
        if (channel.isOpen()) {
            check.start(nanos);
        }
    }

    /**
     * Returns how many bytes the peer has acknowledged, while it has not acknowledged the FIN. Returns
     * {@link StallWatch#NOT_WAITING} when it has, or where the operating system does not tell. Allocates.
     */
    private long acknowledged() {
        if (!(channel instanceof EpollSocketChannel epoll) || !epoll.isOpen()) {
            return StallWatch.NOT_WAITING;
        }
        TcpInfo info = new TcpInfo(epoll);
        return info.isFinUnacknowledged() ? info.acknowledged() : StallWatch.NOT_WAITING;
    }
    /** Ends the timers with the connection. Otherwise the loop would keep the connection until they expire. */
    void end() {
        unacknowledged.end();
        check.stop();
    }

    private void check() {
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
