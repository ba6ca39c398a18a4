// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests regions whose content goes through calls: Store and Load. */
class StoredRegionTest extends FakeSidecarTest {

    @Test
    void storedOctetsAreLoadedAgain() {
        byte[] content = random(1_000_003);
        try (ManagedRegion region = session.registerManaged(content.length + 5)) {
            region.store(5, content);

            assertThat(region.load(5, content.length)).isEqualTo(content);
            ByteBuffer direct = ByteBuffer.allocateDirect(1000);
            region.load(100, direct);
            assertThat(direct.hasRemaining()).isFalse();
            assertThat(direct.get(0)).isEqualTo(content[95]);
        }
        assertThat(sidecar.memory.storedPieces).hasSizeGreaterThan(3).allMatch(octets -> octets <= 128 << 10);
    }

    @Test
    void directBufferIsStoredFromItsPosition() {
        ByteBuffer source = ByteBuffer.allocateDirect(100);
        source.put(40, (byte) 4).position(40);
        try (ManagedRegion region = session.registerManaged(100)) {
            region.store(0, source);

            assertThat(source.hasRemaining()).isFalse();
            assertThat(region.load(0, 1)).containsExactly(4);
        }
        assertThat(sidecar.memory.storedPieces).containsExactly(60);
    }

    @Test
    void streamIsStoredWithoutBeingHeldInMemory() {
        byte[] content = random(3_000_000);
        try (ManagedRegion region = session.registerManaged(content.length)) {
            long stored = region.store(0, new ByteArrayInputStream(content));

            assertThat(stored).isEqualTo(content.length);
            assertThat(region.load(0, content.length)).isEqualTo(content);
        }
    }

    @Test
    void nothingCanBeStored() {
        try (ManagedRegion region = session.registerManaged(10)) {
            assertThat(region.store(3, InputStream.nullInputStream())).isZero();
        }
    }

    @Test
    void storingBeyondTheRegionFailsWithTheSidecarsReason() {
        try (ManagedRegion region = session.registerManaged(10)) {
            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(() -> region.store(5, random(3_000_000)))
                    .withMessage("the region ends before (OUT_OF_RANGE)");
        }
    }

    @Test
    void sourceThatFailsAbandonsTheStore() {
        InputStream broken = new InputStream() {
            @Override
            public int read() throws IOException {
                throw new IOException("disk on fire");
            }

            @Override
            public int read(byte[] target, int offset, int length) throws IOException {
                throw new IOException("disk on fire");
            }
        };
        try (ManagedRegion region = session.registerManaged(10)) {
            assertThatExceptionOfType(UncheckedIOException.class)
                    .isThrownBy(() -> region.store(0, broken))
                    .withMessageContaining("disk on fire");
        }
        await().untilAsserted(() -> assertThat(sidecar.memory.storedPieces).containsExactly(-1));
    }

    @Test
    void storeWhoseThreadIsInterruptedIsAbandoned() throws Exception {
        sidecar.memory.insteadOfStored = Thread.currentThread()::interrupt;
        try (ManagedRegion region = session.registerManaged(10)) {
            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(() -> region.store(0, new byte[10]))
                    .satisfies(failure -> assertThat(failure.code()).isEqualTo(Status.Code.CANCELLED));
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(sidecar.memory.abandoned.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void loadGivesNoMoreThanTheReaderTakes() throws IOException {
        int pieces = 64;
        try (ManagedRegion region = session.registerManaged(pieces * (256L << 10));
                InputStream stream = region.stream(0, 0)) {
            assertThat(stream.read()).isZero();
            assertThat(sidecar.memory.loadedPieces.get()).isLessThan(pieces / 2);

            assertThat(stream.transferTo(java.io.OutputStream.nullOutputStream()))
                    .isEqualTo(region.length() - 1);
            assertThat(stream.read()).isEqualTo(-1);
        }
    }

    @Test
    void storeAndLoadOfALostSessionFail() throws Exception {
        ManagedRegion region = session.registerManaged(64 << 20);
        try (InputStream stream = region.stream(0, 0)) {
            assertThat(stream.read()).isZero();
            sidecar.nextSession().onCompleted();

            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(() -> stream.transferTo(java.io.OutputStream.nullOutputStream()))
                    .withMessageContaining("was lost");
            assertThatExceptionOfType(SidewarpException.class)
                    .isThrownBy(() -> region.store(0, new byte[1]))
                    .withMessageContaining("was lost");
        }
    }

    private static byte[] random(int octets) {
        byte[] content = new byte[octets];
        new Random(octets).nextBytes(content);
        return content;
    }
}
