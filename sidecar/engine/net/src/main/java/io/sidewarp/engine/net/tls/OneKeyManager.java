// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.tls;

import java.net.Socket;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/** Offers one key with its certificate to each peer. */
final class OneKeyManager extends X509ExtendedKeyManager {

    private static final String ALIAS = "identity";

    private final PrivateKey key;
    private final X509Certificate[] chain;

    OneKeyManager(PrivateKey key, List<X509Certificate> chain) {
        this.key = key;
        this.chain = chain.toArray(X509Certificate[]::new);
    }

    private @Nullable String aliasFor(String keyType) {
        String algorithm = key.getAlgorithm();
        boolean same = keyType.equals(algorithm)
                || keyType.equals(chain[0].getPublicKey().getAlgorithm());
        return same ? ALIAS : null;
    }

    private @Nullable String aliasFor(String[] keyTypes) {
        for (String keyType : keyTypes) {
            if (aliasFor(keyType) != null) {
                return ALIAS;
            }
        }
        return null;
    }

    private String @Nullable [] aliasesFor(String keyType) {
        return aliasFor(keyType) == null ? null : new String[] {ALIAS};
    }

    @Override
    public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
        return aliasesFor(keyType);
    }

    @Override
    public @Nullable String chooseClientAlias(
            String[] keyTypes, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return aliasFor(keyTypes);
    }

    @Override
    public @Nullable String chooseEngineClientAlias(
            String[] keyTypes, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
        return aliasFor(keyTypes);
    }

    @Override
    public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
        return aliasesFor(keyType);
    }

    @Override
    public @Nullable String chooseServerAlias(String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return aliasFor(keyType);
    }

    @Override
    public @Nullable String chooseEngineServerAlias(
            String keyType, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
        return aliasFor(keyType);
    }

    @Override
    public X509Certificate @Nullable [] getCertificateChain(String alias) {
        return alias.equals(ALIAS) ? chain.clone() : null;
    }

    @Override
    public @Nullable PrivateKey getPrivateKey(String alias) {
        return alias.equals(ALIAS) ? key : null;
    }
}
