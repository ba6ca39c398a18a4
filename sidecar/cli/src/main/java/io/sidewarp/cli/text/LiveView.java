// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.text;

import io.sidewarp.cli.Interruption;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * Text that is shown again and again: in a terminal in the same place until the user presses q, else one after the
 * other.
 *
 * @param out standard output
 * @param inPlace whether to draw in the terminal
 * @param count number of texts; 0 for no limit
 * @param interval time between two texts
 */
public record LiveView(PrintWriter out, boolean inPlace, long count, Duration interval) {

    /** Returns a view that draws in the terminal, if there is one and {@code lines} is false. */
    public static LiveView of(PrintWriter out, boolean lines, long count, Duration interval) {
        return new LiveView(out, !lines && count == 0 && Terminal.isPresent(), count, interval);
    }

    /**
     * Shows texts until the user or the count ends it.
     *
     * @param text makes a text; all of its lines have line ends
     */
    public void run(Supplier<String> text) throws IOException {
        if (inPlace) {
            try (Terminal terminal = Terminal.open(out)) {
                do {
                    terminal.draw(text.get().lines().toList());
                } while (terminal.pause(interval));
            }
            return;
        }
        for (long shown = 1; ; shown++) {
            out.print(text.get());
            out.flush();
            if (shown == count || out.checkError()) {
                return;
            }
            Interruption.sleep(interval);
        }
    }
}
