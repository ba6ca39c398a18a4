// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.tls;

import io.sidewarp.engine.verbs.SpiffeId;
import java.net.InetSocketAddress;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.TrustManager;

/**
 * Key and certificate of this side, with the CAs that it trusts. Makes the TLS engines of connections: TLS 1.3 only,
 * certificates of both sides always, no early data. Immutable and thread-safe.
 *
 * <p>Tickets of earlier connections work only with the same object. New credentials therefore end the trust in old
 * CAs for resumed connections as well.
 */
public final class TlsCredentials {

    /** Protocol below TLS, which both sides must name (RFC 7301). */
    public static final String ALPN = "sidewarp-mpa/1";

    private static final String PROTOCOL = "TLSv1.3";
    /** Cipher suites, the preferred one first. Both are AES-GCM, for which processors have instructions. */
    private static final String[] SUITES = {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"};
    /** Lifetime of a ticket. A certificate that is withdrawn at its source works no longer than this without a look. */
    private static final Duration TICKET_LIFETIME = Duration.ofHours(1);
    /** Largest number of peers whose tickets an initiator keeps. */
    private static final int TICKETS = 4096;

    private final SSLContext context;
    private final SpiffeId id;
    private final Instant validFrom;
    private final Instant expiry;
    private final SpiffeTrust trust;
    private final Clock clock;

    private TlsCredentials(SSLContext context, SpiffeId id, X509Certificate leaf, SpiffeTrust trust, Clock clock) {
        this.context = context;
        this.id = id;
        this.validFrom = leaf.getNotBefore().toInstant();
        this.expiry = leaf.getNotAfter().toInstant();
        this.trust = trust;
        this.clock = clock;
    }

    /**
     * Creates credentials. Takes some milliseconds, so do not call it on an event loop.
     *
     * @param chain this side's certificate with its SPIFFE ID, followed by the certificates of intermediate CAs
     * @param anchors trusted CAs for each trust domain. A CA vouches for peers of its own trust domain only
     * @throws IllegalArgumentException if the certificate has no SPIFFE ID, or the key does not belong to it
     * @throws GeneralSecurityException if the Java library cannot use the key or a certificate
     */
    public static TlsCredentials create(
            PrivateKey key, List<X509Certificate> chain, Map<String, ? extends Collection<X509Certificate>> anchors)
            throws GeneralSecurityException {
        return create(key, chain, anchors, Clock.systemUTC());
    }

    static TlsCredentials create(
            PrivateKey key,
            List<X509Certificate> chain,
            Map<String, ? extends Collection<X509Certificate>> anchors,
            Clock clock)
            throws GeneralSecurityException {
        if (chain.isEmpty()) {
            throw new IllegalArgumentException("the chain has no certificate; put this side's certificate first");
        }
        X509Certificate leaf = chain.getFirst();
        SpiffeId id = SpiffeId.of(leaf)
                .orElseThrow(() -> new IllegalArgumentException("the certificate of this side ("
                        + leaf.getSubjectX500Principal()
                        + ") has no SPIFFE ID; it needs exactly one URI as subject alternative name, as in"
                        + " spiffe://example.org/ns/shop/sa/cart"));
        KeyPairs.requireMatch(key, leaf);
        SpiffeTrust trust = new SpiffeTrust(anchors, clock);
        SSLContext context = SSLContext.getInstance(PROTOCOL);
        context.init(new KeyManager[] {new OneKeyManager(key, chain)}, new TrustManager[] {trust}, null);
        bound(context.getClientSessionContext());
        bound(context.getServerSessionContext());
        return new TlsCredentials(context, id, leaf, trust, clock);
    }

    private static void bound(SSLSessionContext sessions) {
        sessions.setSessionTimeout(Math.toIntExact(TICKET_LIFETIME.toSeconds()));
        sessions.setSessionCacheSize(TICKETS);
    }

    /** Returns the identity of this side. */
    public SpiffeId id() {
        return id;
    }

    /** Returns when this side's certificate begins to be valid. */
    public Instant validFrom() {
        return validFrom;
    }

    /** Returns when this side's certificate expires. */
    public Instant expiry() {
        return expiry;
    }

    /** Returns what decides about certificates of peers. */
    public SpiffeTrust trust() {
        return trust;
    }

    /**
     * Creates the engine of an initiator. With an expired certificate, the engine uses no ticket: a listener can refuse
     * a certificate by an alert, and a ticket only by closing the connection.
     *
     * @param remote address of the peer, for which tickets are kept
     */
    public SSLEngine initiator(InetSocketAddress remote) {
        SSLEngine engine = clock.instant().isAfter(expiry)
                ? context.createSSLEngine()
                : context.createSSLEngine(remote.getHostString(), remote.getPort());
        engine.setUseClientMode(true);
        return configure(engine);
    }

    /** Creates the engine of a listener's connection. */
    public SSLEngine responder() {
        SSLEngine engine = context.createSSLEngine();
        engine.setUseClientMode(false);
        return configure(engine);
    }

    private static SSLEngine configure(SSLEngine engine) {
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setProtocols(new String[] {PROTOCOL});
        parameters.setCipherSuites(SUITES);
        parameters.setApplicationProtocols(new String[] {ALPN});
        parameters.setServerNames(List.of());
        if (!engine.getUseClientMode()) {
            parameters.setNeedClientAuth(true);
        }
        engine.setSSLParameters(parameters);
        return TlsKeyLog.watch(engine);
    }
}
