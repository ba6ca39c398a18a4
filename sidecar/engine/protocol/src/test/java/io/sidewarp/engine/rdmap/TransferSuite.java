// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.pattern;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.Endpoint;
import io.sidewarp.engine.testing.Link;
import io.sidewarp.engine.testing.Link.Side;
import io.sidewarp.engine.testing.RandomTraffic;
import io.sidewarp.engine.testing.RecordingSink.Completion;
import io.sidewarp.engine.testing.TestMemory;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests data transfer between two streams. The link type selects the lower layer. */
abstract class TransferSuite extends PairSuite {

    TransferSuite(Link.Type type) {
        super(type);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1423, 1440, 5000, SIZE})
    @Requirement({"RDMAP-5.1-01", "RDMAP-3.2-01", "DDP-5.2-01", "DDP-5.2-03"})
    void aWriteArrives(int length) {
        byte[] data = pattern(length, 1);
        MemoryRegion target = right().region(SIZE);
        MemoryRegion source = left().region(SIZE);
        TestMemory.put(source, 0, data);

        left().write(1).with(source, 0, length).remote(target).post();
        pair().run();

        assertSame(target, Arrays.copyOf(data, SIZE));
        assertAllSucceeded(left());
        assertThat(right().completions().isEmpty()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1422, 1436, 5000, SIZE})
    @Requirement({"RDMAP-3.2-01", "RDMAP-3.2-03", "RDMAP-5.3-01", "DDP-5.4-02"})
    void aSendArrivesInEitherDirection(int length) {
        byte[] data = pattern(length, 1);
        for (Side side : Side.values()) {
            Endpoint from = side == Side.LEFT ? left() : right();
            Endpoint to = side == Side.LEFT ? right() : left();
            MemoryRegion buffer = to.region(SIZE);
            MemoryRegion source = from.region(SIZE);
            TestMemory.put(source, 0, data);
            to.receive(7).with(buffer).post();

            from.send(1).with(source, 0, length).solicited().post();
            pair().run();

            assertSame(buffer, Arrays.copyOf(data, SIZE));
            assertThat(to.completions().receives())
                    .extracting(Completion::length)
                    .containsExactly((long) length);
            assertThat(to.completions().receives().getFirst().opcode()).isEqualTo(RdmapControl.SEND_WITH_SE);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1423, 1440, 5000, SIZE})
    @Requirement({"RDMAP-3.2-01", "RDMAP-5.2.1-05", "RDMAP-5.2.2-02", "RDMAP-5.2.1-02", "RDMAP-4.4-04"})
    void aReadReturns(int length) {
        byte[] data = pattern(length, 1);
        MemoryRegion source = right().region(SIZE);
        TestMemory.put(source, 0, data);
        MemoryRegion sink = left().region(SIZE);

        left().read(1).with(sink, 0, length).remote(source).post();
        pair().run();

        assertSame(sink, Arrays.copyOf(data, SIZE));
        assertThat(left().completions().sends()).extracting(Completion::length).containsExactly((long) length);
        assertAllSucceeded(left());
        assertThat(right().completions().isEmpty()).isTrue();
    }

    @Test
    @Requirement("RDMAP-4.4-03")
    void aReadMovesAnyOctetsToAnyPlace() {
        byte[] data = pattern(SIZE, 2);
        MemoryRegion source = right().memory().region(0xFFFF_0000_0000_0001L, SIZE, AccessRight.REMOTE_READ);
        TestMemory.put(source, 0, data);
        MemoryRegion sink = left().memory().region(0x123, SIZE, AccessRight.LOCAL_WRITE);

        left().read(1)
                .with(sink, 5, 33_333)
                .remote(source.stag(), source.baseTaggedOffset() + 3)
                .post();
        pair().run();

        assertThat(TestMemory.get(sink, 5, 33_333)).isEqualTo(Arrays.copyOfRange(data, 3, 33_336));
        assertThat(TestMemory.get(sink, 0, 5)).containsOnly(0);
        assertThat(TestMemory.get(sink, 33_338, 100)).containsOnly(0);
    }

    @Test
    @Requirement({"RDMAP-5.5-10", "RDMAP-5.5-13", "RDMAP-5.5-05"})
    void aSendTellsThatTheWritesBeforeItAreThere() {
        MemoryRegion target = right().region(8000);
        MemoryRegion note = right().region(8);
        MemoryRegion source = left().region(8000);
        for (int round = 1; round <= 100; round++) {
            byte[] data = pattern(8000, round);
            TestMemory.put(source, 0, data);
            right().receive(round).with(note).post();
            right().completions().onEachCompletion(() -> assertSame(target, data));

            left().write(round).with(source).remote(target).post();
            left().send(round).post();
            pair().run();

            assertThat(right().completions().receives()).hasSize(round);
        }
    }

    @Test
    @Requirement({"RDMAP-5.5-12", "RDMAP-5.5-17", "RDMAP-B-01"})
    void aReadReturnsWhatWasWrittenBeforeIt() {
        MemoryRegion target = right().region(6000);
        MemoryRegion source = left().region(6000);
        MemoryRegion sink = left().region(6000);
        for (int round = 0; round < 100; round++) {
            byte[] data = pattern(6000, round);
            TestMemory.put(source, 0, data);

            left().write(1).with(source).remote(target).post();
            left().read(2).with(sink).remote(target).post();
            pair().run();

            assertSame(sink, data);
        }
    }

    @Test
    @Requirement("RDMAP-B-02")
    void aFencedWriteDoesNotReachTheDataOfTheReadBeforeIt() {
        byte[] old = pattern(50_000, 1);
        MemoryRegion target = right().memory().regionWith(old);
        MemoryRegion source = left().memory().regionWith(pattern(50_000, 2));
        MemoryRegion sink = left().region(50_000);

        left().read(1).with(sink).remote(target).post();
        left().write(2).with(source).remote(target).fenced().post();
        pair().run();

        assertSame(sink, old);
        assertSame(target, pattern(50_000, 2));
    }

    @Test
    @Requirement({"RDMAP-5.5-11", "RDMAP-5.5-15", "RDMAP-5.5-20", "RDMAP-6.1-03"})
    void manyReadsInFlightCompleteInOrder() {
        byte[] data = pattern(SIZE, 3);
        MemoryRegion source = right().memory().regionWith(data);
        MemoryRegion sink = left().region(SIZE);
        for (int i = 0; i < 20; i++) {
            left().read(i)
                    .with(sink, i * 5000L, 5000)
                    .remote(source.stag(), i * 5000L)
                    .post();
        }

        pair().run();

        assertSame(sink, data);
        assertThat(left().completions().sendIds()).isSorted().hasSize(20);
        assertAllSucceeded(left());
    }

    @Test
    @Requirement("RDMAP-5.5-02")
    void bothSidesReadAndWriteAtTheSameTime() {
        byte[] data = pattern(SIZE, 4);
        MemoryRegion leftData = left().memory().regionWith(data);
        MemoryRegion rightData = right().memory().regionWith(data);
        MemoryRegion leftSink = left().region(SIZE);
        MemoryRegion rightSink = right().region(SIZE);
        MemoryRegion leftTarget = left().region(SIZE);
        MemoryRegion rightTarget = right().region(SIZE);
        for (int i = 0; i < 10; i++) {
            long at = i * 10_000L;
            left().read(i)
                    .with(leftSink, at, 10_000)
                    .remote(rightData.stag(), at)
                    .post();
            right().read(i)
                    .with(rightSink, at, 10_000)
                    .remote(leftData.stag(), at)
                    .post();
            left().write(100 + i)
                    .with(leftData, at, 10_000)
                    .remote(rightTarget.stag(), at)
                    .post();
            right().write(100 + i)
                    .with(rightData, at, 10_000)
                    .remote(leftTarget.stag(), at)
                    .post();
        }

        pair().run();

        for (MemoryRegion region : new MemoryRegion[] {leftSink, rightSink, leftTarget, rightTarget}) {
            assertSame(region, data);
        }
        assertAllSucceeded(left());
        assertAllSucceeded(right());
    }

    @Test
    @Requirement("DDP-3-01")
    void theMulpduMayChangeInTheMiddleOfAMessage() {
        byte[] data = pattern(SIZE, 6);
        MemoryRegion target = right().region(SIZE);
        left().write(1).with(left().memory().regionWith(data)).remote(target).post();
        int[] sizes = {200, 1400, 128, 9000, 300};

        for (int i = 0; left().completions().isEmpty(); i++) {
            pair().link().mulpdu(Side.LEFT, sizes[i % sizes.length]);
            pair().link().turn(Side.LEFT);
            pair().link().turn(Side.RIGHT);
        }
        pair().run();

        assertSame(target, data);
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    @Requirement({
        "RDMAP-3.2-02",
        "RDMAP-5.2.1-05",
        "RDMAP-5.3-01",
        "RDMAP-5.5-13",
        "RDMAP-5.5-15",
        "DDP-5.2-01",
        "DDP-5.2-03",
        "DDP-5.3-05"
    })
    void randomTrafficArrivesWholeAndCompletesOnceInOrder(long seed) {
        RandomTraffic traffic = new RandomTraffic(pair(), seed);
        pair().link().shake(traffic.random());

        traffic.run(400);

        traffic.verify();
        assertThat(left().stream().state()).isEqualTo(StreamState.CLOSED);
        assertThat(left().stream().error()).isNull();
        assertThat(right().stream().error()).isNull();
    }

    @Test
    @Timeout(60)
    @Requirement({"RDMAP-5.5-07", "RDMAP-5.5-08"})
    void memoryThatAnApplicationChangesMeanwhileBreaksNothing() throws InterruptedException {
        MemoryRegion source = left().region(SIZE);
        MemoryRegion target = right().region(SIZE);
        AtomicBoolean done = new AtomicBoolean();
        Thread application = Thread.ofPlatform().start(() -> {
            for (byte value = 0; !done.get(); value++) {
                source.segment().fill(value);
                target.segment().fill(value);
            }
        });

        for (int i = 0; i < 30; i++) {
            right().receive(i).with(target).post();
            left().write(i).with(source).remote(target).post();
            left().read(100 + i).with(source).remote(target).post();
            left().send(200 + i).with(source).post();
            pair().run();
        }
        done.set(true);
        application.join();

        assertThat(left().completions().sends()).hasSize(90);
        assertAllSucceeded(left());
        assertThat(right().completions().receives())
                .extracting(Completion::length)
                .containsOnly((long) SIZE);
        assertThat(right().stream().state()).isEqualTo(StreamState.OPEN);
    }
}
