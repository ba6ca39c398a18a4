// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static io.sidewarp.v1.Access.ACCESS_LOCAL_WRITE;
import static io.sidewarp.v1.Access.ACCESS_REMOTE_READ;
import static io.sidewarp.v1.CreateMode.CREATE_MODE_OPEN_OR_CREATE;
import static io.sidewarp.v1.CreateMode.CREATE_MODE_REPLACE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.grpc.Status;
import io.sidewarp.v1.RegisterRegionRequest;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class RegionTest extends FakeSidecarTest {

    @Test
    void createdRegionIsTheFileInTheVolume() throws IOException {
        try (SharedRegion region = session.createSharedRegion("hello", 8192, Access.LOCAL_WRITE, Access.REMOTE_READ)) {
            region.buffer().put("hello, memory".getBytes(StandardCharsets.UTF_8));
            region.segment().set(ValueLayout.JAVA_BYTE, 8191, (byte) 42);

            byte[] file = Files.readAllBytes(sidecar.volume.resolve("hello"));

            assertThat(file).hasSize(8192).startsWith("hello, memory".getBytes(StandardCharsets.UTF_8));
            assertThat(file[8191]).isEqualTo((byte) 42);
        }
        RegisterRegionRequest request = sidecar.memory.lastRegistration;
        assertThat(request.getAccessList()).containsExactly(ACCESS_LOCAL_WRITE, ACCESS_REMOTE_READ);
        assertThat(request.getShared().getCreate()).isTrue();
    }

    @Test
    void modeOfCreationGoesToTheSidecarAndItsOutcomeComesBack() throws IOException {
        Files.write(sidecar.volume.resolve("there"), new byte[4096]);

        try (SharedRegion region = session.createSharedRegion("there", 4096, CreateMode.OPEN_OR_CREATE)) {
            assertThat(region.fileExisted()).isTrue();
        }
        assertThat(sidecar.memory.lastRegistration.getShared().getCreateMode()).isEqualTo(CREATE_MODE_OPEN_OR_CREATE);
        session.createSharedRegion("there", 4096, CreateMode.REPLACE).close();
        assertThat(sidecar.memory.lastRegistration.getShared().getCreateMode()).isEqualTo(CREATE_MODE_REPLACE);
        try (SharedRegion region = session.createSharedRegion("new", 4096)) {
            assertThat(region.fileExisted()).isFalse();
        }
    }

    @Test
    void mappingOfALostRegionServesTheSamePartOfTheFileOnly() throws Exception {
        SharedRegion before = session.createSharedRegion("again", 4096);
        SharedRegion other = session.createSharedRegion("other", 4096);
        sidecar.nextSession().onCompleted();
        await().until(() -> session.closed().isDone());
        try (Session next = client.openSession("next");
                SharedRegion same = next.createSharedRegion("again", 4096, CreateMode.OPEN_OR_CREATE);
                SharedRegion longer = next.createSharedRegion("other", 8192, CreateMode.OPEN_OR_CREATE)) {
            assertThat(same.segment().address()).isEqualTo(before.segment().address());
            assertThat(other.segment().scope().isAlive()).isFalse();
            assertThat(longer.segment().byteSize()).isEqualTo(8192);

            session.close();
            before.close();

            assertThat(same.segment().scope().isAlive()).isTrue();
        }
        assertThat(before.segment().scope().isAlive()).isFalse();
    }

    @Test
    void memoryOfALostRegionIsUnmappedBeforeItsFileIsReplaced() throws Exception {
        SharedRegion before = session.createSharedRegion("again", 4096);
        sidecar.nextSession().onCompleted();
        await().until(() -> session.closed().isDone());
        boolean[] mapped = {true};
        sidecar.memory.beforeRegister =
                () -> mapped[0] = before.segment().scope().isAlive();
        try (Session next = client.openSession("next")) {
            next.createSharedRegion("again", 4096, CreateMode.REPLACE).close();
        }
        assertThat(mapped[0]).isFalse();
    }

    @Test
    void openedRegionIsAPartOfTheFile() throws IOException {
        byte[] content = new byte[12288];
        content[4096] = 7;
        Files.write(sidecar.volume.resolve("given"), content);

        try (SharedRegion region = session.openSharedRegion("given", 4096, 0)) {
            assertThat(region.length()).isEqualTo(8192);
            assertThat(region.buffer().get(0)).isEqualTo((byte) 7);
            assertThat(region.buffer(0, 1).capacity()).isOne();
        }
    }

    @Test
    void regionLongerThanTwoGibibytesIsASegment() throws IOException {
        long length = (3L << 30) + 4096;
        try (RandomAccessFile sparse =
                new RandomAccessFile(sidecar.volume.resolve("long").toFile(), "rw")) {
            sparse.setLength(length);
        }

        try (SharedRegion region = session.openSharedRegion("long", 0, 0)) {
            region.segment().set(ValueLayout.JAVA_BYTE, length - 1, (byte) 1);

            assertThat(region.buffer(length - 4096, 4096).get(4095)).isEqualTo((byte) 1);
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(region::buffer)
                    .withMessageContaining("segment()");
        }
    }

    @Test
    void optionsReachTheSidecar() {
        Connection connection = session.connect("127.0.0.1", 1);
        ProtectionDomain domain = session.allocateProtectionDomain();

        session.registerManaged(
                        10,
                        RegionOptions.of(Access.REMOTE_WRITE, Access.REMOTE_INVALIDATE)
                                .withBaseTaggedOffset(-4096)
                                .withConnection(connection)
                                .withProtectionDomain(domain))
                .close();

        RegisterRegionRequest request = sidecar.memory.lastRegistration;
        assertThat(request.getBaseTaggedOffset()).isEqualTo(-4096);
        assertThat(request.getConnection()).isEqualTo(connection.id());
        assertThat(request.getProtectionDomain()).isEqualTo(domain.id());
        assertThat(request.getManaged().getLength()).isEqualTo(10);
    }

    @Test
    void addressesCountFromTheBaseTaggedOffset() {
        ManagedRegion region = session.registerManaged(10, RegionOptions.of().withBaseTaggedOffset(1000));

        assertThat(region.address(10)).isEqualTo(new RemoteAddress(0xCAFE0000, 1010));
        assertThat(region.address().plus(3)).isEqualTo(region.address(3));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> region.address(11));
        assertThat(region.slice(4, 6)).isEqualTo(new Sge(region.id(), 4, 6));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> region.slice(5, 6));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> region.slice(5, Long.MAX_VALUE));
    }

    @Test
    void encodedAddressIsTwelveOctetsInNetworkOrder() {
        RemoteAddress address = new RemoteAddress(0x01020304, 0x05060708090A0B0CL);

        assertThat(address.encode()).containsExactly(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
        assertThat(RemoteAddress.decode(address.encode())).isEqualTo(address);
        assertThat(RemoteAddress.decode(new RemoteAddress(-1, -2).encode())).isEqualTo(new RemoteAddress(-1, -2));
    }

    @Test
    void closedRegionIsDeregisteredAndUnmapped() {
        SharedRegion region = session.createSharedRegion("once", 4096);

        region.close();
        region.close();

        assertThat(sidecar.memory.regions).isEmpty();
        assertThatIllegalStateException().isThrownBy(() -> region.segment().get(ValueLayout.JAVA_BYTE, 0));
    }

    @Test
    void regionThatIsClosedDuringItsOutputIsUnmappedWhenItIsClosedAgain() throws Exception {
        SharedRegion region = session.createSharedRegion("busy", 1 << 20);
        Pipe pipe = Pipe.open();
        try (Pipe.SourceChannel source = pipe.source();
                Pipe.SinkChannel sink = pipe.sink()) {
            CompletableFuture<Void> writer = output(region, sink);
            // The pipe holds less than the region, so that the writer waits from now on.
            readTo(source, 1);

            assertThatIllegalStateException()
                    .isThrownBy(region::close)
                    .withMessageContaining("still mapped")
                    .withMessageContaining("close it again");
            assertThat(sidecar.memory.regions).isEmpty();
            assertThat(region.segment().scope().isAlive()).isTrue();

            readTo(source, (1 << 20) - 1);
            assertThat(writer).succeedsWithin(Duration.ofSeconds(20));
            region.close();
            assertThat(region.segment().scope().isAlive()).isFalse();
        }
    }

    @Test
    void closingTheSessionUnmapsRegionsThatWereNotClosed() throws Exception {
        SharedRegion region = session.createSharedRegion("left", 1 << 20);
        Pipe pipe = Pipe.open();
        try (Pipe.SourceChannel source = pipe.source();
                Pipe.SinkChannel sink = pipe.sink()) {
            CompletableFuture<Void> writer = output(region, sink);
            readTo(source, 1);
            session.close();
            assertThat(region.segment().scope().isAlive()).isTrue();
            readTo(source, (1 << 20) - 1);
            assertThat(writer).succeedsWithin(Duration.ofSeconds(20));
        }

        session.close();

        assertThat(region.segment().scope().isAlive()).isFalse();
        region.close();
    }

    @Test
    void regionsOfALostSessionCanBeReadUntilItIsClosed() throws Exception {
        SharedRegion region = session.createSharedRegion("lost", 4096);
        sidecar.nextSession().onCompleted();
        await().until(() -> session.closed().isDone());
        assertThat(region.segment().get(ValueLayout.JAVA_BYTE, 0)).isZero();

        session.close();

        assertThat(region.segment().scope().isAlive()).isFalse();
    }

    private static CompletableFuture<Void> output(SharedRegion region, Pipe.SinkChannel sink) {
        ByteBuffer memory = region.buffer();
        return CompletableFuture.runAsync(
                () -> {
                    try {
                        while (memory.hasRemaining()) {
                            sink.write(memory);
                        }
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                },
                task -> Thread.ofPlatform().start(task));
    }

    private static void readTo(Pipe.SourceChannel source, int octets) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(octets);
        while (target.hasRemaining()) {
            assertThat(source.read(target)).isPositive();
        }
    }

    @Test
    void regionThatIsRegisteredAfterTheTimeIsDeregistered() throws Exception {
        CompletableFuture<Void> hold = new CompletableFuture<>();
        sidecar.memory.registerHold = hold;
        try (SidewarpClient impatient =
                        SidewarpClient.connect(sidecar.options().withCallTimeout(Duration.ofMillis(500)));
                Session own = impatient.openSession("impatient")) {
            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(() -> own.registerManaged(10))
                    .withMessage("the sidecar at unix://" + sidecar.socket + " did not register a region within 500 ms")
                    .satisfies(late -> assertThat(late.code()).isEqualTo(Status.Code.DEADLINE_EXCEEDED));

            hold.complete(null);

            await().untilAsserted(() -> {
                assertThat(sidecar.memory.lastRegistration.hasManaged()).isTrue();
                assertThat(sidecar.memory.regions).isEmpty();
            });
        }
    }

    @Test
    void memoryOfAClosedRegionIsRefusedInWordsOfTheClient() {
        SharedRegion region = session.createSharedRegion("closed", 4096);
        region.close();

        for (Runnable use : List.<Runnable>of(region::buffer, () -> region.buffer(0, 1))) {
            assertThatIllegalStateException()
                    .isThrownBy(use::run)
                    .withMessageContaining("closed, 4096 bytes] is closed and no longer mapped");
        }
    }

    @Test
    void addressThatThePeerDidNotSendIsRefusedWithWhatToDo() {
        for (byte[] sent : List.of(new byte[0], new byte[RemoteAddress.ENCODED_LENGTH - 1])) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> RemoteAddress.decode(sent))
                    .withMessage(
                            "a remote address has 12 bytes, and " + sent.length + " are left to decode; the peer has"
                                    + " to send what RemoteAddress.encode() gives, for instance as private data");
        }
    }

    @Test
    void interruptedThreadDeregistersWhatItCloses() {
        SharedRegion shared = session.createSharedRegion("interrupted", 4096);
        ManagedRegion managed = session.registerManaged(10);
        Thread.currentThread().interrupt();

        shared.close();
        managed.close();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(sidecar.memory.regions).isEmpty();
    }

    @Test
    void regionThatCouldNotBeDeregisteredIsDeregisteredWhenItIsClosedAgain() {
        for (Region region : List.of(session.createSharedRegion("again", 4096), session.registerManaged(10))) {
            sidecar.memory.deregisterFailures.add(Status.DEADLINE_EXCEEDED.asRuntimeException());
            assertThatExceptionOfType(SidewarpException.class).isThrownBy(region::close);
            assertThat(sidecar.memory.regions).containsKey(region.id());

            region.close();

            assertThat(sidecar.memory.regions).doesNotContainKey(region.id());
        }
    }

    @Test
    void nothingRemainsOfARegionWhoseThreadIsInterruptedBeforeItIsMapped() {
        sidecar.insteadOfDevice = Thread.currentThread()::interrupt;

        SidewarpException failure =
                catchThrowableOfType(SidewarpException.class, () -> session.createSharedRegion("unmapped", 4096));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(failure.code()).isEqualTo(Status.Code.CANCELLED);
        assertThat(sidecar.memory.regions).isEmpty();
    }

    @Test
    void regionThatCouldNeitherBeMappedNorGivenBackTellsBoth() {
        sidecar.memory.deregisterFailures.add(Status.DEADLINE_EXCEEDED.asRuntimeException());
        try (SidewarpClient stranger =
                        SidewarpClient.connect(sidecar.options().withSharedVolume(directory.resolve("elsewhere")));
                Session other = stranger.openSession("stranger")) {
            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(() -> other.createSharedRegion("x", 4096))
                    .withMessageContaining("not mounted in this process")
                    .satisfies(failure -> assertThat(failure.getSuppressed()).hasSize(1));
        }
    }

    @Test
    void regionOfAVolumeThatIsNotMountedIsGivenBackWithTheRemedy() {
        Path elsewhere = directory.resolve("elsewhere");
        try (SidewarpClient stranger = SidewarpClient.connect(sidecar.options().withSharedVolume(elsewhere));
                Session other = stranger.openSession("stranger")) {
            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(() -> other.createSharedRegion("x", 4096))
                    .withMessageContaining("not mounted in this process")
                    .withMessageContaining(elsewhere.toString())
                    .withMessageContaining(sidecar.volume.toString())
                    .withMessageContaining("SIDEWARP_VOLUME")
                    .satisfies(failure -> assertThat(failure.code()).isEqualTo(Status.Code.FAILED_PRECONDITION));
        }
        assertThat(sidecar.memory.regions).isEmpty();
    }

    @Test
    void sidecarsOwnPathServesWhenNoVolumeIsConfigured() {
        ClientOptions options =
                new ClientOptions(client.target(), java.util.Optional.empty(), java.time.Duration.ofSeconds(30));
        try (SidewarpClient sameHost = SidewarpClient.connect(options);
                Session other = sameHost.openSession("same host");
                SharedRegion region = other.createSharedRegion("found", 4096)) {
            assertThat(region.segment().byteSize()).isEqualTo(4096);
        }
    }

    @Test
    void fileOfAnotherLengthIsNotMapped() throws IOException {
        Path elsewhere = Files.createDirectories(directory.resolve("elsewhere"));
        Files.write(elsewhere.resolve("x"), new byte[10]);
        try (SidewarpClient stranger = SidewarpClient.connect(sidecar.options().withSharedVolume(elsewhere));
                Session other = stranger.openSession("stranger")) {
            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(() -> other.createSharedRegion("x", 4096))
                    .withMessageContaining("has 10 bytes, and the region needs 4096");
        }
        assertThat(elsewhere.resolve("x")).hasSize(10);
    }
}
