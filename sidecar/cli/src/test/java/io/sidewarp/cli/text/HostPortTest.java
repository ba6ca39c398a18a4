// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HostPortTest {

    @Test
    void readsNamesAndAddresses() {
        assertThat(HostPort.parse("peer.example:7471", false)).isEqualTo(new HostPort("peer.example", 7471));
        assertThat(HostPort.parse("10.0.0.1:1", false)).isEqualTo(new HostPort("10.0.0.1", 1));
        assertThat(HostPort.parse("[fe80::1]:7471", false)).isEqualTo(new HostPort("fe80::1", 7471));
    }

    @Test
    void readsAPortAloneForListening() {
        assertThat(HostPort.parse("7471", true)).isEqualTo(new HostPort("", 7471));
        assertThat(HostPort.parse(":7471", true)).isEqualTo(new HostPort("", 7471));
        assertThat(HostPort.parse("127.0.0.1:0", true)).isEqualTo(new HostPort("127.0.0.1", 0));
    }

    @ParameterizedTest
    @ValueSource(strings = {"7471", ":7471", "peer", "peer:", "peer:0", "peer:65536", "peer:1a", "::1:7471", "peer:-1"})
    void refusesWhatCannotBeConnectedTo(String text) {
        assertThatThrownBy(() -> HostPort.parse(text, false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("HOST:PORT");
    }

    @ParameterizedTest
    @CsvSource({"peer, the port is missing", "7471, the host is missing", ":7471, the host is missing"})
    void tellsWhichOfBothIsMissing(String text, String missing) {
        assertThatThrownBy(() -> HostPort.parse(text, false)).hasMessageEndingWith(missing);
    }

    @Test
    void writesAnIpv6AddressInBrackets() {
        assertThat(new HostPort("::1", 7471)).hasToString("[::1]:7471");
        assertThat(new HostPort("peer", 7471)).hasToString("peer:7471");
    }
}
