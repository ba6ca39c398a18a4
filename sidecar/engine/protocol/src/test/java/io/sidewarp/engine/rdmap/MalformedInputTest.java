// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.hex;
import static io.sidewarp.engine.testing.Octets.pattern;
import static io.sidewarp.engine.testing.Ulpdus.readRequest;
import static io.sidewarp.engine.testing.Ulpdus.readResponse;
import static io.sidewarp.engine.testing.Ulpdus.send;
import static io.sidewarp.engine.testing.Ulpdus.sendInvalidate;
import static io.sidewarp.engine.testing.Ulpdus.sendMore;
import static io.sidewarp.engine.testing.Ulpdus.terminate;
import static io.sidewarp.engine.testing.Ulpdus.write;
import static io.sidewarp.engine.testing.Ulpdus.writeMore;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.LoneStream;
import io.sidewarp.engine.testing.Segment;
import io.sidewarp.engine.testing.TestMemory;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests ULPDUs with wrong bits and lengths. They may end the stream, but must have no other effect. */
class MalformedInputTest {

    private static final int ROUNDS = 400;
    private static final int SECRET = 64;

    /** A stream with an object of every kind that an error could hit. */
    private static final class Target implements AutoCloseable {

        private final LoneStream stream = new LoneStream();
        private final MemoryRegion writable = stream.memory().region(100, 200, AccessRight.REMOTE_WRITE);
        private final MemoryRegion readable = stream.memory().region(0, 200, AccessRight.REMOTE_READ);
        private final MemoryRegion sink = stream.memory().region(0, 200, AccessRight.LOCAL_WRITE);
        private final MemoryRegion buffer = stream.memory().region(0, 300, AccessRight.LOCAL_WRITE);
        private final MemoryRegion advertised = stream.endpoint().invalidatableRegion(16);
        private final MemoryRegion secret =
                stream.memory().regionOf(99, SECRET, AccessRight.REMOTE_READ, AccessRight.REMOTE_WRITE);

        Target() {
            stream.endpoint().receive(1).with(buffer, 100, 100).post();
            stream.endpoint().read(2).with(sink, 50, 100).remote(1, 0).post();
            stream.output();
        }

        List<byte[]> validUlpdus() {
            return List.of(
                    write(writable.stag(), 150, pattern(50, 1)),
                    writeMore(writable.stag(), 100, pattern(200, 2)),
                    send(1, pattern(100, 3)),
                    sendMore(1, 0, pattern(60, 4)),
                    sendInvalidate(1, advertised.stag()),
                    readRequest(1, 5, 6, 200, readable.stag(), 0),
                    readResponse(sink.stag(), 50, pattern(100, 5)),
                    terminate(hex("11 00 C0 00 000F C140 00000001 0000000000000000")));
        }

        /** Checks the memory that no input of a peer may change. */
        void verifyUntouched() {
            assertThat(TestMemory.get(readable)).containsOnly(0);
            assertThat(TestMemory.get(secret)).containsOnly(0);
            assertThat(secret.isValid()).isTrue();
            assertThat(TestMemory.get(buffer, 0, 100)).containsOnly(0);
            assertThat(TestMemory.get(buffer, 200, 100)).containsOnly(0);
            assertThat(TestMemory.get(sink, 0, 50)).containsOnly(0);
            assertThat(TestMemory.get(sink, 150, 50)).containsOnly(0);
        }

        @Override
        public void close() {
            stream.close();
        }
    }

    private static byte[] change(byte[] ulpdu, RandomGenerator random) {
        byte[] changed = ulpdu.clone();
        for (int flips = random.nextInt(4); flips >= 0; flips--) {
            int header = Math.min(changed.length, 46);
            if (header > 0) {
                changed[random.nextInt(header)] ^= (byte) (1 << random.nextInt(8));
            }
        }
        return switch (random.nextInt(4)) {
            case 0 -> Arrays.copyOf(changed, random.nextInt(changed.length + 1));
            case 1 -> Arrays.copyOf(changed, changed.length + random.nextInt(400));
            default -> changed;
        };
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5})
    @Requirement({"RDMAP-7.2-01", "RDMAP-8.1.1-03", "DDP-7.1-10", "DDP-7.1-12", "RDMAP-5.4-04"})
    void changedUlpdusEndTheStreamAtWorst(long seed) {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        int terminated = 0;
        for (int round = 0; round < ROUNDS; round++) {
            try (Target target = new Target()) {
                List<byte[]> valid = target.validUlpdus();
                for (int i = 0; i < 3; i++) {
                    target.stream.input(change(valid.get(random.nextInt(valid.size())), random));
                }

                List<Segment> output = target.stream.output();

                target.verifyUntouched();
                if (target.stream.stream().state() != StreamState.OPEN) {
                    terminated++;
                    assertThat(target.stream.stream().error()).isNotNull();
                    assertThat(target.stream.endpoint().sendQueue().outstanding())
                            .isZero();
                    assertThat(target.stream.endpoint().receiveQueue().outstanding())
                            .isZero();
                }
                long terminates = output.stream().filter(s -> s.opcode() == 7).count();
                assertThat(terminates).isLessThanOrEqualTo(1);
                assertThat(terminates == 0 || output.getLast().opcode() == RdmapControl.TERMINATE)
                        .isTrue();
            }
        }
        assertThat(terminated).isBetween(ROUNDS / 2, ROUNDS - 1);
    }
}
