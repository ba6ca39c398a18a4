// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.hex;
import static io.sidewarp.engine.testing.Octets.join;
import static io.sidewarp.engine.testing.Octets.pattern;
import static io.sidewarp.engine.testing.Ulpdus.readRequest;
import static io.sidewarp.engine.testing.Ulpdus.readRequestHeader;
import static io.sidewarp.engine.testing.Ulpdus.readResponse;
import static io.sidewarp.engine.testing.Ulpdus.readResponseMore;
import static io.sidewarp.engine.testing.Ulpdus.send;
import static io.sidewarp.engine.testing.Ulpdus.sendLast;
import static io.sidewarp.engine.testing.Ulpdus.sendMore;
import static io.sidewarp.engine.testing.Ulpdus.untagged;
import static io.sidewarp.engine.testing.Ulpdus.write;
import static io.sidewarp.engine.testing.Ulpdus.writeMore;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.LoneStream;
import io.sidewarp.engine.testing.Segment;
import io.sidewarp.engine.testing.TestMemory;
import io.sidewarp.engine.verbs.CqeStatus;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests regions that are revoked while work uses them. */
class RevocationTest {

    private static final int REMOTE = 0x0A0B0C0D;
    private static final int SINK = 0x51A65A61;
    private static final int PART = 1010;
    private static final String LOCAL_CATASTROPHIC = "00 00 00 00";

    @AutoClose
    private final LoneStream stream = new LoneStream();

    private final byte[] data = pattern(5000, 1);
    private final MemoryRegion region = stream.memory().regionWith(data);

    /** Ways in which a region becomes unusable. */
    enum Way {
        INVALIDATED,
        DEREGISTERED,
        FAULTED;

        void apply(LoneStream stream, MemoryRegion region) {
            switch (this) {
                case INVALIDATED -> region.invalidate();
                case DEREGISTERED -> stream.memory().deregister(region);
                case FAULTED -> region.markFaulted();
            }
        }

