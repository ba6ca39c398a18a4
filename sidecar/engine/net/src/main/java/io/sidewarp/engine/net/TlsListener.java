// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.sidewarp.engine.net.tls.TlsFailure;
import io.sidewarp.engine.verbs.TlsAttributes;

/** Hears the outcome of the TLS handshake of a connection. All calls come on the event loop that owns it. */
public interface TlsListener {

    /** Reports that both sides are authenticated. MPA may begin. */
    void onTlsSecured(TlsAttributes agreed);

    /**
     * Reports that TLS failed. The transport ends the connection. May follow {@link #onTlsSecured}: an initiator hears
     * later that the peer refuses its certificate.
     */
    void onTlsFailed(TlsFailure failure);
}
