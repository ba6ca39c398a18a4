// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/** TLS client for servers on the loopback interface. It accepts any certificate. */
public final class TrustAll implements X509TrustManager {
    private static final int LIMIT_SECONDS = 60;

    private TrustAll() {}

    /** Returns a connection to a port of this machine. The handshake has not started yet. */
    public static SSLSocket connect(int port) throws IOException, GeneralSecurityException {
        SSLContext trusting = SSLContext.getInstance("TLS");
        trusting.init(null, new TrustManager[] {new TrustAll()}, null);
        SSLSocket socket = (SSLSocket) trusting.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout((int) TimeUnit.SECONDS.toMillis(LIMIT_SECONDS));
        return socket;
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return new X509Certificate[0];
    }
}