        /** Status of the work that cannot be carried out then. */
        CqeStatus status() {
            return this == FAULTED ? CqeStatus.REGION_FAULT : CqeStatus.LOCAL_PROTECTION_ERROR;
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    @Requirement({"RDMAP-7.1-02", "RDMAP-4.8-04", "RDMAP-7.1-01"})
    void aWriteWhoseSourceGoesIsCutOffByATerminateWithoutHeaders(Way way) {
        stream.wire().room(2);
        stream.endpoint().write(1).with(region).remote(REMOTE, 0).post();
        stream.endpoint().send(2).post();
        stream.wire().output();

        way.apply(stream, region);

        List<Segment> segments = stream.output();
        assertThat(segments).extracting(Segment::opcode).containsExactly(0, 0, 7);
        assertThat(segments.get(2).payload()).isEqualTo(hex(LOCAL_CATASTROPHIC));
        assertThat(stream.completions().sendStatuses()).containsExactly(way.status(), CqeStatus.FLUSHED);
        assertThat(stream.wire().closing()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    @Requirement("RDMAP-7.1-02")
    void workWhoseSourceWentBeforeItBeganIsReplacedByATerminate(Way way) {
        stream.endpoint().send(1).post();
        stream.endpoint()
                .send(2)
                .with(stream.region(8))
                .with(region, 0, 1)
                .solicited()
                .post();

        way.apply(stream, region);

        assertThat(stream.output()).extracting(Segment::opcode).containsExactly(3, 7);
        assertThat(stream.completions().sendIds()).containsExactly(1L, 2L);
        assertThat(stream.completions().sendStatuses().getLast()).isEqualTo(way.status());
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void aReadWhoseSinkWentBeforeItBeganIsNotRequested(Way way) {
        stream.endpoint().read(1).with(region).remote(REMOTE, 0).post();

        way.apply(stream, region);

        assertThat(stream.output()).extracting(Segment::opcode).containsExactly(7);
        assertThat(stream.completions().sendStatuses()).containsExactly(way.status());
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"INVALIDATED", "DEREGISTERED"})
    @Requirement({"RDMAP-4.8-11", "RDMAP-7.1-04", "RDMAP-4.8-08"})
    void aResponseWhoseSourceGoesIsCutOffByATerminateWithTheAdvancedRequest(Way way) {
        stream.wire().mulpdu(1024 + 14).room(2);
        byte[] request = readRequest(1, SINK, 0x1_0000_0000L, 4500, region.stag(), 300);
        stream.input(request);
        stream.wire().output();

        way.apply(stream, region);

        List<Segment> segments = stream.output();
        assertThat(segments).extracting(Segment::opcode).containsExactly(2, 2, 7);
        assertThat(segments.get(2).payload())
                .isEqualTo(join(
                        hex("01 00 E0 00 002E"),
                        Arrays.copyOf(request, 18),
                        readRequestHeader(SINK, 0x1_0000_0000L + 2048, 4500 - 2048, region.stag(), 300 + 2048)));
    }

    @Test
    @Requirement({"RDMAP-8.1.1-05", "RDMAP-4.8-11", "RDMAP-7.1-04"})
    void aResponseWhoseSourceIsEnabledWithAnotherKeyIsCutOffAsWell() {
        MemoryRegion own = stream.endpoint().readableRegion(4500);
        int before = own.stag();
        stream.wire().mulpdu(1024 + 14).room(2);
        byte[] request = readRequest(1, SINK, 0, 4500, before, 0);
        stream.input(request);
        stream.wire().output();

        stream.endpoint().invalidate(1, own).post();
        stream.endpoint().enable(2, own, before + 1 & 0xFF).post();

        assertThat(own.isValid()).isTrue();
        List<Segment> segments = stream.output();
        assertThat(segments).extracting(Segment::opcode).containsExactly(2, 2, 7);
        assertThat(segments.get(2).payload())
                .isEqualTo(join(
                        hex("01 00 E0 00 002E"),
                        Arrays.copyOf(request, 18),
                        readRequestHeader(SINK, 2048, 4500 - 2048, before, 2048)));
    }

    @Test
    @Requirement({"RDMAP-4.8-11", "RDMAP-5.2.1-07"})
    void aResponseWhoseSourceGoesBeforeItBeganIsRefusedWithTheOriginalRequest() {
        stream.wire().room(0);
        byte[] request = readRequest(1, SINK, 7, 100, region.stag(), 0);
        stream.input(request);
        stream.wire().output();
        region.invalidate();

        stream.wire().room(Integer.MAX_VALUE);

        assertThat(stream.onlyOutput().payload()).isEqualTo(join(hex("01 00 E0 00 002E"), request));
    }

    @Test
    @Requirement({"RDMAP-4.8-04", "RDMAP-4.8-11"})
    void aResponseWhoseMemoryFailsIsALocalCatastrophe() {
        stream.wire().room(2);
        stream.input(readRequest(1, SINK, 0, 5000, region.stag(), 0));
        stream.wire().output();

        region.markFaulted();

        List<Segment> segments = stream.output();
        assertThat(segments).extracting(Segment::opcode).containsExactly(2, 2, 7);
        assertThat(segments.get(2).payload()).isEqualTo(hex(LOCAL_CATASTROPHIC));
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    @Requirement("RDMAP-7.1-01")
    void theReceiveWhoseMemoryGoesGetsTheBlame(Way way) {
        stream.endpoint().receive(1).with(region, 0, 100).post();
        stream.endpoint().receive(2).with(stream.region(8)).post();
        stream.input(sendMore(1, 0, pattern(10, 2)));
        byte[] before = TestMemory.get(region);
        MemoryRegion guard = stream.memory().regionWith(before);
        way.apply(stream, region);

        stream.input(sendLast(1, 10, pattern(10, 3)));

        assertThat(stream.completions().receiveIds()).containsExactly(1L, 2L);
        assertThat(stream.completions().receiveStatuses()).containsExactly(way.status(), CqeStatus.FLUSHED);
        assertThat(stream.onlyOutput().payload()).isEqualTo(hex(LOCAL_CATASTROPHIC));
        if (way != Way.DEREGISTERED) {
            assertThat(TestMemory.get(region)).isEqualTo(TestMemory.get(guard));
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    @Requirement("RDMAP-7.1-01")
    void theReadWhoseSinkGoesGetsTheBlame(Way way) {
        stream.endpoint().read(1).with(region, 0, 100).remote(REMOTE, 0).post();
        stream.endpoint().send(2).post();
        stream.output();
        stream.input(readResponseMore(region.stag(), 0, pattern(10, 2)));
        way.apply(stream, region);

        stream.input(readResponse(region.stag(), 10, pattern(90, 2)));

        assertThat(stream.completions().sendIds()).containsExactly(1L, 2L);
        assertThat(stream.completions().sendStatuses()).containsExactly(way.status(), CqeStatus.FLUSHED);
        assertThat(stream.onlyOutput().payload()).startsWith(hex("11 00 C0 00"));
    }

    @Test
    void aReadIsNotToBlameForTheStagOfAWrite() {
        stream.endpoint().read(1).with(region, 0, 100).remote(REMOTE, 0).post();
        stream.output();
        region.invalidate();

        stream.input(write(region.stag(), 0, hex("01")));

        assertThat(stream.completions().sendStatuses()).containsExactly(CqeStatus.FLUSHED);
    }

    @Test
    void aReceiveIsNotToBlameForARequestThatIsTooLong() {
        stream.endpoint().receive(1).with(region, 0, 100).post();

        stream.input(untagged(0x41, 0x41, 0, 1, 1, 0, new byte[40]));

        assertThat(stream.completions().receiveStatuses()).containsExactly(CqeStatus.FLUSHED);
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    @Requirement({"RDMAP-8.1.1-06", "RDMAP-8.1.1-04", "DDP-8.3.1-01", "DDP-8.3-01"})
    void onceRevokedARegionIsNotWrittenToByTheRestOfAWrite(Way way) {
        stream.input(writeMore(region.stag(), 0, pattern(100, 5)));
        byte[] before = TestMemory.get(region);
        MemoryRegion copy = stream.memory().regionWith(before);
        way.apply(stream, region);

        stream.input(write(region.stag(), 100, pattern(100, 6)));

        assertThat(stream.onlyOutput().payload()).startsWith(hex("11 00 C0 00"));
        if (way != Way.DEREGISTERED) {
            assertThat(TestMemory.get(region)).isEqualTo(TestMemory.get(copy));
        }
    }

    @Test
    void anEmptySendNeedsNoMemory() {
        stream.endpoint().receive(1).with(region, 0, 100).post();
        region.invalidate();

        stream.input(send(1, new byte[0]));

        assertThat(stream.completions().receiveStatuses()).containsExactly(CqeStatus.SUCCESS);
    }

    @Test
    void aRevokedRegionHarmsNoWorkThatDoesNotUseIt() {
        MemoryRegion other = stream.memory().regionWith(Arrays.copyOf(data, PART));
        stream.memory().deregister(region);
        stream.endpoint().write(1).with(other).remote(REMOTE, 0).post();
        stream.endpoint().receive(2).with(other, 0, 10).post();

        assertThat(stream.onlyOutput().payload()).isEqualTo(Arrays.copyOf(data, PART));
        stream.input(send(1, hex("0102")));
        assertThat(stream.completions().receiveStatuses()).containsExactly(CqeStatus.SUCCESS);
    }
}
