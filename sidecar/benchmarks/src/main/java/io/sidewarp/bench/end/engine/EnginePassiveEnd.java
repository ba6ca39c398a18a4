// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

import io.sidewarp.bench.end.PassiveEnd;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.TransferPlan.Mode;
import io.sidewarp.bench.end.TransferPlan.Operation;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.QueuePair;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Accepts connections, and answers messages of a ping-pong. For a stream, the engine does everything. */
public final class EnginePassiveEnd implements PassiveEnd {

    private static final long PATIENCE_SECONDS = 60;
    private static final int BACKLOG = 128;
    private static final Duration STARTUP_TIMEOUT = Duration.ofSeconds(10);

    private final EngineEnd end;
    private final int port;
    private volatile @Nullable DutyRunner runner;

    /** @param address where it listens */
    public EnginePassiveEnd(TransferPlan plan, InetAddress address) throws Exception {
        end = new EngineEnd(plan);
        ListenAttributes attributes = new ListenAttributes(
                        Llp.TCP, end.parameters(0).mpa(), BACKLOG, BACKLOG, STARTUP_TIMEOUT)
                .withSecurity(end.security());
        port = end.device()
                .listen(new InetSocketAddress(address, 0), attributes, this::accept)
                .get(PATIENCE_SECONDS, TimeUnit.SECONDS)
                .localAddress()
                .getPort();
    }

    @Override
    public int port() {
        return port;
    }

    /** Accepts a connection; runs on the event loop. */
    private void accept(ConnectionRequest request) {
        TransferPlan plan = end.plan();
        PeerMemory peer = PeerMemory.decode(request.privateData());
        QueuePair queuePair =
                peer.connection() < plan.connections() ? end.createQueuePair() : end.createIdleQueuePair();
        var accepted = request.accept(queuePair, end.parameters(peer.connection()));
        if (plan.mode() == Mode.PING_PONG && plan.operation() != Operation.READ) {
            accepted.thenRun(() -> runner = DutyRunner.start(
                    new Echo(Exchange.of(end, new Link(end, queuePair, peer))),
                    plan.waiting(),
                    end.loop(),
                    end.completions()));
        }
    }

    @Override
    public void close() throws Exception {
        DutyRunner running = runner;
        if (running != null) {
            running.stop();
            running.finished().exceptionally(ignored -> null).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
        end.close();
    }
}
