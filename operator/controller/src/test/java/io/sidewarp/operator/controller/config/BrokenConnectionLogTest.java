// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.operator.api.log.ClientLogFilter;
import io.vertx.core.http.HttpClosedException;
import java.util.concurrent.CompletionException;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;

class BrokenConnectionLogTest {

    @Test
    void aConnectionThatBreaksIsOneLine() {
        LogRecord entry = new LogRecord(Level.WARNING, "listSyncAndWatch failed for v1/nodes, will retry");
        entry.setLoggerName("io.fabric8.kubernetes.client.informers.impl.cache.Reflector");
        entry.setThrown(new CompletionException(new HttpClosedException("Connection was closed")));

        assertThat(new ClientLogFilter().isLoggable(entry)).isTrue();

        assertThat(entry.getMessage())
                .isEqualTo("listSyncAndWatch failed for v1/nodes, will retry:"
                        + " io.vertx.core.http.HttpClosedException: Connection was closed");
        assertThat(entry.getThrown()).isNull();
    }
}
