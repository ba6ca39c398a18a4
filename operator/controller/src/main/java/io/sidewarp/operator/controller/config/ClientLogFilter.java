// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.config;

import io.quarkus.logging.LoggingFilter;
import io.sidewarp.operator.api.log.ClientLog;
import java.util.logging.Filter;
import java.util.logging.LogRecord;

/** Keeps the Kubernetes client to one line for each failure. Of the console; application.properties has its name. */
@LoggingFilter(name = "client")
public final class ClientLogFilter implements Filter {
    @Override
    public boolean isLoggable(LogRecord entry) {
        return ClientLog.shorten(entry);
    }
}
