// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import io.sidewarp.operator.api.v1alpha1.IdentitySource;
import java.util.Optional;

/**
 * Identities that the installation offers to sidecars at one moment.
 *
 * @param source source for profiles that name none; empty if there is no such source
 * @param issuer URL of the controller's identity service; empty if the controller signs no certificates
 * @param trustBundle certificates of the controller's CAs in PEM; empty while there are none
 */
public record IdentityOffer(Optional<IdentitySource> source, Optional<String> issuer, Optional<String> trustBundle) {
    /** Installation without identities. */
    public static final IdentityOffer NONE = new IdentityOffer(Optional.empty(), Optional.empty(), Optional.empty());
}
