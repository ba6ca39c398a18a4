// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.tls;

import io.sidewarp.engine.verbs.PeerIdentity;
import io.sidewarp.engine.verbs.SpiffeId;
import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertPathValidatorException;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Instant;
import java.util.Collection;
import java.util.Date;
import java.util.Map;
import java.util.TreeMap;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Decides about the certificate of a peer. The certificate must be valid now, have a SPIFFE ID of a trusted trust
 * domain, and lead to a CA of that trust domain. Host names do not matter. Each exception says whose certificate it is
 * about and what to do.
 */
public final class SpiffeTrust extends X509ExtendedTrustManager {

    private static final X509Certificate[] NO_ISSUERS = {};

    private final Map<String, X509ExtendedTrustManager> domains = new TreeMap<>();
    private final Clock clock;

    SpiffeTrust(Map<String, ? extends Collection<X509Certificate>> anchors, Clock clock)
            throws GeneralSecurityException {
        this.clock = clock;
        for (Map.Entry<String, ? extends Collection<X509Certificate>> domain : anchors.entrySet()) {
            domains.put(domain.getKey(), manager(domain.getKey(), domain.getValue()));
        }
    }

    private static X509ExtendedTrustManager manager(String domain, Collection<X509Certificate> anchors)
            throws GeneralSecurityException {
        if (anchors.isEmpty()) {
            throw new IllegalArgumentException("no CA for the trust domain " + domain + "; add its certificate");
        }
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        try {
            store.load(null, null);
        } catch (IOException e) {
            throw new GeneralSecurityException(e);
        }
        int number = 0;
        for (X509Certificate anchor : anchors) {
            store.setCertificateEntry("ca" + number++, anchor);
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
        factory.init(store);
        for (TrustManager manager : factory.getTrustManagers()) {
            if (manager instanceof X509ExtendedTrustManager extended) {
                return extended;
            }
        }
        throw new GeneralSecurityException("this Java library has no PKIX trust manager for X.509");
    }

    /** A check by the trust manager of one trust domain. */
    private interface Check {
        void run(X509ExtendedTrustManager domain) throws CertificateException;
    }

    private void check(X509Certificate @Nullable [] chain, Check check) throws CertificateException {
        if (chain == null || chain.length == 0) {
            throw new CertificateException("the peer sent no certificate; configure its identity");
        }
        identify(chain);
        X509Certificate leaf = chain[0];
        SpiffeId id = requireId(leaf);
        X509ExtendedTrustManager domain = domains.get(id.trustDomain());
        if (domain == null) {
            throw new CertificateException("the certificate of the peer " + id + " is of the trust domain "
                    + id.trustDomain() + "; trusted here are " + domains.keySet()
                    + ". Use a peer of a trusted one. Further trust domains need the source `spiffe`"
                    + " (sidewarp.identity.source), whose SPIFFE server federates with them");
        }
        try {
            check.run(domain);
        } catch (CertificateException e) {
            throw new CertificateException(
                    "the certificate of the peer " + id + " is not trusted: no CA for the trust domain "
                            + id.trustDomain() + " here leads to it (issuer "
                            + TlsFailures.printable(leaf.getIssuerX500Principal()) + ": "
                            + TlsFailures.printable(rootMessage(e))
                            + "). Both sides need the CAs of one source; renew the bundle of CAs here"
                            + " or the peer's certificate",
                    e);
        }
    }

    /** Returns the message of the deepest cause. The other messages have names of Java classes. */
    private static @Nullable String rootMessage(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.getMessage();
    }

    /**
     * Returns the identity of a peer whose certificates were verified, now or when the ticket of its connection was
     * made. Checks again that they are valid now.
     */
    public PeerIdentity identify(Certificate[] chain) throws CertificateException {
        if (chain.length == 0 || !(chain[0] instanceof X509Certificate leaf)) {
            throw new CertificateException("the peer sent no X.509 certificate; configure its identity");
        }
        for (Certificate certificate : chain) {
            if (certificate instanceof X509Certificate dated) {
                requireValidNow(dated);
            }
        }
        return new PeerIdentity(requireId(leaf), leaf);
    }

    private static SpiffeId requireId(X509Certificate leaf) throws CertificateException {
        return SpiffeId.of(leaf)
                .orElseThrow(() -> new CertificateException("the certificate of the peer ("
                        + TlsFailures.printable(leaf.getSubjectX500Principal())
                        + ") has no SPIFFE ID; it needs exactly one URI as subject alternative name, as in"
                        + " spiffe://example.org/ns/shop/sa/cart"));
    }

    private void requireValidNow(X509Certificate certificate) throws CertificateException {
        Instant now = clock.instant();
        try {
            certificate.checkValidity(Date.from(now));
        } catch (CertificateException e) {
            boolean early = now.isBefore(certificate.getNotBefore().toInstant());
            String name = SpiffeId.of(certificate)
                    .map(SpiffeId::toString)
                    .orElseGet(() -> TlsFailures.printable(certificate.getSubjectX500Principal()));
            String message = early
                    ? "the certificate of the peer (" + name + ") is not valid before "
                            + certificate.getNotBefore().toInstant() + ", and the clock here says " + now
                            + "; set the clocks of both hosts"
                    : "the certificate of the peer (" + name + ") expired at "
                            + certificate.getNotAfter().toInstant() + ", and the clock here says " + now
                            + "; renew it at the peer, or set the clocks of both hosts";
            throw new CertificateException(
                    message,
                    new CertPathValidatorException(
                            message,
                            e,
                            null,
                            -1,
                            early
                                    ? CertPathValidatorException.BasicReason.NOT_YET_VALID
                                    : CertPathValidatorException.BasicReason.EXPIRED));
        }
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        check(chain, domain -> domain.checkClientTrusted(chain, authType, engine));
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        check(chain, domain -> domain.checkServerTrusted(chain, authType, engine));
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        check(chain, domain -> domain.checkClientTrusted(chain, authType, socket));
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        check(chain, domain -> domain.checkServerTrusted(chain, authType, socket));
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        check(chain, domain -> domain.checkClientTrusted(chain, authType));
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        check(chain, domain -> domain.checkServerTrusted(chain, authType));
    }

    /** Returns nothing: a peer has one certificate, and needs no list of CAs to choose it. */
    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return NO_ISSUERS;
    }
}
