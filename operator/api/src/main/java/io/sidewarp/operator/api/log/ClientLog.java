// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.log;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.util.concurrent.TimeoutException;
import java.util.logging.LogRecord;
import java.util.stream.Stream;

/**
 * What the Kubernetes client writes into the log while the API server is away or refuses something: by itself a stack
 * trace each time that it tries, which says nothing more than its cause.
 */
public final class ClientLog {
    private static final String CLIENT = "io.fabric8.kubernetes.client.";
    private static final int MAX_CAUSE = 500;

    /** Of the library that the client has HTTP from. */
    private static final String HTTP = "io.vertx.core.";

    /** What the HTTP client fails with from the end of the program on. */
    private static final String CLOSED = "Client is closed";

    private ClientLog() {}

    /** Makes one line of it. False where nothing is to be told, since the client was closed before. */
    public static boolean shorten(LogRecord entry) {
        Throwable thrown = entry.getThrown();
        if (thrown == null || !String.valueOf(entry.getLoggerName()).startsWith(CLIENT)) {
            return true;
        }
        if (causes(thrown).anyMatch(cause -> CLOSED.equals(cause.getMessage()))) {
            return false;
        }
        if (causes(thrown).anyMatch(ClientLog::isOfApiServer)) {
            Throwable root = causes(thrown).reduce(thrown, (_, cause) -> cause);
            // Its arguments are in the message already.
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
