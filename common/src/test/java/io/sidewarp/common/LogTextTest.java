// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.common;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LogTextTest {

    @Test
    void aValueCannotEndItsQuotationMarks() {
        assertThat(LogText.quoted("x\" event=started y=\"")).isEqualTo("\"x\\\" event=started y=\\\"\"");
        assertThat(LogText.quoted("x\\")).isEqualTo("\"x\\\\\"");
    }

    @Test
    void aValueCannotBeginALineOrChangeTheTerminal() {
        assertThat(LogText.quoted("x\nevent=started")).isEqualTo("\"x?event=started\"");
        assertThat(LogText.quoted("x\u009b2J\u0085\u001b")).isEqualTo("\"x?2J??\"");
    }

    @Test
    void aLongValueIsCut() {
        assertThat(LogText.quoted("x".repeat(1000))).isEqualTo('"' + "x".repeat(1000) + '"');
        assertThat(LogText.quoted("x".repeat(1001))).isEqualTo('"' + "x".repeat(1000) + " ...\"");
        assertThat(LogText.printable("\ud83d\ude80".repeat(3), 2)).isEqualTo("\ud83d\ude80".repeat(2) + " ...");
    }
}
