// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DenialReportsTest {
    private static final long INTERVAL_MILLIS = 50;

    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
    private final List<String> sent = new CopyOnWriteArrayList<>();
    private volatile boolean taken = true;
    private final DenialReports reports = new DenialReports(thread, INTERVAL_MILLIS, report -> {
        sent.add(report);
        return taken;
    });

    @AfterEach
    void close() {
        thread.shutdownNow();
    }

    @Test
    void denialsAreToldTogether() {
        reports.add("first");
        reports.add("second");

        await().until(() -> !sent.isEmpty());
        assertThat(sent).containsExactly("{\"count\":2,\"last\":\"second\"}");
    }

    @Test
    void reportThatFailsIsRepeatedWithLaterDenials() {
        taken = false;
        reports.add("first");
        await().until(() -> !sent.isEmpty());

        reports.add("second");
        taken = true;

        await().until(() -> sent.contains("{\"count\":2,\"last\":\"second\"}"));
    }

    @Test
    void denialAfterAQuietTimeIsToldToo() {
        reports.add("first");
        await().until(() -> sent.size() == 1);

        reports.add("second");

        await().until(() -> sent.size() == 2);
        assertThat(sent.getLast()).isEqualTo("{\"count\":1,\"last\":\"second\"}");
    }

    @Test
    void longMessageIsCut() {
        reports.add("x".repeat(10_000));

        await().until(() -> !sent.isEmpty());
        assertThat(sent.getFirst()).hasSizeLessThan(800);
    }

    @Test
    void closedThreadTakesNoDenials() {
        thread.shutdownNow();

        reports.add("late");

        assertThat(sent).isEmpty();
    }
}
