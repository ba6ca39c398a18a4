// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import static io.sidewarp.engine.memory.AccessRight.REMOTE_INVALIDATE;
import static io.sidewarp.engine.memory.AccessRight.REMOTE_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.sidewarp.conformance.Requirement;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class MemoryManagerTest {

    private static final RegionAttributes WRITABLE = new RegionAttributes(Set.of(REMOTE_WRITE), 0);

    private final Pd domain = new Pd(1);
    private final List<CompletableFuture<Void>> quiescence = new ArrayList<>();
    private final MemoryManager manager = new MemoryManager(new StagTable(2), () -> {
        CompletableFuture<Void> future = new CompletableFuture<>();
        quiescence.add(future);
        return future;
    });

    @TempDir
    private Path directory;

    @Test
    @Requirement({"RDMAP-3.2-05", "RDMAP-8.1.1-04", "DDP-8.3-01"})
    void aRegionIsReachableByItsStagUntilItIsDeregistered() {
        MemoryRegion region = register(ManagedBacking.allocate(8));
        assertThat(manager.stags().lookup(region.stag())).isSameAs(region);
        assertThat(domain.regions()).isEqualTo(1);
        assertThat(manager.regions()).containsExactly(region);

        CompletableFuture<Void> released = manager.deregister(region);

        assertThat(manager.stags().lookup(region.stag())).isNull();
        assertThat(region.isValid()).isFalse();
        quiescence.getFirst().complete(null);
        released.join();
        assertThat(domain.regions()).isZero();
        assertThat(manager.regions()).isEmpty();
    }

    @Test
    @Requirement("RDMAP-8.1.1-06")
    void deregistrationWaitsForWorkInProgressAndKeepsTheMemoryForIt() throws RegionFault {
        MemoryRegion region = register(ManagedBacking.allocate(8));

        CompletableFuture<Void> released = manager.deregister(region);

        assertThat(released).isNotDone();
        assertThat(domain.regions()).isEqualTo(1);
        region.place(0, WireBuffer.allocate(8), 0, 8);
        quiescence.getFirst().complete(null);
        released.join();
        assertThatExceptionOfType(RegionFault.class).isThrownBy(() -> region.place(0, WireBuffer.allocate(8), 0, 8));
    }

    @Test
    @Requirement("RDMAP-8.1.1-06")
    void nothingIsPlacedOnceDeregistrationIsComplete() throws Exception {
        Path file = directory.resolve("region");
        Files.write(file, new byte[1 << 16]);
        try (ExecutorService loop = Executors.newSingleThreadExecutor()) {
            MemoryManager running =
                    new MemoryManager(new StagTable(1), () -> CompletableFuture.runAsync(() -> {}, loop));
            MemoryRegion region =
                    running.register(domain, TestVolume.open(volume(), "region", 0, 0, false), WRITABLE, 0);
            int stag = region.stag();
            Stream stream = new Stream(running.stags(), loop, domain, stag);
            stream.start();
            stream.placing.await();

            running.deregister(region).join();
            byte[] atCompletion = Files.readAllBytes(file);
            stream.stop().get(30, TimeUnit.SECONDS);

            assertThat(Arrays.mismatch(Files.readAllBytes(file), atCompletion)).isEqualTo(-1);
            assertThat(atCompletion[0]).isPositive();
            assertThat(stream.refused).isPositive();
        }
    }

    /** Places changing bytes, one piece per task, as an event loop does with the segments of a stream. */
    private static final class Stream {
        private final StagTable stags;
        private final ExecutorService loop;
        private final Pd domain;
        private final int stag;
        private final WireBuffer payload = WireBuffer.allocate(1 << 12);
        private final CountDownLatch placing = new CountDownLatch(100);
        private final CompletableFuture<Void> stopped = new CompletableFuture<>();
        private long placed;
        private long refused;

        Stream(StagTable stags, ExecutorService loop, Pd domain, int stag) {
            this.stags = stags;
            this.loop = loop;
            this.domain = domain;
            this.stag = stag;
        }

        void start() {
            loop.execute(this::segment);
        }

        private void segment() {
            for (int i = 0; i < payload.capacity(); i += 8) {
                payload.putLong(i, 0x0101010101010101L * (1 + placed % 100));
            }
            MemoryRegion region = stags.lookup(stag);
            if (TaggedAccess.check(region, new RegionUser(domain, 1), REMOTE_WRITE.bit(), 0, payload.capacity())
                    == AccessCheck.OK) {
                try {
                    for (int part = 0; part < 16; part++) {
                        region.place(part * 4096L, payload, 0, payload.capacity());
                    }
                } catch (RegionFault e) {
                    stopped.completeExceptionally(e);
                    return;
                }
                placed++;
                placing.countDown();
            } else if (++refused == 100) {
                stopped.complete(null);
                return;
            }
            loop.execute(this::segment);
        }

        Future<Void> stop() {
            return stopped;
        }
    }

    @Test
    void deregistrationIsIdempotent() {
        MemoryRegion region = register(ManagedBacking.allocate(8));

        CompletableFuture<Void> first = manager.deregister(region);
        CompletableFuture<Void> second = manager.deregister(region);
        assertThat(quiescence).hasSize(1);
        assertThat(second).isNotDone();
        quiescence.getFirst().complete(null);

        first.join();
        second.join();
        manager.deregister(region).join();
        assertThat(domain.regions()).isZero();
    }

    @Test
    void aCallerCannotCompleteTheDeregistrationOfOthers() {
        MemoryRegion region = register(ManagedBacking.allocate(8));

        manager.deregister(region).complete(null);

        assertThat(manager.deregister(region)).isNotDone();
    }

    @Test
    void memoryStaysWhenNobodyKnowsWhetherWorkIsOver() throws RegionFault {
        MemoryRegion region = register(ManagedBacking.allocate(8));

        CompletableFuture<Void> released = manager.deregister(region);
        quiescence.getFirst().completeExceptionally(new IllegalStateException("loops are gone"));

        assertThat(released)
                .failsWithin(30, TimeUnit.SECONDS)
                .withThrowableOfType(ExecutionException.class)
                .withMessageContaining("loops are gone");
        region.fetch(0, WireBuffer.allocate(8), 0, 8);
        region.backing().close();
    }

    @Test
    void aCreatedFileGoesAwayWithItsRegion() {
        MemoryRegion region = register(TestVolume.open(volume(), "made", 0, 10, true));
        assertThat(directory.resolve("made")).exists();

        CompletableFuture<Void> released = manager.deregister(region);
        assertThat(directory.resolve("made")).exists();
        quiescence.getFirst().complete(null);
        released.join();

        assertThat(directory.resolve("made")).doesNotExist();
    }

    @Test
    @Requirement("RDMAP-8.1.1-07")
    void remoteInvalidationIsRefusedForARegionThatStreamsShare() {
        ManagedBacking memory = ManagedBacking.allocate(8);
        RegionAttributes attributes = new RegionAttributes(Set.of(REMOTE_INVALIDATE), 0);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> manager.register(domain, memory, attributes, 0))
                .withMessageContaining("remote invalidation");
        assertThat(domain.regions()).isZero();

        assertThat(manager.register(domain, memory, attributes, 5).queuePair()).isEqualTo(5);
    }

    @Test
    void aRegionMayEndAtTwoToThe64ButNotBeyond() {
        ManagedBacking memory = ManagedBacking.allocate(8);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> manager.register(domain, memory, new RegionAttributes(Set.of(), -7), 0))
                .withMessageContaining("18446744073709551609 plus length 8 exceeds 2^64");

        assertThat(manager.register(domain, memory, new RegionAttributes(Set.of(), -8), 0)
                        .isValid())
                .isTrue();
    }

    @Test
    void aRefusedRegistrationDoesNotCountInTheDomain() {
        register(ManagedBacking.allocate(1));
        register(ManagedBacking.allocate(1));

        assertThatExceptionOfType(RegionException.class).isThrownBy(() -> register(ManagedBacking.allocate(1)));
        assertThat(domain.regions()).isEqualTo(2);
    }

    @Test
    void aDeallocatedDomainTakesNoRegions() {
        domain.deallocate();

        assertThatIllegalStateException().isThrownBy(() -> register(ManagedBacking.allocate(1)));
        assertThat(manager.regions()).isEmpty();
    }

    @Test
    void aLateFaultIsPinnedOnTheRegionWhoseFileWasTruncated() throws Exception {
        MemoryRegion sound = register(TestVolume.open(volume(), "sound", 0, 100_000, true));
        MemoryRegion broken = register(TestVolume.open(volume(), "broken", 0, 100_000, true));
        List<MemoryRegion> told = new ArrayList<>();
        broken.setFaultListener(told::add);
        assertThat(manager.onLateFault()).isEmpty();

        try (RandomAccessFile file =
                new RandomAccessFile(directory.resolve("broken").toFile(), "rw")) {
            file.setLength(99_999);
        }

        assertThat(broken.verifyBacking()).isFalse();
        assertThat(manager.onLateFault()).containsExactly(broken);
        assertThat(manager.onLateFault()).isEmpty();
        assertThat(told).containsExactly(broken);
        assertThat(broken.state()).isEqualTo(RegionState.FAULTED);
        assertThat(sound.isValid()).isTrue();
    }

    @Test
    void aFaultedRegionCanBeDeregistered() {
        MemoryRegion region = register(ManagedBacking.allocate(8));
        region.markFaulted();

        CompletableFuture<Void> released = manager.deregister(region);
        quiescence.getFirst().complete(null);
        released.join();

        assertThat(region.state()).isEqualTo(RegionState.DEREGISTERED);
    }

    private MemoryRegion register(RegionBacking backing) {
        return manager.register(domain, backing, WRITABLE, 0);
    }

    private SharedVolume volume() {
        return new SharedVolume(directory);
    }
}
