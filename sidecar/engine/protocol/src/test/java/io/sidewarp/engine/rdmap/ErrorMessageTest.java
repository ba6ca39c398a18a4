// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.hex;
import static io.sidewarp.engine.testing.Octets.pattern;
import static io.sidewarp.engine.testing.Ulpdus.readRequest;
import static io.sidewarp.engine.testing.Ulpdus.send;
import static io.sidewarp.engine.testing.Ulpdus.sendInvalidate;
import static io.sidewarp.engine.testing.Ulpdus.tagged;
import static io.sidewarp.engine.testing.Ulpdus.untagged;
import static io.sidewarp.engine.testing.Ulpdus.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.EndpointOptions;
import io.sidewarp.engine.testing.LoneStream;
import io.sidewarp.engine.verbs.LlpError;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the messages for people at the end of a stream. */
class ErrorMessageTest {

    @AutoClose
    private final LoneStream stream = new LoneStream();

    private String message() {
        return stream.events().messages().getFirst();
    }

    static Stream<Arguments> attempts() {
        return Stream.of(
                Arguments.of(
                        write(0x01020304, 0xF000_0000_0000_0005L, pattern(6, 1)),
                        "RDMA Write of 6 bytes to STag 0x01020304, tagged offset 0xf000000000000005"),
                Arguments.of(
                        readRequest(1, 1, 2, 4_000_000_000L, 0xA0000001, 0x99),
                        "RDMA Read Request for 4000000000 bytes of STag 0xa0000001, tagged offset 0x99"),
                Arguments.of(
                        tagged(0xC1, 0x42, 7, 8, hex("01")),
                        "RDMA Read Response of 1 bytes to STag 0x00000007, tagged offset 0x8"),
                Arguments.of(send(-1, pattern(3, 1)), "Send of 3 bytes on queue 0, MSN 4294967295, message offset 0"),
                Arguments.of(
                        sendInvalidate(1, 0x0BADCAFE),
                        "Send with Invalidate of STag 0x0badcafe of 0 bytes on queue 0, MSN 1, message offset 0"),
                Arguments.of(
                        untagged(0x41, 0x46, 5, 9, 1, 0xFFFF_FFFFL, hex("")),
                        "Send with SE and Invalidate of STag 0x00000005 of 0 bytes on queue 9, MSN 1, message offset "
                                + "4294967295"),
                Arguments.of(untagged(0x41, 0x45, 0, 0, 1, 0, hex("")), "Send with SE of 0 bytes on queue 0"),
                Arguments.of(untagged(0x41, 0x41, 0, 1, 1, 0, hex("01")), "RDMA Read Request of 1 bytes on queue 1"),
                Arguments.of(untagged(0x41, 0x47, 0, 2, 9, 0, hex("")), "Terminate of 0 bytes on queue 2, MSN 9"),
                Arguments.of(untagged(0x41, 0x4C, 0, 0, 1, 0, hex("")), "message with opcode 0xc of 0 bytes"),
                Arguments.of(untagged(0x41, 0x4B, 0, 0, 1, 0, hex("")), "Atomic Response of 0 bytes on queue 0"),
                Arguments.of(untagged(0x41, 0x48, 0, 0, 1, 0, hex("01")), "Immediate Data of 1 bytes on queue 0"),
                Arguments.of(hex("41 43"), "a segment of 2 bytes, which is shorter than its header"),
                Arguments.of(hex(""), "a segment of 0 bytes, which is shorter than its header"));
    }

    @ParameterizedTest(name = "{1}")
    @MethodSource("attempts")
    @Requirement("DDP-8.3-03")
    void anAttemptThatIsRefusedIsDescribed(byte[] segment, String description) {
        stream.input(segment);

        assertThat(message()).startsWith("terminated by this side: ").contains(description);
    }

    @Test
    void aRegionThatWentIsNamed() {
        MemoryRegion region = stream.region(16);
        stream.endpoint().send(1).with(region).post();
        region.invalidate();
        stream.output();

        assertThat(message()).contains("0x%08x".formatted(region.stag())).contains("not usable any more");
    }

    @Test
    void aReceiveWhoseRegionWentIsNamed() {
        MemoryRegion region = stream.region(16);
        stream.endpoint().receive(1).with(region).post();
        region.invalidate();
        stream.input(send(1, hex("01")));

        assertThat(message()).contains("0x%08x".formatted(region.stag())).contains("not usable any more");
    }

    @Test
    void aSourceOfThePeersReadThatWentIsNamed() {
        MemoryRegion region = stream.region(16);
        stream.wire().room(0);
        stream.input(readRequest(1, 1, 0, 16, region.stag(), 0));
        region.invalidate();
        stream.wire().room(1);
        stream.output();

        assertThat(message()).contains("0x%08x".formatted(region.stag())).contains("not usable any more");
    }

    @Test
    void rightThatAValidStagLacksIsNamed() {
        MemoryRegion region = stream.endpoint().readableRegion(16);

        stream.input(write(region.stag(), region.baseTaggedOffset(), pattern(6, 1)));

        assertThat(message()).contains("Invalid STag").endsWith("; the region was registered without REMOTE_WRITE");
    }

    @Test
    void rightThatAReadLacksIsNamed() {
        MemoryRegion region = stream.endpoint().invalidatableRegion(16);

        stream.input(readRequest(1, 1, 2, 4, region.stag(), 0));

        assertThat(message())
                .contains("Access rights violation")
                .endsWith("; the region was registered without REMOTE_READ");
    }

    @Test
    void sendWithoutReceiveIsNamed() {
        stream.input(send(1, pattern(3, 1)));

        assertThat(message()).endsWith("; no receive is posted for it");
    }

    @Test
    void aRequestBeyondIrdIsNamedAsOne() {
        MemoryRegion region = stream.region(16);
        stream.wire().room(0);
        for (int msn = 1; msn <= EndpointOptions.defaults().ird() + 1; msn++) {
            stream.input(readRequest(msn, 1, 0, 16, region.stag(), 0));
        }

        assertThat(message())
                .contains("RDMA Read Request of 28 bytes on queue 1")
                .endsWith("this side's ird of 4 permits at a time: raise ird here, or lower the peer's ord");
    }

    @Test
    void thatThePeerClosedTooEarlyIsTold() {
        MemoryRegion region = stream.region(16);
        stream.endpoint().read(1).with(region).remote(7, 0).post();
        stream.output();

        stream.wire().peerClosed();

        assertThat(stream.events().messages().getLast())
                .isEqualTo(
                        "terminated by this side: connection closed, terminated or lost (layer 0x2, type 0x0, code 0x01,"
                                + " found here): the peer closed in the middle of a message or before an answer");
    }

    @Test
    void anErrorOfTheLowerLayerSpeaksForItself() {
        stream.wire().error(LlpError.CRC_MISMATCH);

        assertThat(message())
                .isEqualTo("terminated by this side: MPA CRC error (layer 0x2, type 0x0, code 0x02, found here)");
    }
}
