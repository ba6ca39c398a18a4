// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class SystemErrorsTest {

    @Test
    void textLeavesOutTheCallThatFailed() {
        assertThat(SystemErrors.text(new IOException("finishConnect(..) failed with error(-111): Connection refused")))
                .isEqualTo("Connection refused");
        assertThat(SystemErrors.text(new IOException("bind(..) failed: Address already in use")))
                .isEqualTo("Address already in use");
        assertThat(SystemErrors.text(new IOException("Connection refused: /127.0.0.1:1")))
                .isEqualTo("Connection refused: /127.0.0.1:1");
    }

    @Test
    void textOfAFailureWithoutMessageIsItsType() {
        assertThat(SystemErrors.text(new IOException())).isEqualTo("java.io.IOException");
    }
}
