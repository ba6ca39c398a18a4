// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.tls;

import io.sidewarp.engine.net.tls.TlsFailure.Kind;
import java.security.cert.CertificateException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;

/** Explains exceptions of a TLS engine. */
public final class TlsFailures {

    private static final Pattern ALERT = Pattern.compile("fatal alert: (\\w+)");
    /** Texts of the Java library, which has no type for these errors. */
    private static final String NO_CERTIFICATE = "Empty client certificate chain";

    private static final String NO_TLS = "Unsupported or unrecognized SSL message";
    private static final String TOO_LARGE = "exceeds the maximum allowed";

    private TlsFailures() {}

    /**
     * Explains an exception.
     *
     * @param own credentials of this side
     * @param answered whether the peer has sent a valid record before
     */
    public static TlsFailure explain(Throwable thrown, TlsCredentials own, boolean answered) {
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            if (cause instanceof CertificateException) {
                return new TlsFailure(Kind.CERTIFICATE, message(cause));
            }
        }
        String text = message(thrown);
        Matcher alert = ALERT.matcher(text);
        if (alert.find()) {
            return ofAlert(alert.group(1).toLowerCase(Locale.ROOT), own);
        }
        if (text.contains(NO_CERTIFICATE)) {
            return new TlsFailure(Kind.CERTIFICATE, "the peer sent no certificate; configure the identity of the peer");
        }
        if (text.contains(NO_TLS) && !answered) {
            return new TlsFailure(Kind.NOT_TLS, "the peer sent something else than TLS");
        }
        if (text.contains(TOO_LARGE)) {
            return new TlsFailure(
                    Kind.CERTIFICATE,
                    "the peer's handshake is larger than permitted (" + text
                            + "); its certificates need fewer or shorter names");
        }
        if (thrown instanceof SSLException) {
            return new TlsFailure(Kind.PROTOCOL, "the peer broke a rule of TLS: " + text);
        }
        return new TlsFailure(Kind.PROTOCOL, "TLS failed on this side: " + thrown);
    }

    private static TlsFailure ofAlert(String alert, TlsCredentials own) {
        return switch (alert) {
            case "bad_certificate",
                    "unsupported_certificate",
                    "certificate_revoked",
                    "certificate_expired",
                    "certificate_unknown",
                    "unknown_ca",
                    "access_denied",
                    "certificate_required" ->
                new TlsFailure(
                        Kind.CERTIFICATE,
                        "the peer refuses the certificate of this side, " + own.id() + " valid until " + own.expiry()
                                + " (alert " + alert
                                + "). Renew it if it expired, set the clocks of both hosts, and give"
                                + " the CA of this side to the peer");
            case "no_application_protocol" ->
                new TlsFailure(
                        Kind.PROTOCOL,
                        "the peer speaks TLS for another protocol than " + TlsCredentials.ALPN
                                + "; check that a Sidewarp listener has this port");
            case "protocol_version" ->
                new TlsFailure(Kind.PROTOCOL, "the peer does not speak TLS 1.3; update the peer");
            default -> new TlsFailure(Kind.PROTOCOL, "the peer ended TLS with the alert " + alert);
        };
    }

    private static String message(Throwable thrown) {
        String text = thrown.getMessage();
        return text == null ? thrown.toString() : text;
    }
}
