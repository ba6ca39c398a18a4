// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LiveViewTest {

    private final AtomicInteger number = new AtomicInteger();

    @Test
    void withoutATerminalTextsFollowEachOther() throws IOException {
        StringWriter out = new StringWriter();

        LiveView.of(new PrintWriter(out), false, 3, Duration.ofMillis(1)).run(() -> number.incrementAndGet() + "\n");

        assertThat(out).hasToString("1\n2\n3\n");
    }

    @Test
    void outputThatIsLostEndsTheView() throws IOException {
        OutputStream closed = new OutputStream() {
            @Override
            public void write(int octet) throws IOException {
                throw new IOException("closed");
            }
        };

        new LiveView(new PrintWriter(closed, false, StandardCharsets.UTF_8), false, 0, Duration.ofMillis(1))
                .run(() -> number.incrementAndGet() + "\n");

        assertThat(number).hasValue(1);
    }
}
