// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.ConnectException;
import java.util.concurrent.CompletionException;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;

class ClientLogFilterTest {
    private static final String ELECTOR = "io.fabric8.kubernetes.client.extended.leaderelection.LeaderElector";

    @Test
    void thatTheApiServerIsAwayIsOneLineWithItsCause() {
        LogRecord entry = entry(
                ELECTOR,
                new KubernetesClientException("An error has occurred.", new ConnectException("Connection\nrefused")));

        assertThat(new ClientLogFilter().isLoggable(entry)).isTrue();

        assertThat(entry.getMessage()).isEqualTo("lock {0} of 100%: java.net.ConnectException: Connection?refused");
        assertThat(entry.getThrown()).isNull();
    }

    @Test
    void nothingIsToldOfAClientThatWasClosed() {
        IllegalStateException closed = new IllegalStateException("Client is closed");

        assertThat(new ClientLogFilter().isLoggable(entry(ELECTOR, new CompletionException(closed))))
                .isFalse();
    }

    @Test
    void theStackTraceOfADefectIsKept() {
        NullPointerException defect = new NullPointerException("a handler");
        LogRecord entry = entry(ELECTOR, defect);

        assertThat(new ClientLogFilter().isLoggable(entry)).isTrue();

        assertThat(entry.getThrown()).isSameAs(defect);
        assertThat(entry.getMessage()).isEqualTo("lock {0} of 100%");
    }

    @Test
    void whatOthersTellIsAsItIs() {
        ConnectException failure = new ConnectException("Connection refused");
        LogRecord entry = entry("io.sidewarp.operator.controller.Controller", failure);

        assertThat(new ClientLogFilter().isLoggable(entry)).isTrue();

        assertThat(entry.getThrown()).isSameAs(failure);
    }

    private static LogRecord entry(String logger, Throwable thrown) {
        LogRecord entry = new LogRecord(Level.WARNING, "lock {0} of 100%");
        entry.setLoggerName(logger);
        entry.setThrown(thrown);
        return entry;
    }
}
