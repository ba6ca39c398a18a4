// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/**
 * Values of a connection that TLS protects.
 *
 * @param cipherSuite name of the cipher suite, as in {@code TLS_AES_128_GCM_SHA256}
 * @param resumed whether a ticket of an earlier connection replaced the exchange of certificates
 */
public record TlsAttributes(PeerIdentity peer, String cipherSuite, boolean resumed) {}
