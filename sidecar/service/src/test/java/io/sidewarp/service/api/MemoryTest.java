// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import io.sidewarp.conformance.Requirement;
import io.sidewarp.service.testing.LogLines;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.service.testing.Works;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.AllocateProtectionDomainRequest;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.DeallocateProtectionDomainRequest;
import io.sidewarp.v1.DeregisterRegionRequest;
import io.sidewarp.v1.GetDeviceRequest;
import io.sidewarp.v1.ListRegionsRequest;
import io.sidewarp.v1.ListSessionsRequest;
import io.sidewarp.v1.ManagedBacking;
import io.sidewarp.v1.MemoryServiceGrpc;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.RegionState;
import io.sidewarp.v1.RegisterRegionRequest;
import io.sidewarp.v1.SharedBacking;
import io.sidewarp.v1.StoreHeader;
import io.sidewarp.v1.StoreRequest;
import io.sidewarp.v1.StoreResponse;
import io.sidewarp.v1.WriteRequest;
import io.sidewarp.v1.WriteWork;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class MemoryTest {

    private TestSidecar sidecar;
    private TestSession session;

    @BeforeEach
    void start() {
        sidecar = TestSidecar.start(
                "sidewarp.limits.regions", "3",
                "sidewarp.limits.registered-octets", "40000000",
                "sidewarp.limits.managed-region-octets", "9000000",
                "sidewarp.limits.managed-octets", "30000000",
                "sidewarp.limits.protection-domains", "2");
        session = sidecar.session();
    }

    @AfterEach
    void stop() {
        session.close();
        sidecar.close();
    }

    @Test
    void whatIsStoredInPiecesIsLoadedInPieces() {
        byte[] data = TransferTest.random(3_000_000);
        Region region = session.managed(data.length + 100);

        assertThat(session.store(region.getId(), 50, data, 250_000)).isEqualTo(data.length);

        assertThat(session.load(region.getId(), 50, data.length)).isEqualTo(data);
        assertThat(session.load(region.getId(), 0, 50)).containsOnly(0);
        assertThat(session.load(region.getId(), data.length + 50, 0)).hasSize(50);
    }

    @Test
    void anOffsetBeyondTheEndIsToldAsItWasAsked() {
        Region region = session.managed(100);

        Status status = Waiting.status(() -> session.load(region.getId(), 101, 7));

        assertThat(status.getCode()).isEqualTo(Status.Code.OUT_OF_RANGE);
        assertThat(status.getDescription())
                .contains("offset 101 is outside", "100 bytes")
                .doesNotContain("length");
    }

    @Test
    void aStoreBeyondTheEndFails() {
        Region region = session.managed(100);

        assertThat(Waiting.status(() -> session.store(region.getId(), 90, new byte[11], 11))
                        .getCode())
                .isEqualTo(Status.Code.OUT_OF_RANGE);
        assertThat(Waiting.status(() -> session.load(region.getId(), 101, 0)).getCode())
                .isEqualTo(Status.Code.OUT_OF_RANGE);
        assertThat(Waiting.status(() -> session.load(region.getId(), 90, -1)).getCode())
                .isEqualTo(Status.Code.OUT_OF_RANGE);
    }

    @Test
    void aPieceThatDoesNotFitARequestIsRefused() {
        Region region = session.managed(3 << 20);

        Status status = Waiting.status(() -> session.store(region.getId(), 0, new byte[256 << 10], 256 << 10));

        assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(status.getDescription()).contains("at most 262144");
    }

    @Test
    void aSharedRegionIsAFileOfTheVolumeAndGoesWithTheRegion() throws IOException {
        Region region = session.shared("buffer", 5000, Access.ACCESS_REMOTE_READ);
        Path file = sidecar.sharedVolume().resolve("buffer");

        assertThat(Files.size(file)).isEqualTo(5000);
        assertThat(region.getPath()).isEqualTo("buffer");
        assertThat(region.getState()).isEqualTo(RegionState.REGION_STATE_VALID);
        deregister(region);

        assertThat(file).doesNotExist();
    }

    @Test
    void storeAndLoadSayThatASharedRegionIsToBeMapped() {
        Region region = session.shared("buffer", 5000);

        Status status = Waiting.status(() -> session.load(region.getId(), 0, 10));

        assertThat(status.getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
        assertThat(status.getDescription()).contains("map that file");
    }

    @Test
    @Requirement("RDMAP-8.1.2-04")
    void nothingOutsideOfTheVolumeBecomesARegion() throws IOException {
        Files.createSymbolicLink(sidecar.sharedVolume().resolve("link"), Path.of("/etc/hostname"));

        assertThat(shared("../escape").getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(shared("/etc/hostname").getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(shared("link").getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(shared("missing").getCode()).isEqualTo(Status.Code.NOT_FOUND);
        assertThat(session.memory()
                        .listRegions(ListRegionsRequest.getDefaultInstance())
                        .getRegionsList())
                .isEmpty();
    }

    @Test
    void theNumberOfRegionsIsLimited() {
        session.managed(1);
        session.managed(1);
        Region third = session.managed(1);

        Status status = Waiting.status(() -> session.managed(1));
        deregister(third);

        assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(status.getDescription()).contains("sidewarp.limits.regions");
        assertThat(session.managed(1).getLength()).isEqualTo(1);
    }

    @Test
    void octetsAreLimitedByRegionSidecarAndSession() {
        assertThat(Waiting.status(() -> session.managed(9_000_001)).getDescription())
                .contains("managed.length is 9000001; allowed: 1 to 9000000 (setting"
                        + " sidewarp.limits.managed-region-octets)");
        session.managed(9_000_000);
        assertThat(Waiting.status(() -> session.managed(9_000_000)).getDescription())
                .contains("sidewarp.limits.managed-octets");
        assertThat(Waiting.status(() -> session.shared("large", 31_000_001)).getDescription())
                .contains("sidewarp.limits.registered-octets");
        session.shared("fits", 31_000_000);
    }

    @Test
    void whatIsRefusedIsToldAsItWasGiven() {
        RegisterRegionRequest.Builder request =
                RegisterRegionRequest.newBuilder().setSession(session.token());
        RegisterRegionRequest farOff = request.clone()
                .setShared(SharedBacking.newBuilder().setPath("far").setOffset(-4096))
                .build();
        RegisterRegionRequest unknown = request.clone().addAccessValue(4711).build();

        assertThat(Waiting.status(() -> session.memory().registerRegion(farOff)).getDescription())
                .startsWith("offset 18446744073709547520 and length 0 are not possible");
        assertThat(Waiting.status(() -> session.memory().registerRegion(unknown))
                        .getDescription())
                .startsWith("access is 4711");
    }

    @Test
    void whatIsRegisteredOfAFileIsAllThatGetsMemory() throws IOException {
        long offset = 32 << 20;

        session.memory()
                .registerRegion(RegisterRegionRequest.newBuilder()
                        .setSession(session.token())
                        .setShared(SharedBacking.newBuilder()
                                .setPath("far")
                                .setOffset(offset)
                                .setLength(4096)
                                .setCreate(true))
                        .build());

        Path file = sidecar.sharedVolume().resolve("far");
        assertThat(Files.size(file)).isEqualTo(offset + 4096);
        assertThat(allocatedOctets(file)).isBetween(4096L, offset / 2);
    }

    @Test
    void aFileOfMoreOctetsThanTheQuotaHasGetsNoMemory() throws IOException {
        Path file = sidecar.sharedVolume().resolve("sparse");
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength(40_000_001);
        }

        Status status = shared("sparse");

        assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(status.getDescription()).contains("sidewarp.limits.registered-octets");
        assertThat(allocatedOctets(file)).isZero();
    }

    private static long allocatedOctets(Path file) throws IOException {
        Process stat = new ProcessBuilder("stat", "-c", "%b", file.toString()).start();
        return 512
                * Long.parseLong(new String(stat.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip());
    }

    @Test
    void whatCouldNotBeRegisteredGivesItsQuotaBack() throws IOException {
        Files.write(sidecar.sharedVolume().resolve("file"), new byte[10]);
        for (int i = 0; i < 5; i++) {
            assertThat(shared("missing").getCode()).isEqualTo(Status.Code.NOT_FOUND);
            assertThat(Waiting.status(() -> session.managed(9_000_001)).getCode())
                    .isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        }

        assertThat(session.device()
                        .listSessions(ListSessionsRequest.getDefaultInstance())
                        .getSessions(0)
                        .getRegisteredOctets())
                .isZero();
        session.managed(1);
        session.managed(1);
        session.managed(1);
    }

    @Test
    void remoteInvalidationNeedsAConnection() {
        assertThat(Waiting.status(() -> session.managed(10, Access.ACCESS_REMOTE_INVALIDATE))
                        .getDescription())
                .contains("connection");
    }

    @Test
    @Requirement("DDP-8.2-02")
    void aRegionBelongsToADomainThatExists() {
        Region inDefaultDomain = session.managed(10);
        RegisterRegionRequest elsewhere = RegisterRegionRequest.newBuilder()
                .setSession(session.token())
                .setProtectionDomain(inDefaultDomain.getProtectionDomain() + 1000)
                .setManaged(ManagedBacking.newBuilder().setLength(10))
                .build();

        assertThat(inDefaultDomain.getProtectionDomain()).isPositive();
        assertThat(Waiting.status(() -> session.memory().registerRegion(elsewhere))
                        .getCode())
                .isEqualTo(Status.Code.NOT_FOUND);
    }

    @Test
    void aRegionOfOneConnectionIsOfItsDomain() {
        long domain = session.memory()
                .allocateProtectionDomain(AllocateProtectionDomainRequest.newBuilder()
                        .setSession(session.token())
                        .build())
                .getProtectionDomain();
        Connection connection = session.connectTo(
                        session,
                        ConnectionOptions.newBuilder()
                                .setProtectionDomain(domain)
                                .build())
                .there();
        RegisterRegionRequest.Builder request = RegisterRegionRequest.newBuilder()
                .setSession(session.token())
                .setConnection(connection.getId())
                .setManaged(ManagedBacking.newBuilder().setLength(10));

        Status refused = Waiting.status(() -> session.memory().registerRegion(request.build()));
        Region region = session.memory()
                .registerRegion(request.setProtectionDomain(domain).build())
                .getRegion();

        assertThat(refused.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(refused.getDescription())
                .startsWith("connection " + connection.getId() + " is of protection domain " + domain)
                .endsWith("use the same (protection_domain)");
        assertThat(region.getProtectionDomain()).isEqualTo(domain);
        assertThat(region.getConnection()).isEqualTo(connection.getId());
    }

    @Test
    void aProtectionDomainStaysWhileItIsInUse() {
        long domain = session.memory()
                .allocateProtectionDomain(AllocateProtectionDomainRequest.newBuilder()
                        .setSession(session.token())
                        .build())
                .getProtectionDomain();
        Region region = session.memory()
                .registerRegion(RegisterRegionRequest.newBuilder()
                        .setSession(session.token())
                        .setProtectionDomain(domain)
                        .setManaged(ManagedBacking.newBuilder().setLength(10))
                        .build())
                .getRegion();
        DeallocateProtectionDomainRequest deallocate = DeallocateProtectionDomainRequest.newBuilder()
                .setSession(session.token())
                .setProtectionDomain(domain)
                .build();

        assertThat(region.getProtectionDomain()).isEqualTo(domain);
        assertThat(Waiting.status(() -> session.memory().deallocateProtectionDomain(deallocate))
                        .getCode())
                .isEqualTo(Status.Code.FAILED_PRECONDITION);
        deregister(region);
        session.memory().deallocateProtectionDomain(deallocate);
        assertThat(Waiting.status(() -> session.memory().deallocateProtectionDomain(deallocate))
                        .getCode())
                .isEqualTo(Status.Code.NOT_FOUND);
    }

    @Test
    void aTruncatedFileFailsItsRegionAndTheSidecarLivesOn() throws IOException {
        long length = 8 << 20;
        Region source = session.shared("source", length);
        Region target = session.managed(9_000_000, Access.ACCESS_REMOTE_WRITE);
        TestSession.Pair pair = session.connectTo(session);
        while (session.nextEvent().getConnection().getConnection()
                != Math.max(pair.here().getId(), pair.there().getId())) {
            // Both ends tell that they are established.
        }
        try (RandomAccessFile file =
                new RandomAccessFile(sidecar.sharedVolume().resolve("source").toFile(), "rw")) {
            file.setLength(0);
        }

        Status status = Waiting.status(() -> session.transfer()
                .write(WriteRequest.newBuilder()
                        .setSession(session.token())
                        .setConnection(pair.here().getId())
                        .setWork(WriteWork.newBuilder()
                                .addLocal(Works.sge(source, 0, length))
                                .setRemote(Works.remote(target, 0)))
                        .build()));

        assertThat(status.getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
        assertThat(status.getDescription()).contains("backing");
        assertThat(session.memory()
                        .listRegions(ListRegionsRequest.newBuilder()
                                .setSession(session.token())
                                .build())
                        .getRegionsList())
                .filteredOn(region -> region.getId() == source.getId())
                .singleElement()
                .extracting(Region::getState)
                .isEqualTo(RegionState.REGION_STATE_FAULTED);
        var event = session.nextEvent();
        while (!event.hasRegionFault()) {
            event = session.nextEvent();
        }
        assertThat(event.getRegionFault().getRegion()).isEqualTo(source.getId());
        deregister(source);
        TestSession.Pair again = session.connectTo(session);
        assertThat(again.here().getId()).isPositive();
    }

    @Test
    void anUnknownRegionIsNotFound() {
        assertThatThrownBy(() -> session.load(4711, 0, 0))
                .isInstanceOf(StatusRuntimeException.class)
                .hasMessageStartingWith("NOT_FOUND: region 4711");
    }

    @Test
    void aMessageThatRepeatsAVeryLongPathReachesTheCaller() {
        // In a header, each of these letters has six octets.
        Status status = shared(String.join("/", Collections.nCopies(15, "\u00e4".repeat(120))));

        assertThat(status.getCode()).isEqualTo(Status.Code.NOT_FOUND);
        assertThat(status.getDescription()).endsWith("create the directory first");
    }

    @Test
    void aStoreThatFailsEndsOnceWhateverElseWasOnItsWay() {
        try (LogLines errors = LogLines.warnings("io.grpc")) {
            CompletableFuture<StoreResponse> stored = new CompletableFuture<>();
            StreamObserver<StoreRequest> call =
                    MemoryServiceGrpc.newStub(session.channel()).store(into(stored));
            call.onNext(StoreRequest.newBuilder()
                    .setHeader(StoreHeader.newBuilder().setSession("unknown"))
                    .build());
            call.onCompleted();

            assertThat(Waiting.status(() -> Waiting.join(stored)).getCode()).isEqualTo(Status.Code.UNAUTHENTICATED);
            // Comes behind the half-close.
            session.device().getDevice(GetDeviceRequest.getDefaultInstance());
            assertThat(errors.all()).isEmpty();
        }
    }

    private static StreamObserver<StoreResponse> into(CompletableFuture<StoreResponse> stored) {
        return new StreamObserver<>() {
            @Override
            public void onNext(StoreResponse response) {
                stored.complete(response);
            }

            @Override
            public void onError(Throwable failure) {
                stored.completeExceptionally(failure);
            }

            @Override
            public void onCompleted() {}
        };
    }

    private Status shared(String path) {
        return Waiting.status(() -> session.memory()
                .registerRegion(RegisterRegionRequest.newBuilder()
                        .setSession(session.token())
                        .setShared(SharedBacking.newBuilder().setPath(path))
                        .build()));
    }

    private void deregister(Region region) {
        session.memory()
                .deregisterRegion(DeregisterRegionRequest.newBuilder()
                        .setSession(session.token())
                        .setRegion(region.getId())
                        .build());
    }
}
