// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.operator;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/** A look at the certificate that a server on the loopback interface has, whoever made it. */
final class ServedCertificate {
    private static final int TIMEOUT_MILLIS = 10_000;

    private ServedCertificate() {}

    static X509Certificate at(int port) {
        try {
            SSLContext trusting = SSLContext.getInstance("TLS");
            trusting.init(null, new TrustManager[] {new TrustAll()}, null);
            try (SSLSocket socket =
                    (SSLSocket) trusting.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port)) {
                socket.setSoTimeout(TIMEOUT_MILLIS);
                return (X509Certificate) socket.getSession().getPeerCertificates()[0];
            }
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static final class TrustAll implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
