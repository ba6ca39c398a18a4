// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.WireBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Decodes a capture of Linux soft-iWARP, which starts up with MPA revision 2 and 4 bytes of Private Data. */
class SiwCaptureTest {

    private static final int START_UP = MpaFrameFlyweight.HEADER_LENGTH + 4;

    @ParameterizedTest(name = "{0} from port {1}")
    @CsvSource({
        "rping-crc1.pcap,           43027, true,  34 78 34 34 78 34",
        "rping-crc1.pcap,           7174,  true,  46 34 78 34 46 34 78 34",
        "rping-crc0.pcap,           55523, false, 34 78 34 34 78 34",
        "rping-crc0.pcap,           7174,  false, 46 34 78 34 46 34 78 34",
        "rping-crc1-4k.pcap,        41322, true,  34 1442 1442 1159 34 34 1442 1442 1159 34",
        "rping-crc1-4k.pcap,        7174,  true,  46 34 1442 1442 1159 34 46 34 1442 1442 1159 34",
        "rping-terminate-crc1.pcap, 48390, true,  34 114",
        "rping-terminate-crc1.pcap, 7174,  true,  46 38"
    })
    @Requirement({"MPA-4.1-01", "MPA-4.4-07", "MPA-4.1-03"})
    void findsTheUlpdus(String capture, int port, boolean crc, String lengths) {
        byte[] stream = Capture.streams(capture).get(port);
        byte[] fpdus = Arrays.copyOfRange(stream, START_UP, stream.length);

        List<byte[]> whole = ulpdus(fpdus, crc, fpdus.length);

        assertThat(whole.stream().map(ulpdu -> ulpdu.length).toList())
                .isEqualTo(
                        Arrays.stream(lengths.split(" ")).map(Integer::valueOf).toList());
        assertThat(ulpdus(fpdus, crc, 1)).containsExactly(whole.toArray(byte[][]::new));
        assertThat(ulpdus(fpdus, crc, 7)).containsExactly(whole.toArray(byte[][]::new));
    }

    @ParameterizedTest(name = "{0} from port {1}")
    @CsvSource({"rping-crc1.pcap, 43027", "rping-crc1-4k.pcap, 7174"})
    @Requirement({"MPA-4.1-01", "MPA-4.1-02", "MPA-4.4-07"})
    void framesTheSameUlpdusToTheSameOctets(String capture, int port) {
        byte[] stream = Capture.streams(capture).get(port);
        byte[] fpdus = Arrays.copyOfRange(stream, START_UP, stream.length);
        FpduWriter writer = new FpduWriter(true, false, 0);
        WireBuffer buffer = WireBuffer.allocate(fpdus.length);
        int at = 0;

        for (byte[] ulpdu : ulpdus(fpdus, true, fpdus.length)) {
            buffer.putBytes(at + writer.ulpduOffset(), ulpdu, 0, ulpdu.length);
            at += writer.write(buffer, at, ulpdu.length);
        }

        byte[] written = new byte[at];
        buffer.getBytes(0, written, 0, at);
        assertThat(written).isEqualTo(fpdus);
    }

    @Test
    @Requirement("MPA-7.1.1-01")
    void readsTheStartUpFrames() {
        Map<Integer, byte[]> streams = Capture.streams("rping-crc1.pcap");
        MpaFrameFlyweight request = new MpaFrameFlyweight().wrap(WireBuffer.copyOf(streams.get(43027)), 0);
        MpaFrameFlyweight reply = new MpaFrameFlyweight().wrap(WireBuffer.copyOf(streams.get(7174)), 0);

        assertThat(request.isRequestKey(MpaFrameFlyweight.KEY_LENGTH)).isTrue();
        assertThat(reply.isReplyKey(MpaFrameFlyweight.KEY_LENGTH)).isTrue();
        for (MpaFrameFlyweight frame : List.of(request, reply)) {
            assertThat(frame.m()).isFalse();
            assertThat(frame.c()).isTrue();
            assertThat(frame.r()).isFalse();
            assertThat(frame.s()).isTrue();
            assertThat(frame.res()).isZero();
            assertThat(frame.rev()).isEqualTo(2);
            assertThat(frame.privateData(0)).containsExactly(0, 1, 0, 1);
        }
    }

    @Test
    @Requirement({"MPA-7.1.2-05", "MPA-5.1-02"})
    void aResponderServesTheWholeSessionOfSiw() {
        byte[] stream = Capture.streams("rping-crc1-4k.pcap").get(41322);
        Endpoint endpoint = Endpoint.responder(MpaOptions.defaults());

        endpoint.input(Arrays.copyOf(stream, START_UP));
        byte[] reply = endpoint.output();
        endpoint.input(Arrays.copyOfRange(stream, START_UP, stream.length));
        endpoint.mpa.receiveEnd();

        assertThat(reply).hasSizeGreaterThanOrEqualTo(MpaFrameFlyweight.HEADER_LENGTH);
        assertThat(endpoint.established.getFirst().crc()).isTrue();
        assertThat(endpoint.upper.ulpdus).hasSize(10);
        assertThat(endpoint.upperEvents()).containsExactly("peerClosed");
    }

    private static List<byte[]> ulpdus(byte[] stream, boolean crc, int piece) {
        FakeTransport transport = new FakeTransport();
        RecordingUpper upper = new RecordingUpper(null);
        FpduReader reader = new FpduReader(transport, upper, crc, false, 0);
        WireBuffer in = WireBuffer.copyOf(stream);
        for (int at = 0; at < stream.length; at += piece) {
            assertThat(reader.receive(in, at, Math.min(piece, stream.length - at), false))
                    .isNull();
        }
        assertThat(reader.insideFpdu()).isFalse();
        assertThat(transport.buffersOut).isZero();
        return upper.ulpdus;
    }
}
