// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

import io.sidewarp.bench.end.DutyOutcome;

/** Passive end of a ping-pong: answers each message. */
record Echo(Exchange exchange) implements Duty {

    @Override
    public boolean poll() {
        if (!exchange.receive()) {
            return false;
        }
        exchange.send();
        return true;
    }

    @Override
    public boolean isDone() {
        return false;
    }

    @Override
    public boolean followsCompletions() {
        return exchange.followsCompletions();
    }

    @Override
    public DutyOutcome outcome() {
        throw new UnsupportedOperationException("the active end keeps the time");
    }
}
