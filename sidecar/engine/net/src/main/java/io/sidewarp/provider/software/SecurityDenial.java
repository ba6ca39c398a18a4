// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/**
 * Reasons for which the policy of a listener denies a connection. The private data of a rejection tells the reason.
 */
public enum SecurityDenial {
    /** The peer connected without TLS. */
    TLS_REQUIRED(
            "Sidewarp: TLS is required here", "it takes only connections with TLS; ask for `preferred` or `required`"),
    /** The identity of the peer is not permitted. */
    NOT_PERMITTED(
            "Sidewarp: this identity is not permitted",
            "it does not permit the identity of this side; permit that identity at the peer"),
    /** One side does not accept the certificate of the other side. An alert of TLS tells this reason. */
    CERTIFICATE(
            "Sidewarp: the certificate is not accepted",
            "it does not accept the certificate of this side; renew it, or give the CA of this side to the peer");

    private final String reason;
    private final String advice;

    SecurityDenial(String reason, String advice) {
        this.reason = reason;
        this.advice = advice;
    }

    /** Returns the private data of the rejection. */
    byte[] reason() {
        return reason.getBytes(StandardCharsets.US_ASCII);
    }

    /** Returns the cause and the remedy for people on the side of the initiator. */
    String advice() {
        return advice;
    }

    /** Returns the name of the reason for logs and metrics. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the reason that the private data of a rejection tells. Empty for a rejection by an application. */
    static Optional<SecurityDenial> of(byte[] privateData) {
        return Arrays.stream(values())
                .filter(denial -> Arrays.equals(denial.reason(), privateData))
                .findFirst();
    }
}
