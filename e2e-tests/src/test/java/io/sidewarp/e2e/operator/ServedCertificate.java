// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.operator;

import io.sidewarp.operator.testing.TrustAll;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLSocket;

/** Reads the certificate of a server on the loopback interface without verifying its issuer. */
final class ServedCertificate {
    private ServedCertificate() {}

    static X509Certificate at(int port) {
        try (SSLSocket socket = TrustAll.connect(port)) {
            return (X509Certificate) socket.getSession().getPeerCertificates()[0];
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
