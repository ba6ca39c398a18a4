// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

/** Sends one message there, and waits for one Send back. */
final class SendPingPong extends PingPong {

    private final Messages messages;

    SendPingPong(EngineEnd end, Link link, long nanos) {
        super(nanos, 2);
        messages = new Messages(end, link);
    }

    @Override
    void send() {
        messages.send();
    }

    @Override
    boolean receive() {
        return messages.take();
    }

    @Override
    public boolean followsCompletions() {
        return true;
    }
}
