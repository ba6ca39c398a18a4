// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.log;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LogTextTest {

    @Test
    void aValueCannotEndItsQuotationMarks() {
        assertThat(LogText.quoted("x\" event=started y=\"")).isEqualTo("\"x\\\" event=started y=\\\"\"");
        assertThat(LogText.quoted("x\\")).isEqualTo("\"x\\\\\"");
    }

    @Test
    void aValueCannotBeginALine() {
        assertThat(LogText.quoted("x\nevent=started")).isEqualTo("\"x?event=started\"");
    }
}
