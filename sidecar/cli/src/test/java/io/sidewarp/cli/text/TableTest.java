// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class TableTest {

    @Test
    void alignsColumnsAndPutsNumbersFlushRight() {
        Table table = new Table("NAME", ">SIZE", "NOTE").row("a", 1, "x").row("long name", 12345, "");
        assertThat(table.render()).isEqualTo("""
                NAME        SIZE  NOTE
                a              1  x
                long name  12345  -
                """);
    }

    @Test
    void letsNoControlCharactersThrough() {
        assertThat(new Table("NAME").row("a\u001b[31m\u009b31m\n").render()).isEqualTo("NAME\na?[31m?31m?\n");
    }

    @Test
    void refusesARowOfAnotherWidth() {
        assertThatThrownBy(() -> new Table("A", "B").row("a")).isInstanceOf(IllegalArgumentException.class);
    }
}
