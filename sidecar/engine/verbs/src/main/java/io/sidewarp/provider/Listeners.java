// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Calls application listeners from inside a provider's work. The work continues when a listener throws. */
public final class Listeners {

    private static final Logger LOG = LoggerFactory.getLogger(Listeners.class);

    private Listeners() {}

    /** Calls a listener, and logs any exception that it throws. */
    public static void tell(Runnable listener) {
        try {
            listener.run();
        } catch (RuntimeException | Error e) {
            LOG.error("a listener of the application failed; the connection goes on without it", e);
        }
    }
}
