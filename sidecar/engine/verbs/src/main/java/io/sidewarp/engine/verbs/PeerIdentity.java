// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.security.cert.X509Certificate;

/**
 * Identity of a peer that TLS has authenticated.
 *
 * @param id identity in the certificate
 * @param certificate certificate of the peer, signed by a CA that this side trusts for the trust domain of the identity
 */
public record PeerIdentity(SpiffeId id, X509Certificate certificate) {

    @Override
    public String toString() {
        return id.toString();
    }
}
