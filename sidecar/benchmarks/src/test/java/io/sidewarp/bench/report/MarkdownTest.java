// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.cli.Failure;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MarkdownTest {

    @Test
    void numbersStandOnTheRight() {
        assertThat(Markdown.table(1, List.of("what", "Gbit/s"), List.of(List.of("write", "1.0"))))
                .isEqualTo("""
                | what | Gbit/s |
                |---|--:|
                | write | 1.0 |
                """);
    }

    @Test
    void onlyWhatIsBetweenTheMarksIsReplaced() {
        String document = "a\n<!-- begin: bench rate -->\nold\n<!-- end: bench rate -->\nb\n";

        assertThat(Markdown.replace(document, "rate", "new\n"))
                .isEqualTo("a\n<!-- begin: bench rate -->\nnew\n<!-- end: bench rate -->\nb\n");
    }

    @Test
    void aDocumentWithoutTheMarksIsRefused() {
        assertThatThrownBy(() -> Markdown.replace("text", "rate", "new"))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("bench rate");
    }

    @ParameterizedTest
    @CsvSource({
        "0.0, 0",
        "0.1234, 0.123",
        "1.2345, 1.23",
        "12.345, 12.3",
        "123.45, 123",
        "123456, 123000",
        "1e6, 1000000"
    })
    void figuresHaveThreeDigits(double value, String text) {
        assertThat(Markdown.number(value)).isEqualTo(text);
    }
}
