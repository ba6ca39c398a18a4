// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.hex;
import static io.sidewarp.engine.testing.Octets.pattern;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.Endpoint;
import io.sidewarp.engine.testing.Link;
import io.sidewarp.engine.testing.Link.Side;
import io.sidewarp.engine.testing.RecordingSink.Completion;
import io.sidewarp.engine.testing.TestMemory;
import io.sidewarp.engine.verbs.CqeStatus;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the ends of two connected streams, over any lower layer. */
abstract class EndingSuite extends PairSuite {

    EndingSuite(Link.Type type) {
        super(type);
    }

    @Test
    @Requirement({"RDMAP-3.2-04", "RDMAP-7-01", "RDMAP-6.2.1-04", "RDMAP-5.4-01", "RDMAP-5.4-02", "RDMAP-6.2.1-02"})
    void aWriteToAnUnknownStagEndsBothSidesWithTheSameError() {
        left().write(1).with(left().region(SIZE)).remote(0x01020304, 0).post();
        left().read(2).with(left().region(8)).remote(1, 0).post();
        left().receive(3).with(left().region(8)).post();
        right().receive(4).with(right().region(8)).post();

        pair().run();

        assertErrorOnBothSides(1, 1, 0);
        assertThat(left().completions().sendIds()).containsExactly(1L, 2L);
        assertThat(left().completions().sendStatuses().getLast()).isEqualTo(CqeStatus.FLUSHED);
        assertThat(left().completions().receiveStatuses()).containsExactly(CqeStatus.FLUSHED);
        assertThat(right().completions().receiveStatuses()).containsExactly(CqeStatus.FLUSHED);
    }

    @Test
    @Requirement({"RDMAP-3.2-04", "RDMAP-5.3-02", "DDP-7.1-04"})
    void aSendThatIsTooLongEndsBothSidesWithTheSameError() {
        right().receive(1).with(right().region(100)).post();

        left().send(1).with(left().region(101)).post();
        pair().run();

        assertErrorOnBothSides(1, 2, 5);
        assertThat(right().completions().receiveStatuses()).containsExactly(CqeStatus.LOCAL_LENGTH_ERROR);
    }

    @Test
    @Requirement({"RDMAP-3.2-04", "RDMAP-7.2-05", "RDMAP-8.1.1-05"})
    void aReadWithoutTheRightEndsBothSidesWithTheSameErrorAndFailsTheRead() {
        MemoryRegion secret = right().memory().region(100, AccessRight.REMOTE_WRITE);
        MemoryRegion sink = left().region(100);

        left().read(1).with(sink).remote(secret).post();
        left().send(2).post();
        pair().run();

        assertErrorOnBothSides(0, 1, 2);
        assertThat(left().completions().sendStatuses())
                .containsExactly(CqeStatus.REMOTE_ACCESS_ERROR, CqeStatus.FLUSHED);
        assertThat(TestMemory.get(sink)).containsOnly(0);
    }

