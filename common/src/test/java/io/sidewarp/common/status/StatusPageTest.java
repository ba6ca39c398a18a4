// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.common.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StatusPageTest {

    private static final InetAddress LOCAL = InetAddress.ofLiteral("127.0.0.1");

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1", "::ffff:127.0.0.1"})
    void clientOnTheSameHostIsLocal(String client) {
        assertThat(StatusPage.isLocal(InetAddress.ofLiteral(client), List.of("localhost:9464")))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"192.0.2.1", "2001:db8::1", "127.0.0.6", "0.0.0.0"})
    void otherClientIsNotLocal(String client) {
        assertThat(StatusPage.isLocal(InetAddress.ofLiteral(client), List.of("localhost:9464")))
                .isFalse();
        assertThat(StatusPage.isLocal(null, List.of("localhost:9464"))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "LOCALHOST:80", "127.0.0.1", "127.0.0.1:9464", "[::1]", "[::1]:9464"})
    void nameOfTheSameHostIsLocal(String host) {
        assertThat(StatusPage.isLocal(LOCAL, List.of(host))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "rebound.example:9464",
                "localhost.rebound.example",
                "127.0.0.1.rebound.example",
                "localhost:9464@rebound.example",
                "localhost:",
                "localhost\n",
                "::1",
                "192.0.2.1"
            })
    void otherNameIsNotLocal(String host) {
        assertThat(StatusPage.isLocal(LOCAL, List.of(host))).isFalse();
    }

    @Test
    void oneHostHeaderIsRequired() {
        assertThat(StatusPage.isLocal(LOCAL, List.of())).isFalse();
        assertThat(StatusPage.isLocal(LOCAL, List.of("localhost", "localhost"))).isFalse();
    }

    @Test
    void pageTreatsAllTextsAsTexts() {
        assertThat(new String(StatusPage.html(), StandardCharsets.UTF_8))
                .doesNotContain("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "style=");
    }

    @Test
    void pageLoadsNothingFromElsewhere() {
        String page = new String(StatusPage.html(), StandardCharsets.UTF_8);

        // The name of the SVG namespace is no address to load.
        assertThat(page.replace("http://www.w3.org/2000/svg", "")).doesNotContain("http:", "https:", "src=", "href=");
        assertThat(page.split("<script", -1)).hasSize(2);
        assertThat(page.split("<style", -1)).hasSize(2);
        assertThat(StatusPage.HEADERS.get("Content-Security-Policy"))
                .startsWith("default-src 'none'; script-src 'sha256-")
                .doesNotContain("unsafe");
    }
}
