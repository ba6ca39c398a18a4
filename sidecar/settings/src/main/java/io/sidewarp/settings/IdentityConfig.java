// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.settings;

import io.smallrye.config.WithDefault;
import java.util.Optional;

/** Settings of this side's identity for TLS: an X.509 certificate with a SPIFFE ID. */
public interface IdentityConfig {

    /** Sources of identities. */
    enum Source {
        /** CA of the Sidewarp controller. */
        BUILTIN,
        /** Files that another program writes and renews. */
        FILES,
        /** SPIFFE Workload API. */
        SPIFFE
    }

    /** Source of the certificate. Unset: no identity, and so no TLS. */
    Optional<Source> source();

    /** Directory with the files of the sources {@code files} and {@code builtin}. */
    Optional<String> directory();

    /** Address of the Workload API for the source {@code spiffe}. */
    @WithDefault("${SPIFFE_ENDPOINT_SOCKET:}")
    Optional<String> socket();

    /** URL of the controller's CA for the source {@code builtin}. */
    Optional<String> issuer();

    /** CAs of that URL, in PEM. */
    Optional<String> trustBundle();
}
