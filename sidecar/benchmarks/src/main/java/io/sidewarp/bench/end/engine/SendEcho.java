// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

/** Answers each Send by a Send. */
final class SendEcho implements Duty {

    private final Messages messages;

    SendEcho(EngineEnd end, Link link) {
        messages = new Messages(end, link);
    }

    @Override
    public boolean poll() {
        if (!messages.take()) {
            return false;
        }
        messages.send();
        return true;
    }

    @Override
    public boolean isDone() {
        return false;
    }

    @Override
    public boolean followsCompletions() {
        return true;
    }
}
