// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.tls;

import io.sidewarp.engine.net.tls.TlsFailure.Kind;
import java.security.cert.CertificateException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Explains exceptions of a TLS engine. */
public final class TlsFailures {

    private static final Pattern ALERT = Pattern.compile("fatal alert: (\\w+)");
    /** Begins the message of an exception for which this side sends an alert. */
    private static final Pattern OWN_ALERT = Pattern.compile("\\((\\w+)\\) ");

    private static final String NO_TLS_13 = "the peer does not speak TLS 1.3; update the peer";

    /** Texts of the Java library, which has no type for these errors. */
    private static final String NO_CERTIFICATE = "Empty client certificate chain";

    private static final String NO_TLS = "Unsupported or unrecognized SSL message";
    private static final String TOO_LARGE = "exceeds the maximum allowed";

    /** Most characters of a text that a stranger may have chosen, in a message. */
    private static final int MAX_TEXT = 200;

    /** Most characters of a message about a certificate, which may have two SPIFFE IDs. */
    private static final int MAX_MESSAGE = 5000;

    private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

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
                return new TlsFailure(Kind.CERTIFICATE, printable(message(cause), MAX_MESSAGE));
            }
        }
        String text = printable(message(thrown));
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
            return new TlsFailure(Kind.PROTOCOL, ofPeersFault(text));
        }
        return new TlsFailure(Kind.PROTOCOL, "TLS failed on this side: " + printable(thrown));
    }

    private static String ofPeersFault(String text) {
        Matcher own = OWN_ALERT.matcher(text);
        return switch (own.lookingAt() ? own.group(1) : "") {
            case "no_application_protocol" ->
                "the peer speaks TLS for another protocol than " + TlsCredentials.ALPN
                        + "; check that it is a Sidewarp peer";
            case "protocol_version" -> NO_TLS_13;
            default -> "the peer broke a rule of TLS: " + text;
        };
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
            case "protocol_version" -> new TlsFailure(Kind.PROTOCOL, NO_TLS_13);
            default -> new TlsFailure(Kind.PROTOCOL, "the peer ended TLS with the alert " + alert);
        };
    }

    /**
     * Makes text of a peer, which may be a stranger, fit for messages: without control characters, which could begin a
     * line of a log, and with a bounded length.
     */
    static String printable(@Nullable Object foreign) {
        return printable(foreign, MAX_TEXT);
    }

    private static String printable(@Nullable Object foreign, int max) {
        String text = String.valueOf(foreign);
        String cut = text.length() > max ? text.substring(0, max) + " ..." : text;
        return CONTROL.matcher(cut).replaceAll("?");
    }

    private static String message(Throwable thrown) {
        String text = thrown.getMessage();
        return text == null ? thrown.toString() : text;
    }
}
