// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * SPIFFE ID: the name of a workload, as in {@code spiffe://example.org/ns/shop/sa/cart}.
 *
 * @param trustDomain name of the authority that gives the identity
 * @param path begins with a slash, or is empty
 */
public record SpiffeId(String trustDomain, String path) {

    private static final int MAX_LENGTH = 2048;
    private static final int MAX_TRUST_DOMAIN = 255;
    private static final int SAN_URI = 6;
    private static final Pattern FORM = Pattern.compile("spiffe://([a-z0-9._-]+)((?:/[A-Za-z0-9._-]+)*)");
    private static final Pattern RELATIVE = Pattern.compile(".*/\\.{1,2}(/.*)?");

    /** Returns the ID with this text, or empty if the text is not a valid ID. */
    public static Optional<SpiffeId> parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (text.length() > MAX_LENGTH
                || !matcher.matches()
                || RELATIVE.matcher(matcher.group(2)).matches()) {
            return Optional.empty();
        }
        return matcher.group(1).length() > MAX_TRUST_DOMAIN
                ? Optional.empty()
                : Optional.of(new SpiffeId(matcher.group(1), matcher.group(2)));
    }

    /**
     * Returns the ID of a certificate. Empty if the certificate does not have exactly one URI as a subject alternative
     * name, or if the URI is not a valid ID.
     */
    public static Optional<SpiffeId> of(X509Certificate certificate) {
        List<String> uris = new ArrayList<>();
        try {
            Collection<List<?>> names = certificate.getSubjectAlternativeNames();
            if (names != null) {
                for (List<?> name : names) {
                    if (name.get(0) instanceof Integer type && type == SAN_URI) {
                        uris.add(String.valueOf(name.get(1)));
                    }
                }
            }
        } catch (CertificateParsingException e) {
            return Optional.empty();
        }
        return uris.size() == 1 ? parse(uris.getFirst()) : Optional.empty();
    }

    @Override
    public String toString() {
        return "spiffe://" + trustDomain + path;
    }
}
