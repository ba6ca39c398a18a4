// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import org.jspecify.annotations.Nullable;

/** Decides about a peer that begins with TLS instead of MPA. */
@FunctionalInterface
public interface TlsDetector {

    /** Returns the parts of the TLS stream, or null to leave the bytes to MPA. Called on the connection's loop. */
    @Nullable
    TlsStart onTls();
}
