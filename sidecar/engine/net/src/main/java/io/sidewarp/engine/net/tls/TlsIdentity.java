// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.tls;

import java.util.Optional;

/** Source of the identity with which a device proves itself to peers. Thread-safe. */
@FunctionalInterface
public interface TlsIdentity {

    /** Source of a device that has no identity. */
    TlsIdentity NONE = Optional::empty;

    /**
     * Returns the credentials for the next connection, or empty while there are none. Connections keep the credentials
     * that they began with. Called on event loops, so it must not block.
     */
    Optional<TlsCredentials> current();

    /** Returns why there are no credentials, or what to do for them. Asked for only while there are none. */
    default String reason() {
        return "configure its certificate";
    }
}
