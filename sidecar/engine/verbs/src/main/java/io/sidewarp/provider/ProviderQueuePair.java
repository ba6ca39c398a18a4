// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider;

import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.QueuePair;
import io.sidewarp.engine.verbs.QueuePairEventListener;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.StreamError;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Number, state, attributes and listener of a queue pair, which all providers handle in the same way. */
public abstract class ProviderQueuePair implements QueuePair {

    private final long number;
    private final CompletableFuture<Void> closed = new CompletableFuture<>();

    private volatile QueuePairState state = QueuePairState.IDLE;
    // Set before the provider changes the state a moment later (RFC 5041 section 6.2.1).
    private volatile boolean ending;
    private volatile ConnectionAttributes attributes = ConnectionAttributes.UNCONNECTED;
    private volatile QueuePairEventListener events = (queuePair, newState, error, message) -> {};

    protected ProviderQueuePair(long number) {
        this.number = number;
    }

    @Override
    public final long number() {
        return number;
    }

    @Override
    public final QueuePairState state() {
        return state;
    }

    protected final void setState(QueuePairState newState) {
        state = newState;
    }

    @Override
    public ConnectionAttributes attributes() {
        return attributes;
    }

    protected final void setAttributes(ConnectionAttributes agreed) {
        attributes = agreed;
    }

    @Override
    public final void setEventListener(QueuePairEventListener listener) {
        events = listener;
    }

    /** Tells the listener of a new state. */
    protected final void tell(QueuePairState newState, @Nullable StreamError error, String message) {
        Listeners.tell(() -> events.onStateChange(this, newState, error, message));
    }

    /** Returns whether send work may be posted. */
    protected final boolean takesSends() {
        return state == QueuePairState.RTS && !ending;
    }

    /** Returns whether receives may be posted. */
    protected final boolean takesReceives() {
        QueuePairState current = state;
        return current != QueuePairState.TERMINATE && current != QueuePairState.CLOSED;
    }

    /** Begins a set-up. Returns false when the queue pair is not IDLE, or is about to end. */
    protected final synchronized boolean beginSetup() {
        if (state != QueuePairState.IDLE || ending) {
            return false;
        }
        state = QueuePairState.CONNECTING;
        return true;
    }

    /** Returns the failure of a connect after {@link #beginSetup} returned false. */
    protected final IllegalStateException notIdle() {
        return new IllegalStateException("queue pair " + number + " is " + (ending ? "closed" : state) + ", not IDLE");
    }

    /** Prevents a later set-up and further send work, because this side ends the stream. */
    protected final synchronized void beginEnd() {
        ending = true;
    }

    /** Returns a future that completes when the stream is gone. */
    protected final CompletableFuture<Void> closed() {
        return closed.copy();
    }

    /** Completes the futures of {@link #closed}. */
    protected final void completeClosed() {
        closed.complete(null);
    }

    @Override
    public final void close() {
        abort();
    }
}
