// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.ddp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.verbs.DdpError;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class DdpErrorTest {

    @Test
    @Requirement("DDP-7.2-01")
    void errorsHaveExactlyTheNumbersOfTheRfc() {
        assertThat(Arrays.stream(DdpError.values())
                        .map(error ->
                                "%d/%d/%02x %s".formatted(error.layer(), error.type(), error.code(), error.name())))
                .containsExactly(
                        "1/0/00 LOCAL_CATASTROPHIC",
                        "1/1/00 INVALID_STAG",
                        "1/1/01 BASE_OR_BOUNDS",
                        "1/1/02 STAG_NOT_ASSOCIATED",
                        "1/1/03 TO_WRAP",
                        "1/1/04 TAGGED_VERSION",
                        "1/2/01 INVALID_QN",
                        "1/2/02 MSN_NO_BUFFER",
                        "1/2/03 MSN_RANGE",
                        "1/2/04 INVALID_MO",
                        "1/2/05 MESSAGE_TOO_LONG",
                        "1/2/06 UNTAGGED_VERSION");
    }
}