    @Test
    @Requirement("RDMAP-7.2-05")
    void aSourceThatGoesUnderAReadIsToldToTheReader() {
        MemoryRegion source = right().region(SIZE);
        MemoryRegion sink = left().region(SIZE);
        left().read(1).with(sink).remote(source).post();
        pair().link().turn(Side.LEFT);
        right().memory().deregister(source);

        pair().run();

        assertErrorOnBothSides(0, 1, 0);
        assertThat(left().completions().sendStatuses()).containsExactly(CqeStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    @Requirement({"DDP-6.2.1-01", "DDP-6.2.1-04", "DDP-6.2.1-05"})
    void aGracefulCloseLosesNothingOfEitherSide() {
        byte[] data = pattern(SIZE, 5);
        MemoryRegion rightTarget = right().region(SIZE);
        MemoryRegion leftTarget = left().region(SIZE);
        left().write(1)
                .with(left().memory().regionWith(data))
                .remote(rightTarget)
                .post();
        right().write(1)
                .with(right().memory().regionWith(data))
                .remote(leftTarget)
                .post();
        right().receive(9).with(right().region(8)).post();

        left().stream().close();
        pair().run();

        assertSame(rightTarget, data);
        assertSame(leftTarget, data);
        for (Endpoint endpoint : new Endpoint[] {left(), right()}) {
            assertAllSucceeded(endpoint);
            assertThat(endpoint.events().states()).containsExactly(StreamState.CLOSING, StreamState.CLOSED);
            assertThat(endpoint.stream().error()).isNull();
        }
        assertThat(right().completions().receiveStatuses()).containsExactly(CqeStatus.FLUSHED);
    }

    @Test
    void aCloseOfBothSidesAtOnceEndsWithoutError() {
        left().stream().close();
        right().stream().close();
        pair().run();

        assertThat(left().events().states()).containsExactly(StreamState.CLOSING, StreamState.CLOSED);
        assertThat(right().events().states()).containsExactly(StreamState.CLOSING, StreamState.CLOSED);
        assertThat(left().events().errors()).isEmpty();
        assertThat(right().events().errors()).isEmpty();
    }

    @Test
    @Requirement({"RDMAP-6.2.1-05", "DDP-6.2.2-01", "DDP-6.2.2-02"})
    void anAbortIsALossForBothSides() {
        right().receive(1).with(right().region(8)).post();
        left().read(2).with(left().region(8)).remote(right().region(8)).post();

        left().stream().abort();
        pair().run();

        assertThat(left().completions().sendStatuses()).containsExactly(CqeStatus.FLUSHED);
        assertThat(right().completions().receiveStatuses()).containsExactly(CqeStatus.FLUSHED);
        assertThat(left().stream().state()).isEqualTo(StreamState.CLOSED);
        assertThat(right().stream().state()).isEqualTo(StreamState.CLOSED);
        assertThat(right().stream().error().layer()).isEqualTo(2);
    }

    @Test
    @Requirement({"RDMAP-6.2.1-05", "DDP-6.2.2-01", "DDP-6.2.2-02", "DDP-3-03"})
    void aLossInTheMiddleOfEverythingFlushesEachRequestOnce() {
        MemoryRegion target = right().region(SIZE);
        MemoryRegion source = left().region(SIZE);
        for (int i = 0; i < 20; i++) {
            left().write(i).with(source).remote(target).post();
            left().read(100 + i).with(source, 0, 1).remote(target).post();
            right().receive(i).with(target).post();
        }
        for (int i = 0; i < 5; i++) {
            pair().link().turn(Side.LEFT);
            pair().link().turn(Side.RIGHT);
        }

        pair().link().lose("reset");
        pair().run();

        assertThat(left().completions().sends()).hasSize(40);
        assertThat(left().completions().sendIds()).doesNotHaveDuplicates();
        assertThat(left().completions().sendStatuses().getLast()).isEqualTo(CqeStatus.FLUSHED);
        assertThat(right().completions().receiveStatuses()).hasSize(20).containsOnly(CqeStatus.FLUSHED);
        assertThat(left().stream().error().layer()).isEqualTo(2);
    }

    @Test
    void aTerminateReachesThePeerBehindWhatWasSent() {
        MemoryRegion target = left().region(5000);
        byte[] data = pattern(5000, 7);
        right().write(1).with(right().memory().regionWith(data)).remote(target).post();
        left().write(1)
                .with(left().memory().regionWith(hex("00")))
                .remote(99, 0)
                .post();
        pair().link().turn(Side.RIGHT);

        pair().run();

        assertSame(target, data);
        assertErrorOnBothSides(1, 1, 0);
    }

    @Test
    @Requirement({"RDMAP-5.3-06", "RDMAP-3.2-03"})
    void anInvalidatedStagIsOfNoUseToThePeer() {
        MemoryRegion advertised = right().invalidatableRegion(100);
        right().receive(1).with(right().region(8)).post();
        left().send(1).invalidating(advertised.stag()).post();
        pair().run();
        assertThat(right().completions().receives())
                .extracting(Completion::invalidatedStag)
                .containsExactly(advertised.stag());

        left().write(2).with(left().region(1)).remote(advertised).post();
        pair().run();

        assertErrorOnBothSides(1, 1, 0);
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(Rights.class)
    @Requirement({"RDMAP-3.2-05", "RDMAP-8.1.1-05"})
    void aRegionGivesThePeerTheRightsItWasRegisteredWithAndNoOthers(Rights rights) {
        MemoryRegion region = right().memory().region(0x1000, 16, rights.access());

        left().write(1).with(left().region(16)).remote(region).post();
        left().send(2).post();
        right().receive(1).with(right().region(1)).post();
        pair().run();
        assertThat(right().stream().error() == null).isEqualTo(rights.write());

        connect();
        MemoryRegion again = right().memory().region(0x1000, 16, rights.access());
        left().read(1).with(left().region(16)).remote(again).post();
        pair().run();
        assertThat(left().completions().sendStatuses())
                .containsExactly(rights.read() ? CqeStatus.SUCCESS : CqeStatus.REMOTE_ACCESS_ERROR);
    }

    /** The four combinations of remote access. */
    enum Rights {
        NONE,
        READ,
        WRITE,
        READ_AND_WRITE;

        boolean read() {
            return this == READ || this == READ_AND_WRITE;
        }

        boolean write() {
            return this == WRITE || this == READ_AND_WRITE;
        }

        AccessRight[] access() {
            List<AccessRight> access = new ArrayList<>(List.of(AccessRight.LOCAL_WRITE));
            if (read()) {
                access.add(AccessRight.REMOTE_READ);
            }
            if (write()) {
                access.add(AccessRight.REMOTE_WRITE);
            }
            return access.toArray(AccessRight[]::new);
        }
    }
}
