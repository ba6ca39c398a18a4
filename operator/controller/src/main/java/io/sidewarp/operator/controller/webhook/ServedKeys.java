// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/**
 * Key and certificate of a TLS server, which can be replaced while connections begin. A handshake uses the pair with
 * which it began.
 */
final class ServedKeys extends X509ExtendedKeyManager {

    private record Entry(String alias, PrivateKey key, List<X509Certificate> chain) {}

    /** The present pair and the one before it, which handshakes in progress may still ask for. */
    private volatile List<Entry> entries = List.of();

    private int served;

    /**
     * Makes new handshakes use this certificate.
     *
     * @throws IOException when the certificate is not in PEM
     * @throws GeneralSecurityException when the PEM has no certificate or key
     */
    synchronized void serve(WebhookCertificate certificate) throws IOException, GeneralSecurityException {
        Entry entry = new Entry(String.valueOf(++served), certificate.key(), certificate.chain());
        entries = Stream.concat(Stream.of(entry), entries.stream().limit(1)).toList();
    }

    private Optional<Entry> find(String alias) {
        return entries.stream().filter(entry -> entry.alias().equals(alias)).findFirst();
    }

    private @Nullable String present(String keyType) {
        List<Entry> known = entries;
        return !known.isEmpty() && known.getFirst().key().getAlgorithm().equals(keyType)
                ? known.getFirst().alias()
                : null;
    }

    @Override
    public @Nullable String chooseEngineServerAlias(
            String keyType, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
        return present(keyType);
    }

    @Override
    public @Nullable String chooseServerAlias(String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return present(keyType);
    }

    @Override
    public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
        String alias = present(keyType);
        return alias == null ? null : new String[] {alias};
    }

    @Override
    public X509Certificate @Nullable [] getCertificateChain(String alias) {
        return find(alias)
                .map(entry -> entry.chain().toArray(X509Certificate[]::new))
                .orElse(null);
    }

    @Override
    public @Nullable PrivateKey getPrivateKey(String alias) {
        return find(alias).map(Entry::key).orElse(null);
    }

    @Override
    public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
        return null;
    }

    @Override
    public @Nullable String chooseClientAlias(
            String[] keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return null;
    }
}
