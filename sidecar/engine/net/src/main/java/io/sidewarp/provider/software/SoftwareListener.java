// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.verbs.ConnectionRequestHandler;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.VerbsListener;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Limits what strangers can make this side hold: requests that the application has not answered. Belongs to one event
 * loop, which also owns its connections.
 */
public abstract class SoftwareListener implements VerbsListener {

    private final SoftwareDevice device;
    private final EventLoop loop;
    private final ListenAttributes attributes;
    private final ConnectionRequestHandler handler;
    private final Set<IncomingSetup> setups = new HashSet<>();
    private int waiting;

    protected SoftwareListener(
            SoftwareDevice device, EventLoop loop, ListenAttributes attributes, ConnectionRequestHandler handler) {
        this.device = device;
        this.loop = loop;
        this.attributes = attributes;
        this.handler = handler;
    }

    protected final SoftwareDevice device() {
        return device;
    }

    protected final EventLoop loop() {
        return loop;
    }

    protected final ListenAttributes attributes() {
        return attributes;
    }

    /** Requests that wait for an answer. */
    int waiting() {
        return waiting;
    }

    /** Binds and listens. */
    protected abstract CompletableFuture<VerbsListener> listen(InetSocketAddress address);

    /** Takes no more connections. */
    protected abstract CompletableFuture<Void> unbind();

    void onStarting(IncomingSetup setup) {
        setups.add(setup);
    }

    /** Counts a complete request. Returns false when too many requests wait for an answer. */
    boolean onRequest(IncomingSetup setup) {
        if (waiting >= attributes.backlog()) {
            setups.remove(setup);
            device.events().onRefused(setup.remoteAddress(), "connection requests that wait for an answer");
            return false;
        }
        setups.add(setup);
        waiting++;
        return true;
    }

    void deliver(IncomingSetup setup) {
        handler.onConnectionRequest(setup);
    }

    /** Handles a request that was answered or has lapsed. */
    void onAnswered() {
        waiting--;
        setups.removeIf(IncomingSetup::isOver);
    }

    /** Forgets a set-up that ended to give its place to another. */
    void onGivenWay(IncomingSetup setup) {
        setups.remove(setup);
    }

    void onFailedBeforeRequest(InetSocketAddress remote, String message) {
        setups.removeIf(IncomingSetup::isOver);
        device.events().onStartupFailed(remote, message);
    }

    void onDenied(InetSocketAddress remote, SecurityDenial reason, String message) {
        setups.removeIf(IncomingSetup::isOver);
        device.events().onDenied(remote, reason, message);
    }

    @Override
    public CompletableFuture<Void> close() {
        device.onClosed(this);
        return unbind().thenRunAsync(
                        () -> {
                            for (IncomingSetup setup : new ArrayList<>(setups)) {
                                setup.withdraw();
                            }
                            setups.clear();
                        },
                        loop);
    }
}
