// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TransportErrorsTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Network closed for unknown reason",
                "Connection closed after GOAWAY. HTTP/2 error code: NO_ERROR, debug data: app_requested"
            })
    void aSidecarThatStopsIsToldByItsAddress(String wordsOfGrpc) {
        Status status = Status.UNAVAILABLE.withDescription(wordsOfGrpc);

        assertThat(TransportErrors.explain(status, "unix:///run/api.sock"))
                .hasValueSatisfying(told -> assertThat(told)
                        .startsWith("the sidecar at unix:///run/api.sock closed the connection")
                        .doesNotContain("GOAWAY"));
    }
}
