// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.identity;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.sidewarp.common.x509.Pem;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.pki.Pki;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The CAs of the controller, the oldest first: those whose certificates are still in use, and the next one. The Secret
 * has their certificates in {@code ca.crt} and their keys in {@code ca.key}, in the same order and in PEM.
 */
record Authorities(List<Authority> list) {
    private static final String CERTIFICATES = "ca.crt";
    private static final String KEYS = "ca.key";

    Authorities {
        if (list.isEmpty()) {
            throw new IllegalArgumentException("there must be a CA");
        }
        list = list.stream().sorted(Comparator.comparing(Authority::published)).toList();
    }

    /** Creates the first CA, which signs at once. */
    static Authorities create(String trustDomain, Instant now, Duration validity) {
        return new Authorities(List.of(Authority.create(trustDomain, now, validity)));
    }

    /**
     * Reads a Secret.
     *
     * @throws IllegalArgumentException if the Secret has no CAs with their keys
     */
    static Authorities of(Secret secret) {
        try {
            List<X509Certificate> certificates = Pki.certificates(text(secret, CERTIFICATES));
            List<PrivateKey> keys = Pki.privateKeys(text(secret, KEYS));
            if (certificates.isEmpty() || certificates.size() != keys.size()) {
                throw new IllegalArgumentException(CERTIFICATES + " has " + certificates.size() + " certificates, and "
                        + KEYS + " has " + keys.size() + " keys; each CA needs both");
            }
            List<Authority> list = new ArrayList<>();
            for (int i = 0; i < keys.size(); i++) {
                if (!Pki.isKeyOf(keys.get(i), certificates.get(i))) {
                    throw new IllegalArgumentException("key " + (i + 1) + " of " + KEYS + " does not belong to "
                            + certificates.get(i).getSubjectX500Principal());
                }
                list.add(new Authority(certificates.get(i), keys.get(i)));
            }
            return new Authorities(list);
        } catch (IOException | GeneralSecurityException e) {
            // The cause may contain a part of the key.
            throw new IllegalArgumentException(CERTIFICATES + " or " + KEYS + " is not in PEM");
        }
    }

    private static String text(Secret secret, String name) {
        Map<String, String> data = secret.getData() == null ? Map.of() : secret.getData();
        String value = data.get(name);
        if (value == null) {
            throw new IllegalArgumentException(name + " is missing");
        }
        return new String(Base64.getDecoder().decode(value), StandardCharsets.UTF_8);
    }

    Secret toSecret(String namespace, String name) {
        StringBuilder keys = new StringBuilder();
        list.forEach(authority ->
                keys.append(Pem.encode("PRIVATE KEY", authority.key().getEncoded())));
        return new SecretBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .addToLabels(OperatorConfig.MANAGED_LABEL, OperatorConfig.MANAGER)
                .endMetadata()
                .withType("Opaque")
                .addToData(CERTIFICATES, encode(bundle()))
                .addToData(KEYS, encode(keys.toString()))
                .build();
    }

    private static String encode(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns the certificates of all CAs, in PEM. */
    String bundle() {
        return Pem.encode(list.stream().map(Authority::certificate).toList());
    }

    /**
     * Returns the CA that signs certificates of sidecars: the newest one that all peers know. While there is none, the
     * oldest valid one signs.
     */
    Authority signer(Instant now) {
        return list.reversed().stream()
                .filter(authority -> authority.isKnown(now) && !authority.isExpired(now))
                .findFirst()
                .orElseGet(() -> oldest(now));
    }

    /**
     * Returns the oldest valid CA, which signs the certificate of the identity service. A sidecar that starts again
     * has the bundle of the time at which its pod was created. That bundle contains the oldest CA for the longest time.
     */
    Authority oldest(Instant now) {
        return list.stream()
                .filter(authority -> !authority.isExpired(now))
                .findFirst()
                .orElseGet(list::getLast);
    }

    /** Returns the CAs without those that have expired, and with the next CA if its time has come. */
    Authorities renewed(String trustDomain, Instant now, Duration validity) {
        List<Authority> valid =
                list.stream().filter(authority -> !authority.isExpired(now)).toList();
        return valid.isEmpty() || !now.isBefore(valid.getLast().successorDue())
                ? new Authorities(Stream.concat(valid.stream(), Stream.of(Authority.create(trustDomain, now, validity)))
                        .toList())
                : new Authorities(valid);
    }

    /** Returns a text without keys. */
    @Override
    public String toString() {
        return list.toString();
    }
}
