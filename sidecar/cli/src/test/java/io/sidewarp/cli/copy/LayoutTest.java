// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LayoutTest {

    @Test
    void cutsAFileIntoChunksOfWhichTheLastMayBeShorter() {
        Window.Layout layout = new Window.Layout(2500, 1000, 2);
        assertThat(layout.chunks()).isEqualTo(3);
        assertThat(layout.octets(0)).isEqualTo(1000);
        assertThat(layout.octets(2)).isEqualTo(500);
    }

    @Test
    void usesTheSlotsInTurn() {
        Window.Layout layout = new Window.Layout(10_000, 1000, 3);
        assertThat(layout.offset(0)).isZero();
        assertThat(layout.offset(2)).isEqualTo(2000);
        assertThat(layout.offset(3)).isZero();
    }

    @Test
    void hasNoChunkForAnEmptyFile() {
        assertThat(new Window.Layout(0, 1000, 3).chunks()).isZero();
    }

    @Test
    void hasNoShortChunkForAFileOfWholeChunks() {
        Window.Layout layout = new Window.Layout(3000, 1000, 3);
        assertThat(layout.chunks()).isEqualTo(3);
        assertThat(layout.octets(2)).isEqualTo(1000);
    }
}
