// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Calls listeners of the application from the middle of a provider's work, which goes on when they throw. */
public final class Listeners {

    private static final Logger LOG = LoggerFactory.getLogger(Listeners.class);

    private Listeners() {}

    /** Calls a listener. What it throws is logged. */
    public static void tell(Runnable listener) {
        try {
            listener.run();
        } catch (RuntimeException | Error e) {
            LOG.error("a listener of the application failed; the connection goes on without it", e);
        }
    }
}
