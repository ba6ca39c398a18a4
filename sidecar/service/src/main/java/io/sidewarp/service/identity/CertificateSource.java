// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.identity;

import io.sidewarp.engine.net.tls.TlsCredentials;
import java.util.concurrent.ScheduledExecutorService;

/** Place from which this side gets its certificate, again and again before it expires. */
public interface CertificateSource extends AutoCloseable {

    /**
     * Begins to fetch credentials, and returns at once.
     *
     * @param thread one thread of the identity, which may block. It ends after {@link #close}
     */
    void start(ScheduledExecutorService thread, Receiver receiver);

    /**
     * Hears that a listener of this sidecar denied a peer. Thread-safe, and does not block.
     *
     * @param message reason, with the identities of both sides
     */
    default void onDenied(String message) {
        // Most sources know nobody who could tell the owner of the pod.
    }

    /** Ends. Nothing is fetched any more. */
    @Override
    void close();

    /** Takes what a source finds. Thread-safe. */
    interface Receiver {

        /** Replaces the credentials, and ends the problem. */
        void onCredentials(TlsCredentials credentials);

        /**
         * Reports why there are no new credentials. The former ones stay in use.
         *
         * @param problem what is wrong, and what to do. The same text is logged once
         */
        void onProblem(String problem);

        /** Ends the problem. The former credentials are still the right ones. */
        void onUnchanged();
    }
}
