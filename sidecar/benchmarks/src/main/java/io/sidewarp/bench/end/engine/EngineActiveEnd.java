// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

import io.sidewarp.bench.end.ActiveEnd;
import io.sidewarp.bench.end.DutyOutcome;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.TransferPlan.Mode;
import io.sidewarp.engine.verbs.QueuePair;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Connects to the passive end, and posts work. */
public final class EngineActiveEnd implements ActiveEnd {

    private static final long PATIENCE_SECONDS = 60;

    /** Idle connections that are set up at the same time. */
    private static final int CONNECTING = 64;

    /** The same with TLS. The Java library keeps ten tickets of a peer, and each connection takes one. */
    private static final int CONNECTING_BY_TLS = 8;

    private final EngineEnd end;
    private final List<Link> links = new ArrayList<>();

    public EngineActiveEnd(TransferPlan plan, InetSocketAddress peer) throws Exception {
        end = new EngineEnd(plan);
        for (int i = 0; i < plan.connections(); i++) {
            QueuePair queuePair = end.createQueuePair();
            byte[] reply = queuePair
                    .connect(peer, end.parameters(i))
                    .get(PATIENCE_SECONDS, TimeUnit.SECONDS)
                    .privateData();
            links.add(new Link(end, queuePair, PeerMemory.decode(reply)));
        }
        List<CompletableFuture<?>> underWay = new ArrayList<>();
        for (int i = 0; i < plan.idle(); i++) {
            underWay.add(end.createIdleQueuePair().connect(peer, end.parameters(plan.connections() + i)));
            if (underWay.size() == (plan.hasTls() ? CONNECTING_BY_TLS : CONNECTING)) {
                await(underWay);
            }
        }
        await(underWay);
    }

    private static void await(List<CompletableFuture<?>> underWay) throws Exception {
        CompletableFuture.allOf(underWay.toArray(CompletableFuture[]::new)).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        underWay.clear();
    }

    @Override
    public DutyOutcome run(long nanos) throws Exception {
        Duty duty = end.plan().mode() == Mode.STREAM
                ? new StreamDuty(end, links, nanos)
                : new PingPong(Exchange.of(end, links.getFirst()), nanos);
        DutyRunner.start(duty, end.plan().waiting(), end.loop(), end.completions())
                .finished()
                .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        return duty.outcome();
    }

    @Override
    public void close() {
        end.close();
    }
}
