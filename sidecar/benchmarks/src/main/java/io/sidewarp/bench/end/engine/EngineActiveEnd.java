// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

import io.sidewarp.bench.end.ActiveEnd;
import io.sidewarp.bench.end.DutyOutcome;
import io.sidewarp.bench.end.Mode;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.engine.verbs.QueuePair;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Connects to the passive end, and posts work. */
public final class EngineActiveEnd implements ActiveEnd {

    private static final long PATIENCE_SECONDS = 60;

    /** Idle connections that are set up at the same time. */
    private static final int CONNECTING = 64;

    private final InetAddress peer;
    private @Nullable EngineEnd end;
    private final List<Link> links = new ArrayList<>();

    /** @param peer address of the passive end */
    public EngineActiveEnd(InetAddress peer) {
        this.peer = peer;
    }

    @Override
    public void connect(TransferPlan plan, int port) throws Exception {
        EngineEnd opened = new EngineEnd(plan);
        end = opened;
        InetSocketAddress address = new InetSocketAddress(peer, port);
        for (int i = 0; i < plan.connections(); i++) {
            QueuePair queuePair = opened.createQueuePair();
            byte[] reply = queuePair
                    .connect(address, opened.parameters(i))
                    .get(PATIENCE_SECONDS, TimeUnit.SECONDS)
                    .privateData();
            links.add(new Link(queuePair, PeerMemory.decode(reply)));
        }
        connectIdle(opened, address);
    }

    private static void connectIdle(EngineEnd end, InetSocketAddress address) throws Exception {
        int first = end.plan().connections();
        List<CompletableFuture<?>> underWay = new ArrayList<>();
        for (int i = 0; i < end.plan().idle(); i++) {
            underWay.add(end.createIdleQueuePair().connect(address, end.parameters(first + i)));
            if (underWay.size() == CONNECTING) {
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
        EngineEnd current = end;
        if (current == null) {
            throw new IllegalStateException("not connected");
        }
        if (current.plan().mode() == Mode.STREAM) {
            StreamDuty duty = new StreamDuty(current, links, nanos);
            return carryOut(current, duty, duty::outcome);
        }
        PingPong duty = switch (current.plan().operation()) {
            case WRITE -> new WritePingPong(current, links.getFirst(), nanos);
            case READ -> new ReadPingPong(current, links.getFirst(), nanos);
            case SEND -> new SendPingPong(current, links.getFirst(), nanos);
        };
        return carryOut(current, duty, duty::outcome);
    }

    private static DutyOutcome carryOut(EngineEnd end, Duty duty, Supplier<DutyOutcome> outcome) throws Exception {
        DutyRunner.start(duty, end.plan().waiting(), end.loop(), end.completions())
                .finished()
                .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        return outcome.get();
    }

    @Override
    public void close() {
        links.clear();
        if (end != null) {
            end.close();
            end = null;
        }
    }
}
