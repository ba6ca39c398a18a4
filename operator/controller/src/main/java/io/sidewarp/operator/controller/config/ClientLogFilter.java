// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.config;

import io.quarkus.logging.LoggingFilter;
import io.sidewarp.operator.api.log.ClientLog;
import java.util.logging.Filter;
import java.util.logging.LogRecord;

/**
 * Limits the Kubernetes client to one line per failure in the console log. application.properties refers to the filter
 * by its name.
 */
@LoggingFilter(name = "client")
public final class ClientLogFilter implements Filter {
    @Override
    public boolean isLoggable(LogRecord entry) {
        return ClientLog.shorten(entry);
    }
}
