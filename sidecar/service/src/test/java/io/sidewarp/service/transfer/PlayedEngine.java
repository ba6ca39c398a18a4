// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.sidewarp.engine.verbs.CompletionQueue;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.QueuePair;
import io.sidewarp.engine.verbs.QueuePairCounters;
import io.sidewarp.engine.verbs.QueuePairEventListener;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.Srq;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A queue pair or shared receive queue with its completion queue. All work succeeds when the test says so. */
final class PlayedEngine implements QueuePair, Srq, CompletionQueue {

    @Override
    public boolean isUnconfirmed() {
        return false;
    }

    /** Work requests that can be outstanding. */
    static final int CAPACITY = 64;

    private final long[] ids = new long[CAPACITY];
    private final WrOpcode[] opcodes = new WrOpcode[CAPACITY];
    private int posted;
    private int polled;
    private long carriedOut;
    private Runnable listener = () -> {};
    /** True if the engine accepts no more work. */
    boolean closing;

    /** Work that was posted so far. */
    long carriedOut() {
        return carriedOut;
    }

    /** Returns whether all completions were taken. */
    boolean isIdle() {
        return posted == 0;
    }

    void complete() {
        listener.run();
    }

    @Override
    public PostResult postSend(Wr request) {
        if (closing) {
            return PostResult.INVALID_STATE;
        }
        ids[posted] = request.id();
        opcodes[posted] = request.opcode();
        posted++;
        carriedOut++;
        return PostResult.POSTED;
    }

    @Override
    public int poll(Cqe[] into) {
        int count = 0;
        while (count < into.length && polled < posted) {
            into[count].set(ids[polled], 1, opcodes[polled], CqeStatus.SUCCESS, 8);
            count++;
            polled++;
        }
        if (polled == posted) {
            posted = 0;
            polled = 0;
        }
        return count;
    }

    @Override
    public void requestNotification(Runnable newListener, boolean solicitedOnly) {
        listener = newListener;
    }

    @Override
    public long number() {
        return 1;
    }

    @Override
    public QueuePairState state() {
        return QueuePairState.RTS;
    }

    @Override
    public PostResult postReceive(Wr request) {
        return postSend(request);
    }

    @Override
    public CompletableFuture<ConnectionAttributes> connect(
            List<InetSocketAddress> remotes, ConnectionParameters parameters) {
        throw new UnsupportedOperationException("connected already");
    }

    @Override
    public ConnectionAttributes attributes() {
        throw new UnsupportedOperationException("not asked for");
    }

    @Override
    public QueuePairCounters counters() {
        throw new UnsupportedOperationException("not asked for");
    }

    @Override
    public void setEventListener(QueuePairEventListener newListener) {}

    @Override
    public CompletableFuture<Void> disconnect() {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletableFuture<Void> abort() {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public int capacity() {
        return CAPACITY;
    }

    @Override
    public int size() {
        return posted - polled;
    }

    @Override
    public void armLimit(int limit, Runnable newListener) {}

    @Override
    public boolean isOverrun() {
        return false;
    }

    @Override
    public void close() {}
}
