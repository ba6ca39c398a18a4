// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.log;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.quarkus.logging.LoggingFilter;
import io.sidewarp.common.LogText;
import java.io.IOException;
import java.util.concurrent.TimeoutException;
import java.util.logging.Filter;
import java.util.logging.LogRecord;
import java.util.stream.Stream;

/**
 * Limits the Kubernetes client to one line per failure while the API server is down or refuses requests. The client
 * logs a stack trace at each attempt, although the trace adds nothing to the cause. The application.properties of the
 * controller and of the node agent refer to the filter by its name.
 */
@LoggingFilter(name = "client")
public final class ClientLogFilter implements Filter {
    private static final String CLIENT = "io.fabric8.kubernetes.client.";
    private static final int MAX_CAUSE = 500;

    /** Package of the HTTP library of the client. */
    private static final String HTTP = "io.vertx.core.";

    /** Failure of the HTTP client after it is closed at the end of the program. */
    private static final String CLOSED = "Client is closed";

    /**
     * Reduces a stack trace to one line. Returns false if the entry must not be logged, because the client was closed
     * before.
     */
    @Override
    public boolean isLoggable(LogRecord entry) {
        Throwable thrown = entry.getThrown();
        if (thrown == null || !String.valueOf(entry.getLoggerName()).startsWith(CLIENT)) {
            return true;
        }
        if (causes(thrown).anyMatch(cause -> CLOSED.equals(cause.getMessage()))) {
            return false;
        }
        if (causes(thrown).anyMatch(ClientLogFilter::isOfApiServer)) {
            Throwable root = causes(thrown).reduce(thrown, (_, cause) -> cause);
            // The arguments of the entry are in the message already.
            entry.setMessage(entry.getMessage() + ": " + LogText.printable(root.toString(), MAX_CAUSE));
            entry.setThrown(null);
        }
        return true;
    }

    private static Stream<Throwable> causes(Throwable thrown) {
        return Stream.iterate(thrown, cause -> cause != null, Throwable::getCause);
    }

    private static boolean isOfApiServer(Throwable cause) {
        return cause instanceof IOException
                || cause instanceof TimeoutException
                || cause instanceof KubernetesClientException
                || cause.getClass().getName().startsWith(HTTP);
    }
}
