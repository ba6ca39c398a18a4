// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.service.testing.LogLines;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jboss.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RateLimitedLoggerTest {

    private static final String NAME = "io.sidewarp.test.limited";

    private final AtomicLong suppressed = new AtomicLong();
    private final AtomicLong now = new AtomicLong();
    private LogLines written;
    private RateLimitedLogger logger;

    @BeforeEach
    void attach() {
        written = LogLines.of(NAME);
        java.util.logging.Logger.getLogger(NAME).setUseParentHandlers(false);
        logger = new RateLimitedLogger(Logger.getLogger(NAME), "peer-broken", 3, suppressed, now::get);
    }

    @AfterEach
    void detach() {
        written.close();
    }

    @Test
    void atMostSoManyMessagesAreWrittenInAMinute() {
        for (int i = 0; i < 1000; i++) {
            logger.warn(() -> "message=x");
        }

        assertThat(written.all()).hasSize(3).first().isEqualTo("event=peer-broken message=x");
        assertThat(suppressed).hasValue(997);
    }

    @Test
    void theNextMinuteBeginsWithTheNumberOfWhatWasLeftOut() {
        for (int i = 0; i < 10; i++) {
            logger.warn(() -> "message=x");
        }
        now.addAndGet(TimeUnit.MINUTES.toNanos(1));

        logger.warn(() -> "message=y");
        logger.warn(() -> "message=z");

        assertThat(written.all().subList(3, 5))
                .containsExactly("event=peer-broken message=y suppressed=7", "event=peer-broken message=z");
    }

    @Test
    void controlCharactersOfAPeerNeverReachTheLog() {
        logger.warn(() -> "session=\"a\nevent=forged\u001b[2J\"");

        assertThat(written.all()).containsExactly("event=peer-broken session=\"a?event=forged?[2J\"");
    }
}
