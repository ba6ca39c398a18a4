// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.hex;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.testing.Octets;
import io.sidewarp.engine.verbs.RdmapError;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RdmapHeadersTest {

    @ParameterizedTest(name = "opcode {0} is {1}")
    @Requirement({"RDMAP-4.1-01", "RDMAP-4.1-04"})
    @CsvSource({
        "RDMA Write, 0, 40",
        "RDMA Read Request, 1, 41",
        "RDMA Read Response, 2, 42",
        "Send, 3, 43",
        "Send with Invalidate, 4, 44",
        "Send with SE, 5, 45",
        "Send with SE and Invalidate, 6, 46",
        "Terminate, 7, 47"
    })
    void theControlOctetIsVersionReservedBitsAndOpcode(String name, int opcode, String control) {
        assertThat(RdmapControl.of(1, opcode)).isEqualTo(Integer.parseInt(control, 16));
        assertThat(RdmapControl.of(0, opcode)).isEqualTo(opcode);
    }

    @ParameterizedTest
    @CsvSource({"C0, 3, 0", "73, 1, 3", "0F, 0, 15", "BA, 2, 10"})
    void versionAndOpcodeAreReadWithoutTheReservedBits(String control, int version, int opcode) {
        int octet = Integer.parseInt(control, 16);

        assertThat(RdmapControl.version(octet)).isEqualTo(version);
        assertThat(RdmapControl.opcode(octet)).isEqualTo(opcode);
    }

    @Test
    @Requirement({"RDMAP-4.1-05", "RDMAP-4.1-06"})
    void eachOpcodeHasItsBufferModelAndQueueNumber() {
        assertThat(List.of(0, 2)).allMatch(RdmapControl::isTagged);
        assertThat(List.of(1, 3, 4, 5, 6, 7)).noneMatch(RdmapControl::isTagged);
        assertThat(List.of(3, 4, 5, 6)).allMatch(opcode -> RdmapControl.queueOf(opcode) == 0);
        assertThat(RdmapControl.queueOf(1)).isEqualTo(1);
        assertThat(RdmapControl.queueOf(7)).isEqualTo(2);
    }

    @Test
    void theSendTypesAreToldApartByTwoProperties() {
        for (boolean solicited : new boolean[] {false, true}) {
            for (boolean invalidate : new boolean[] {false, true}) {
                int opcode = RdmapControl.sendOpcode(solicited, invalidate);

                assertThat(RdmapControl.isSolicited(opcode)).isEqualTo(solicited);
                assertThat(RdmapControl.invalidates(opcode)).isEqualTo(invalidate);
            }
        }
    }

    @Test
    @Requirement("RDMAP-4.4-01")
    void aReadRequestHeaderIsSinkStagSinkOffsetSizeSourceStagAndSourceOffset() {
        WireBuffer buffer = WireBuffer.copyOf(hex("FF".repeat(32)));

        new ReadRequestFlyweight(buffer, 2)
                .set(0x01020304, 0x05060708_090A0B0CL, 0xF0E0D0C0L, 0x0D0E0F10, 0x1112131415161718L);

        assertThat(Octets.of(buffer, 0, 32))
                .isEqualTo(hex(
                        "FFFF", "01020304", "05060708090A0B0C", "F0E0D0C0", "0D0E0F10", "1112131415161718", "FFFF"));
        assertThat(ReadRequestFlyweight.LENGTH).isEqualTo(28);
    }

    @Test
    void aReadRequestHeaderIsReadAsItIsWritten() {
        ReadRequestFlyweight header = new ReadRequestFlyweight(
                WireBuffer.copyOf(
                        hex("00", "FFFFFFFE", "8000000000000001", "FFFFFFFF", "00000007", "FFFFFFFFFFFFFFF0")),
                1);

        assertThat(header.sinkStag()).isEqualTo(-2);
        assertThat(header.sinkTo()).isEqualTo(0x8000_0000_0000_0001L);
        assertThat(header.rdmaRdSz()).isEqualTo(0xFFFF_FFFFL);
        assertThat(header.srcStag()).isEqualTo(7);
        assertThat(header.srcTo()).isEqualTo(-16L);
    }

    @Test
    @Requirement("EXT-5.2.1-01")
    void anAtomicRequestHeaderHas52OctetsInTheOrderOfTheRfc() {
        WireBuffer buffer = WireBuffer.copyOf(hex("FF".repeat(54)));

        new AtomicRequestFlyweight(buffer)
                .set(AtomicRequestFlyweight.CMP_SWAP, 0x01020304, 0x05060708, 0x090A0B0C_0D0E0F10L)
                .operands(0x1112131415161718L, 0x191A1B1C1D1E1F20L, 0x2122232425262728L, 0x292A2B2C2D2E2F30L);

        assertThat(Octets.of(buffer, 0, 54))
                .isEqualTo(hex(
                        "00000002",
                        "01020304",
                        "05060708",
                        "090A0B0C0D0E0F10",
                        "1112131415161718",
                        "191A1B1C1D1E1F20",
                        "2122232425262728",
                        "292A2B2C2D2E2F30",
                        "FFFF"));
        assertThat(AtomicRequestFlyweight.LENGTH).isEqualTo(52);
    }

    @Test
    @Requirement("EXT-5.2.1-01")
    void anAtomicRequestHeaderIsReadAsItIsWrittenWithoutItsReservedBits() {
        AtomicRequestFlyweight header = new AtomicRequestFlyweight(WireBuffer.copyOf(hex(
                "FFFFFFF2",
                "FFFFFFFE",
                "80000001",
                "FFFFFFFFFFFFFFF0",
                "1112131415161718",
                "191A1B1C1D1E1F20",
                "2122232425262728",
                "292A2B2C2D2E2F30")));

        assertThat(header.aOpCode()).isEqualTo(AtomicRequestFlyweight.CMP_SWAP);
        assertThat(header.requestIdentifier()).isEqualTo(-2);
        assertThat(header.remoteStag()).isEqualTo(0x80000001);
        assertThat(header.remoteTo()).isEqualTo(-16L);
        assertThat(header.addSwapData()).isEqualTo(0x1112131415161718L);
        assertThat(header.addSwapMask()).isEqualTo(0x191A1B1C1D1E1F20L);
        assertThat(header.compareData()).isEqualTo(0x2122232425262728L);
        assertThat(header.compareMask()).isEqualTo(0x292A2B2C2D2E2F30L);
    }

    @Test
    @Requirement("EXT-5.2.2-01")
    void anAtomicResponseHeaderIsIdentifierAndValue() {
        WireBuffer buffer = WireBuffer.copyOf(hex("FF".repeat(14)));
        AtomicResponseFlyweight header = new AtomicResponseFlyweight(buffer);

        header.set(0x01020304, 0x1112131415161718L);

        assertThat(Octets.of(buffer, 0, 14)).isEqualTo(hex("01020304", "1112131415161718", "FFFF"));
        assertThat(header.originalRequestIdentifier()).isEqualTo(0x01020304);
        assertThat(header.originalRemoteDataValue()).isEqualTo(0x1112131415161718L);
        assertThat(AtomicResponseFlyweight.LENGTH).isEqualTo(12);
    }

    @Test
    @Requirement({"RDMAP-4.8-01", "RDMAP-4.8-02"})
    void aTerminateHeaderIsLayerTypeCodeAndFlagsWithReservedBitsZero() {
        WireBuffer buffer = WireBuffer.copyOf(hex("FFFFFFFF"));

        new TerminateFlyweight(buffer).set(1, 2, 5, TerminateFlyweight.M_FLAG | TerminateFlyweight.D_FLAG);

        assertThat(Octets.of(buffer, 0, 4)).isEqualTo(hex("12 05 C0 00"));
    }

    @ParameterizedTest(name = "{0}: layer {1}, type {2}, code {3}, flags {4}")
    @CsvSource({
        "12 05 C0 00, 1, 2, 5, C0",
        "01 01 E0 00, 0, 1, 1, E0",
        "20 02 00 00, 2, 0, 2, 0",
        "FF FF 00 00, 15, 15, 255, 0",
        "02 07 C0 00, 0, 2, 7, C0",
        "00 00 00 00, 0, 0, 0, 0"
    })
    void aTerminateHeaderIsReadAsTheRfcLaysItOut(String octets, int layer, int type, int code, String flags) {
        assertTerminate(octets, layer, type, code, Integer.parseInt(flags, 16));
    }

    @ParameterizedTest(name = "{0}")
    @Requirement("RDMAP-4.8-02")
    @CsvSource({
        "12 05 DF FF, 1, 2, 5, C0",
        "20 02 1F FF, 2, 0, 2, 0",
        "02 06 1F FF, 0, 2, 6, 0",
        "01 00 FF FF, 0, 1, 0, E0",
        "12 03 07 01, 1, 2, 3, 0",
        "12 03 01 00, 1, 2, 3, 0",
        "12 03 10 00, 1, 2, 3, 0"
    })
    void reservedBitsOfATerminateAreIgnored(String octets, int layer, int type, int code, String flags) {
        assertTerminate(octets, layer, type, code, Integer.parseInt(flags, 16));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "11 00 03 00, 1, 1, 0, C0",
        "21 02 03 00, 1, 2, 2, C0",
        "10 01 07 00, 0, 1, 1, E0",
        "02 02 00 00, 2, 0, 2, 0",
        "02 04 00 00, 2, 0, 4, 0"
    })
    void aTerminateHeaderOfLinuxSiwIsReadTheOtherWayRound(String octets, int layer, int type, int code, String flags) {
        assertTerminate(octets, layer, type, code, Integer.parseInt(flags, 16));
    }

    private static void assertTerminate(String octets, int layer, int type, int code, int flags) {
        TerminateFlyweight header = new TerminateFlyweight(WireBuffer.copyOf(hex(octets)));

        assertThat(header.layer()).isEqualTo(layer);
        assertThat(header.type()).isEqualTo(type);
        assertThat(header.code()).isEqualTo(code);
        assertThat(header.hdrCt()).isEqualTo(flags);
    }

    @Test
    @Requirement({"RDMAP-4.8-05", "RDMAP-4.8-06"})
    void errorsHaveExactlyTheNumbersOfTheRfc() {
        assertThat(Arrays.stream(RdmapError.values())
                        .map(error ->
                                "%d/%d/%02x %s".formatted(error.layer(), error.type(), error.code(), error.name())))
                .containsExactly(
                        "0/0/00 LOCAL_CATASTROPHIC",
                        "0/1/00 INVALID_STAG",
                        "0/1/01 BASE_OR_BOUNDS",
                        "0/1/02 ACCESS_RIGHTS",
                        "0/1/03 STAG_NOT_ASSOCIATED",
                        "0/1/04 TO_WRAP",
                        "0/1/09 PROTECTED_STAG_NOT_INVALIDATED",
                        "0/2/05 INVALID_VERSION",
                        "0/2/06 UNEXPECTED_OPCODE",
                        "0/2/07 CATASTROPHIC_STREAM",
                        "0/2/08 CATASTROPHIC_GLOBAL",
                        "0/2/09 STAG_NOT_INVALIDATED",
                        "0/2/ff UNSPECIFIED_OPERATION");
    }
}
