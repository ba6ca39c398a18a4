// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.sidewarp.v1.Retry;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RecentErrorsTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "STag 0x89abcdef, tagged offset 0x10 is not valid | an STag is not valid",
                "STag 0x12 is not usable any more: region 0x89abcdef (16 bytes, VALID)"
                        + " | an STag is not usable any more: a region (16 bytes, VALID)",
                "region 34 has 8192 bytes | region 34 has 8192 bytes",
            })
    void messageContainsNoStag(String message, String expected) {
        RecentErrors errors = new RecentErrors();

        errors.add("Read", "session", Status.Code.FAILED_PRECONDITION, message, Retry.RETRY_NEVER);

        assertThat(errors.list())
                .singleElement()
                .satisfies(entry -> assertThat(entry.event().message()).isEqualTo(expected));
    }
}
