// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.peer;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.unix.Socket;
import io.sidewarp.bench.end.ActiveEnd;
import io.sidewarp.bench.end.DutyOutcome;
import io.sidewarp.bench.end.TransferPlan;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * Active end of the benchmark that measures the limit of an engine. Sends over a {@link BareSocket}, without an engine;
 * with TLS over a {@link BareTls}.
 */
public final class LimitActiveEnd implements ActiveEnd {

    private final BareStream socket;

    public LimitActiveEnd(TransferPlan plan, InetSocketAddress peer) throws IOException {
        Epoll.ensureAvailability();
        Socket bare = Socket.newSocketStream();
        boolean connected = bare.connect(peer);
        while (!connected) {
            Thread.onSpinWait();
            connected = bare.finishConnect();
        }
        socket = plan.hasTls() ? BareTls.active(bare, plan, peer) : new BareSocket(bare, plan);
    }

    @Override
    public DutyOutcome run(long nanos) throws IOException {
        long begin = System.nanoTime();
        long messages = socket.send(nanos);
        return DutyOutcome.stream(System.nanoTime() - begin, messages);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
