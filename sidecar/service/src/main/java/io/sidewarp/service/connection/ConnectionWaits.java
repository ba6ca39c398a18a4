// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.connection;

import io.netty.channel.EventLoop;
import io.sidewarp.service.transfer.ConnectionWork;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Reports posted work that waits for the peer's first message. Before that message MPA lets the accepting side send
 * nothing (RFC 5044 section 7.1.2). Reports once, after the wait has lasted for half a second. Confined to the
 * session's thread.
 */
final class ConnectionWaits {

    private static final long DELAY_MILLIS = 500;

    private static final String PEER =
            "posted work waits for the peer: MPA lets the accepting side send only after the peer's first message; have"
                    + " the connecting side send first, or connect with mpa.peer_to_peer";

    private final EventLoop loop;
    private final ConnectionWork work;
    private final Consumer<String> listener;
    private boolean scheduled;
    private boolean peerTold;

    /** @param listener takes a text for people that describes the wait */
    ConnectionWaits(EventLoop loop, ConnectionWork work, Consumer<String> listener) {
        this.loop = loop;
        this.work = work;
        this.listener = listener;
        work.forbidSending(this::begin);
    }

    /** Ends the wait: the peer's first message has arrived, or none is needed. */
    void permitSending() {
        work.permitSending();
        if (peerTold && !work.isEnded()) {
            peerTold = false;
            listener.accept("the peer's first message has come");
        }
    }

    /** Returns whether posted work is known to wait for the peer's first message. */
    boolean isForPeer() {
        return peerTold;
    }

    /** Returns a text for people that names the wait and the remedy; empty if nothing waits. */
    String description() {
        return peerTold ? PEER : "";
    }

    private void begin() {
        if (!scheduled && !peerTold) {
            scheduled = true;
            loop.schedule(this::look, DELAY_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    private void look() {
        scheduled = false;
        if (work.isEnded()) {
            return;
        }
        if (!peerTold && work.isSendForbidden()) {
            peerTold = true;
            listener.accept(PEER);
        }
    }
}
