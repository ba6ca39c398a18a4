// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

import io.sidewarp.bench.end.Mode;
import io.sidewarp.bench.end.PassiveEnd;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.Listener;
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

    private final InetAddress address;
    private @Nullable EngineEnd end;
    private volatile @Nullable DutyRunner runner;

    /** @param address where it listens */
    public EnginePassiveEnd(InetAddress address) {
        this.address = address;
    }

    @Override
    public int listen(TransferPlan plan) throws Exception {
        EngineEnd opened = new EngineEnd(plan);
        end = opened;
        ListenAttributes attributes =
                new ListenAttributes(Llp.TCP, opened.parameters(0).mpa(), BACKLOG, BACKLOG, STARTUP_TIMEOUT);
        Listener listener = opened.device()
                .listen(new InetSocketAddress(address, 0), attributes, request -> accept(opened, request))
                .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        return listener.localAddress().getPort();
    }

    /** Accepts a connection; runs on the event loop. */
    private void accept(EngineEnd opened, ConnectionRequest request) {
        PeerMemory peer = PeerMemory.decode(request.privateData());
        QueuePair queuePair = peer.connection() < opened.plan().connections()
                ? opened.createQueuePair()
                : opened.createIdleQueuePair();
        var accepted = request.accept(queuePair, opened.parameters(peer.connection()));
        if (opened.plan().mode() == Mode.PING_PONG) {
            accepted.thenRun(() -> serve(opened, new Link(queuePair, peer)));
        }
    }

    private void serve(EngineEnd opened, Link link) {
        Duty duty = switch (opened.plan().operation()) {
            case WRITE -> new WriteEcho(opened, link);
            case SEND -> new SendEcho(opened, link);
            case READ -> null;
        };
        if (duty != null) {
            runner = DutyRunner.start(duty, opened.plan().waiting(), opened.loop(), opened.completions());
        }
    }

    @Override
    public void close() throws Exception {
        DutyRunner running = runner;
        if (running != null) {
            running.stop();
            running.finished().exceptionally(ignored -> null).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            runner = null;
        }
        if (end != null) {
            end.close();
            end = null;
        }
    }
}
