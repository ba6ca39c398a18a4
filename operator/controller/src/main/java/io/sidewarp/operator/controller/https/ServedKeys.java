// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.https;

import java.net.Socket;
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
public final class ServedKeys extends X509ExtendedKeyManager {

    private record Entry(String alias, PrivateKey key, List<X509Certificate> chain) {}

    /** The present pair and the one before it, which handshakes in progress may still ask for. */
    private volatile List<Entry> entries = List.of();

    private int served;

    /** Makes new handshakes use this key, with its certificate and those of intermediate CAs. */
    public synchronized void serve(PrivateKey key, List<X509Certificate> chain) {
        Entry entry = new Entry(String.valueOf(++served), key, List.copyOf(chain));
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
