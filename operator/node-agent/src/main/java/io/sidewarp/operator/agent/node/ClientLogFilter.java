// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import io.quarkus.logging.LoggingFilter;
import io.sidewarp.operator.api.log.ClientLog;
import java.util.logging.Filter;
import java.util.logging.LogRecord;

/**
 * Limits the Kubernetes client to one log line for each failure. The console handler uses this filter, by its name in
 * application.properties.
 */
@LoggingFilter(name = "client")
public final class ClientLogFilter implements Filter {
    @Override
    public boolean isLoggable(LogRecord entry) {
        return ClientLog.shorten(entry);
    }
}
