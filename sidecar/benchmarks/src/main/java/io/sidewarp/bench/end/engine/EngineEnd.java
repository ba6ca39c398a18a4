// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.sidewarp.bench.end.EndIdentity;
import io.sidewarp.bench.end.Layout;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.TransferPlan.Mode;
import io.sidewarp.bench.end.TransferPlan.Operation;
import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.ManagedBacking;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.memory.RegionAttributes;
import io.sidewarp.engine.net.EngineLoops;
import io.sidewarp.engine.verbs.CompletionQueue;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.CrcPolicy;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.QueuePair;
import io.sidewarp.engine.verbs.QueuePairAttributes;
import io.sidewarp.engine.verbs.SecurityPolicy;
import io.sidewarp.engine.verbs.TlsUse;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.provider.software.SoftwareProvider;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Objects that both ends have for a plan: device, event loop, region, completion queue. */
final class EngineEnd implements AutoCloseable {

    /** Number of Receives of a ping-pong, so that one is available while another is posted again. */
    static final int RECEIVES = 4;

    /** Number of work requests beyond those of messages, for the Reads that end a run. */
    private static final int SPARE_WORK = 16;

    private static final long SHUTDOWN_SECONDS = 5;

    private final TransferPlan plan;
    private final Layout layout;
    private final EventLoopGroup loops;
    private final SoftwareProvider provider;
    private final Device device;
    private final Pd domain;
    private final ManagedBacking backing;
    private final MemoryRegion region;
    private final CompletionQueue completions;

    EngineEnd(TransferPlan plan) {
        this.plan = plan;
        layout = new Layout(plan);
        loops = EngineLoops.newGroup(1, plan.waiting().busyPoll());
        provider = SoftwareProvider.builder()
                .eventLoopGroup(loops)
                .identity(() -> plan.hasTls() ? Optional.of(EndIdentity.of(plan.identity())) : Optional.empty())
                .build();
        device = provider.open();
        domain = device.allocateProtectionDomain();
        backing = ManagedBacking.allocate(layout.length());
        region = device.registerMemory(
                domain,
                backing,
                new RegionAttributes(
                        EnumSet.of(AccessRight.LOCAL_WRITE, AccessRight.REMOTE_READ, AccessRight.REMOTE_WRITE), 0),
                0);
        completions = device.createCompletionQueue(plan.connections() * (2 * plan.depth() + SPARE_WORK));
    }

    TransferPlan plan() {
        return plan;
    }

    Layout layout() {
        return layout;
    }

    EventLoop loop() {
        return (EventLoop) loops.iterator().next();
    }

    Device device() {
        return device;
    }

    MemoryRegion region() {
        return region;
    }

    MemorySegment memory() {
        return backing.segment();
    }

    CompletionQueue completions() {
        return completions;
    }

    /** A queue pair with the receives that the plan takes. */
    QueuePair createQueuePair() {
        QueuePair queuePair = device.createQueuePair(
                new QueuePairAttributes(domain, completions, completions, 2 * plan.depth() + SPARE_WORK, RECEIVES));
        if (plan.operation() == Operation.SEND && plan.mode() == Mode.PING_PONG) {
            Wr receive = new Wr();
            for (int i = 0; i < RECEIVES; i++) {
                require(queuePair.postReceive(
                        receive.reset(i, WrOpcode.RECEIVE).addSge(region, layout.slot(0, 0), plan.size())));
            }
        }
        return queuePair;
    }

    /** A queue pair of a connection that does nothing. */
    QueuePair createIdleQueuePair() {
        return device.createQueuePair(new QueuePairAttributes(domain, completions, completions, SPARE_WORK, RECEIVES));
    }

    /** Parameters of the plan's connections, which tell the peer of this end's memory. */
    ConnectionParameters parameters(int connection) {
        int reads = Math.min(plan.depth(), device.attributes().maxOrd());
        return ConnectionParameters.defaults()
                .withSecurity(security())
                .withReadDepth(reads, reads)
                .withMpa(mpa -> mpa.withCrc(plan.crc() || plan.hasTls() ? CrcPolicy.PREFERRED : CrcPolicy.REFUSED)
                        .withReceiveMarkers(plan.markers()))
                .withPrivateData(PeerMemory.of(connection, region).encode());
    }

    /** Policy of both ends. A plan with TLS and without CRCs lets TLS replace them. */
    SecurityPolicy security() {
        return plan.hasTls()
                ? SecurityPolicy.of(TlsUse.REQUIRED).withTlsReplacesCrc(!plan.crc())
                : SecurityPolicy.PLAIN;
    }

    /** @throws IllegalStateException when work was not accepted */
    static void require(PostResult result) {
        if (result != PostResult.POSTED) {
            throw new IllegalStateException("a work request was refused: " + result);
        }
    }

    @Override
    public void close() {
        device.close();
        provider.close();
        loops.shutdownGracefully(0, 0, TimeUnit.SECONDS).awaitUninterruptibly(SHUTDOWN_SECONDS, TimeUnit.SECONDS);
    }
}
