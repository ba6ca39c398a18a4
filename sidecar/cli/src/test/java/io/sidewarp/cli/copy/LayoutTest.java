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

    @Test
    void takesWhatTheClientWantsWithinTheLimit() {
        assertThat(wanted(1 << 20, 16).bounded(64 << 20)).isEqualTo(wanted(1 << 20, 16));
    }

    @Test
    void staysBelowTheLimitWithTwoChunksAtLeast() {
        assertThat(wanted(1 << 20, 32).bounded(4 << 20)).isEqualTo(wanted(1 << 20, 4));
        assertThat(wanted(16 << 20, 32).bounded(4 << 20)).isEqualTo(wanted(2 << 20, 2));
        assertThat(wanted(Integer.MAX_VALUE, 65_535).bounded(Window.MIN_CHUNK)).isEqualTo(wanted(Window.MIN_CHUNK, 1));
        assertThat(wanted(-1, -1).bounded(64 << 20)).isEqualTo(wanted(Window.MIN_CHUNK, 1));
    }

    @Test
    void takesNoMoreThanTheFileNeeds() {
        assertThat(new Window.Layout(100_000, 1 << 20, 16).bounded(64 << 20))
                .isEqualTo(new Window.Layout(100_000, 100_000, 2));
        assertThat(new Window.Layout(0, 1 << 20, 16).bounded(64 << 20))
                .isEqualTo(new Window.Layout(0, Window.MIN_CHUNK, 1));
    }

    private static Window.Layout wanted(int chunk, int slots) {
        return new Window.Layout(1L << 40, chunk, slots);
    }
}
