// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.ManagedBacking;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.memory.RegionAttributes;
import io.sidewarp.engine.verbs.CompletionQueue;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.QueuePair;
import io.sidewarp.engine.verbs.QueuePairAttributes;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.Srq;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** One side of a connection in tests: a queue pair with its completion queue and a region. */
public final class Endpoint {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    public final Device device;
    public final Pd domain;
    public final CompletionQueue completions;
    public final QueuePair queuePair;
    public final MemoryRegion region;
    private final Wr request = new Wr();

    public Endpoint(Device device, long regionLength) {
        this(device, regionLength, 1024);
    }

    /** @param completionEntries of its completion queue */
    public Endpoint(Device device, long regionLength, int completionEntries) {
        this(device, regionLength, completionEntries, device.allocateProtectionDomain(), null);
    }

    /** @param shared receives that it takes instead of its own, null for its own */
    public Endpoint(Device device, long regionLength, int completionEntries, Pd domain, @Nullable Srq shared) {
        this.device = device;
        this.domain = domain;
        completions = device.createCompletionQueue(completionEntries);
        queuePair = device.createQueuePair(new QueuePairAttributes(domain, completions, completions, 256, 256, shared));
        EnumSet<AccessRight> access =
                EnumSet.of(AccessRight.LOCAL_WRITE, AccessRight.REMOTE_READ, AccessRight.REMOTE_WRITE);
        region = device.registerMemory(
                domain, ManagedBacking.allocate(regionLength), new RegionAttributes(access, 0), 0);
    }

    /** Fills the region with octets that a seed determines. */
    public void fill(long seed) {
        byte[] octets = new byte[(int) region.length()];
        new Random(seed).nextBytes(octets);
        region.segment().asByteBuffer().put(octets);
    }

    public byte[] octets(long offset, int length) {
        byte[] octets = new byte[length];
        region.segment().asSlice(offset, length).asByteBuffer().get(octets);
        return octets;
    }

    public void postSend(Wr work) {
        assertThat(queuePair.postSend(work)).isEqualTo(PostResult.POSTED);
    }

    public void postReceive(long id, long offset, long length) {
        request.reset(id, WrOpcode.RECEIVE).addSge(region, offset, length);
        assertThat(queuePair.postReceive(request)).isEqualTo(PostResult.POSTED);
    }

    /** The next completion, awaited. */
    public Cqe awaitCompletion() {
        Cqe[] one = {new Cqe()};
        Awaitility.await().atMost(PATIENCE).pollInterval(Duration.ofMillis(1)).until(() -> completions.poll(one) == 1);
        return one[0];
    }

    public void awaitState(QueuePairState state) {
        Awaitility.await().atMost(PATIENCE).until(() -> queuePair.state() == state);
    }

    public void disconnect() throws Exception {
        queuePair.disconnect().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
}
