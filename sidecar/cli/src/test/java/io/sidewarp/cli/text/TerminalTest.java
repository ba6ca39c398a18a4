// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class TerminalTest {

    private static final Terminal.Size WINDOW = new Terminal.Size(5, 3);

    @Test
    void aTextThatFitsIsNotChanged() {
        assertThat(WINDOW.fit(List.of("12345", "", "3"))).containsExactly("12345", "", "3");
    }

    @Test
    void longLinesAreCut() {
        assertThat(WINDOW.fit(List.of("123456789"))).containsExactly("12345");
    }

    @Test
    void theLastLineTellsHowManyLinesDoNotFit() {
        assertThat(new Terminal.Size(80, 3).fit(List.of("1", "2", "3", "4")))
                .containsExactly("1", "2", "(2 more lines)");
        assertThat(new Terminal.Size(80, 1).fit(List.of("1", "2"))).containsExactly("(2 more lines)");
    }
}
