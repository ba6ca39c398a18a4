// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HelloTest {

    @Test
    void helloHasDocumentedLayout() {
        byte[] hello = new Hello(Service.COPY, (byte) 0xAB, (byte) 0xCD).encode();
        assertThat(HexFormat.of().formatHex(hello)).isEqualTo("5357434c" + "01" + "04" + "0000" + "abcd");
    }

    @Test
    void decodeReturnsEncodedHello() {
        Hello hello =
                Hello.decode(new Hello(Service.PERF_DATA, (byte) 7).encode()).orElseThrow();
        assertThat(hello.service()).isEqualTo(Service.PERF_DATA);
        assertThat(hello.parameters().remaining()).isEqualTo(1);
        assertThat(hello.parameters().get()).isEqualTo((byte) 7);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "5357434c010100", "5357434d01010000", "5357434c02010000", "5357434c01ff0000"})
    void decodeRejectsOtherPrivateData(String hex) {
        assertThat(Hello.decode(HexFormat.of().parseHex(hex))).isEmpty();
    }

    @Test
    void refusalCarriesPrintableReason() {
        byte[] refusal = Hello.refusal("no ☕\u001b\u009b here");
        assertThat(Hello.decode(refusal)).isEmpty();
        assertThat(Hello.decodeRefusal(refusal)).isEqualTo(Optional.of("no ☕?? here"));
        assertThat(Hello.decodeRefusal(new Hello(Service.PING).encode())).isEmpty();
        assertThat(Hello.decodeRefusal(new byte[0])).isEmpty();
    }

    @Test
    void refusalFitsThePrivateDataOfAnyPeer() {
        assertThat(Hello.refusal("x".repeat(1000))).hasSizeLessThanOrEqualTo(256);
    }
}
