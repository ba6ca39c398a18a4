// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.memory;

import static io.sidewarp.service.testing.Works.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.sidewarp.engine.linux.NativeLibrary;
import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.ProcessMemory;
import io.sidewarp.engine.memory.RegionAttributes;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.peer.Peer;
import io.sidewarp.service.session.SidecarSession;
import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.DeregisterRegionRequest;
import io.sidewarp.v1.FlushWork;
import io.sidewarp.v1.ListRegionsRequest;
import io.sidewarp.v1.OpenSessionResponse;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.RegionState;
import io.sidewarp.v1.WorkRequest;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests regions over memory of a process, which is this process. */
class ProcessRegionTest {

    private static final int O_RDWR = 2;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_PRIVATE_ANONYMOUS = 0x22;
    private static final long LENGTH = 4 * 4096;
    private static final long LIMIT = 100_000;

    private final long address =
            NativeLibrary.C.callForPointer("mmap", 0L, LENGTH, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0L);
    private final MemorySegment memory = MemorySegment.ofAddress(address).reinterpret(LENGTH);
    private final ProcessMemory process =
            ProcessMemory.takeOver(NativeLibrary.C.callVariadic("open", 2, "/proc/self/mem", O_RDWR));
    private TestSidecar sidecar;
    private TestSession client;
    private SidecarSession session;

    @BeforeEach
    void start() throws IOException {
        sidecar = TestSidecar.start("sidewarp.limits.registered-octets", Long.toString(LIMIT));
        client = sidecar.session();
        int user = (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        session = sidecar.sidecar().sessions().require(client.token(), new Peer(1, user, user));
    }

    @AfterEach
    void stop() {
        client.close();
        sidecar.close();
        process.close();
    }

    private Region register(long start, long length) {
        RegionPlan plan = new RegionPlan(
                session.memory().defaultDomain(),
                new RegionAttributes(Set.of(AccessRight.REMOTE_WRITE), 0),
                0,
                0,
                new RegionPlan.OfProcess(process, start, length));
        return Waiting.join(CompletableFuture.supplyAsync(
                        () -> session.memory().register(plan, () -> true),
                        session.context().loop())
                .thenCompose(registered -> registered)
                .thenApply(region -> region.toProto("test"))
                .exceptionally(failure -> {
                    throw ApiError.from(failure);
                }));
    }

    private List<Region> list() {
        return client.memory()
                .listRegions(ListRegionsRequest.newBuilder()
                        .setSession(client.token())
                        .build())
                .getRegionsList();
    }

    private long registeredOctets() {
        return session.context().quotas().registeredOctets().used();
    }

    @Test
    void memoryOfAProcessIsARegionWithoutAPath() {
        Region region = register(address + 8, 5000);

        assertThat(list()).hasSize(1);
        assertThat(list().getFirst().getProcessMemory()).isTrue();
        assertThat(list().getFirst().getPath()).isEmpty();
        assertThat(list().getFirst().getLength()).isEqualTo(5000);
        assertThat(registeredOctets()).isEqualTo(5000);

        client.memory()
                .deregisterRegion(DeregisterRegionRequest.newBuilder()
                        .setSession(client.token())
                        .setRegion(region.getId())
                        .build());
        assertThat(registeredOctets()).isZero();
        assertThat(session.context().quotas().regions().used()).isZero();
    }

    @Test
    void storeAndLoadRefuseMemoryOfAProcess() {
        Region region = register(address, 16);

        Status load = Waiting.status(() -> client.load(region.getId(), 0, 1));
        Status store = Waiting.status(() -> client.store(region.getId(), 0, new byte[1], 1));

        assertThat(load.getCode()).isEqualTo(Status.Code.UNIMPLEMENTED);
        assertThat(load.getDescription()).contains("memory of a process", "Store and Load are for managed regions");
        assertThat(store.getCode()).isEqualTo(Status.Code.UNIMPLEMENTED);
    }

    @ParameterizedTest
    @CsvSource({"4096, 0, length of at least 1", "-1, 1, exceeds 2^47", "140737488355327, 2, exceeds 2^47"})
    void refusesRangesThatNoProcessHas(long start, long length, String reason) {
        assertRefused(start, length, Status.Code.INVALID_ARGUMENT, reason);
    }

    @Test
    void refusesMemoryThatIsNotMapped() {
        assertRefused(0, 4096, Status.Code.INVALID_ARGUMENT, "the process has no memory at address 0x0");
    }

    @Test
    void countsAgainstTheQuotaOfRegisteredBytes() {
        assertRefused(address, LIMIT + 1, Status.Code.RESOURCE_EXHAUSTED, "sidewarp.limits.registered-octets");
    }

    private void assertRefused(long start, long length, Status.Code code, String reason) {
        Status status = Waiting.status(() -> register(start, length));

        assertThat(status.getCode()).as(status.getDescription()).isEqualTo(code);
        assertThat(status.getDescription()).contains(reason);
        assertThat(registeredOctets()).isZero();
        assertThat(session.context().quotas().regions().used()).isZero();
    }

    @Test
    void peersWriteIntoTheProcessUntilTheMemoryIsGone() {
        try (TestSession writer = sidecar.session()) {
            Region source = writer.managed(4096);
            writer.store(source.getId(), 0, "hello".getBytes(StandardCharsets.UTF_8), 4096);
            Region target = register(address, LENGTH);
            long connection = writer.connectTo(client).here().getId();
            try (TestQueue queue = writer.queue(16)) {
                assertThat(writeAndFlush(queue, connection, source, target)).isTrue();
                assertThat(memory.asSlice(0, 5).toArray(ValueLayout.JAVA_BYTE))
                        .asString()
                        .isEqualTo("hello");

                NativeLibrary.C.call("munmap", address, LENGTH);
                assertThat(writeAndFlush(queue, connection, source, target)).isFalse();
            }
            OpenSessionResponse event = client.nextEvent();
            while (!event.hasRegionFault()) {
                event = client.nextEvent();
            }
            assertThat(event.getRegionFault().getMessage())
                    .isEqualTo("the memory of region " + target.getId() + " failed: the process has unmapped 0x"
                            + Long.toHexString(address) + "; keep memory mapped until its region is deregistered");
            assertThat(list().getFirst().getState()).isEqualTo(RegionState.REGION_STATE_FAULTED);
        }
    }

    private static boolean writeAndFlush(TestQueue queue, long connection, Region source, Region target) {
        queue.post(List.of(
                write(1, connection, source, target, 5).build(),
                WorkRequest.newBuilder()
                        .setId(2)
                        .setConnection(connection)
                        .setFlush(FlushWork.getDefaultInstance())
                        .build()));
        queue.next();
        return queue.next().getStatus() == CompletionStatus.COMPLETION_STATUS_SUCCESS;
    }
}
