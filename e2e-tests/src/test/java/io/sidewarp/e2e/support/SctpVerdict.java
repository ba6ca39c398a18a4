// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;

/** Checks with tshark recorded associations that carry DDP and have ended in order. */
public final class SctpVerdict {

    private SctpVerdict() {}

    /** Nothing is malformed or aborted, each CRC32c is right, and both sides keep to RFC 5043. */
    public static void assertSound(Capture capture) {
        assertThat(values(capture, "sctp.chunk_type == 1 || sctp.chunk_type == 2", "sctp.adaptation_layer_indication"))
                .as("in each INIT and INIT-ACK")
                .hasSameSizeAs(capture.fields("sctp.chunk_type == 1 || sctp.chunk_type == 2", "frame.number"))
                .containsOnly("0x00000001");
        // IPv4, IPv6 and host name of an INIT: an endpoint has one address, which a NAT may change.
        assertThat(values(capture, "sctp.chunk_type == 1 || sctp.chunk_type == 2", "sctp.parameter_type"))
                .doesNotContain("0x0005", "0x0006", "0x000b");
        assertThat(values(capture, "sctp.chunk_type == 0", "sctp.data_payload_proto_id"))
                .containsOnly("16", "17");
        for (String flag : List.of("sctp.data_u_bit", "sctp.data_b_bit", "sctp.data_e_bit")) {
            assertThat(values(capture, "sctp.chunk_type == 0", flag)).as(flag).containsOnly("True");
        }
        assertThat(capture.fields("_ws.malformed", "frame.number")).isEmpty();
        assertThat(values(capture, "sctp", "sctp.checksum.status"))
                .as("good, and not just unverified")
                .containsOnly("1");
        assertThat(capture.fields("sctp.chunk_length.bad || sctp.parameter_length.bad", "frame.number"))
                .isEmpty();
        assertThat(capture.fields("udp && !sctp", "frame.number")).isEmpty();
        assertThat(capture.fields("sctp.chunk_type == 6", "frame.number"))
                .as("nothing was aborted")
                .isEmpty();
    }

    /** Returns each value of a field. A packet may have several values. */
    public static List<String> values(Capture capture, String filter, String field) {
        return capture.fields(filter, field).stream()
                .flatMap(line -> Stream.of(line.split(",")))
                .filter(value -> !value.isEmpty())
                .map(value -> value.equals("1") && field.endsWith("_bit") ? "True" : value)
                .toList();
    }
}
