// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.settings;

import io.sidewarp.common.x509.Pem;
import io.sidewarp.settings.IdentityConfig.Source;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Optional;

/** Checks the settings of the identity. */
final class IdentityCheck {

    private static final String PREFIX = "sidewarp.identity.";

    private final List<String> problems;

    private IdentityCheck(List<String> problems) {
        this.problems = problems;
    }

    static void check(IdentityConfig config, List<String> problems) {
        new IdentityCheck(problems).check(config);
    }

    private void check(IdentityConfig config) {
        Optional<Source> source = config.source();
        if (source.isEmpty()) {
            refuse("directory", config.directory(), "`files` or `builtin`");
            refuse("issuer", config.issuer(), "`builtin`");
            refuse("trust-bundle", config.trustBundle(), "`builtin`");
            return;
        }
        switch (source.get()) {
            case FILES -> directory(config, "tls.crt, tls.key and ca.crt");
            case SPIFFE ->
                config.socket()
                        .ifPresentOrElse(
                                IdentityCheck.this::socket,
                                () -> missing(
                                        "socket", "spiffe", "the Workload API, as in unix:///run/spire/agent.sock"));
            case BUILTIN -> {
                directory(config, "the service account token");
                config.issuer()
                        .ifPresentOrElse(
                                IdentityCheck.this::issuer,
                                () -> missing("issuer", "builtin", "the controller's CA, as in https://HOST:PORT"));
                config.trustBundle()
                        .ifPresentOrElse(
                                IdentityCheck.this::trustBundle,
                                () -> missing("trust-bundle", "builtin", "the CAs of the issuer, in PEM"));
            }
        }
    }

    private void directory(IdentityConfig config, String content) {
        config.directory()
                .ifPresentOrElse(
                        path -> {
                            if (!path.startsWith("/")) {
                                add("directory", path, "an absolute path");
                            }
                        },
                        () -> missing(
                                "directory", name(config.source().orElseThrow()), "the directory with " + content));
    }

    private void socket(String address) {
        if (!address.matches("unix:/[^/].*|unix:///.+|tcp://[0-9a-fA-F.:\\[\\]]+:[0-9]+")) {
            add("socket", address, "unix:///PATH, or tcp://ADDRESS:PORT with an IP address");
        }
    }

    private void issuer(String url) {
        try {
            URI uri = new URI(url);
            if ("https".equals(uri.getScheme()) && uri.getHost() != null && uri.getPort() > 0) {
                return;
            }
        } catch (URISyntaxException e) {
            // Reported below.
        }
        add("issuer", url, "https://HOST:PORT");
    }

    private void trustBundle(String pem) {
        try {
            Pem.certificates(pem);
        } catch (IllegalArgumentException e) {
            problems.add(PREFIX + "trust-bundle has no CAs in PEM: " + e.getMessage());
        }
    }

    private void refuse(String setting, Optional<String> value, String sources) {
        if (value.isPresent()) {
            problems.add(PREFIX + setting + " is set, but not " + PREFIX + "source; set the source to " + sources
                    + ", or unset " + PREFIX + setting);
        }
    }

    private void missing(String setting, String source, String value) {
        problems.add(PREFIX + setting + " is unset, but " + PREFIX + "source is " + source + "; set it to " + value);
    }

    private static String name(Source source) {
        return source == Source.FILES ? "files" : "builtin";
    }

    private void add(String setting, String value, String allowed) {
        problems.add(PREFIX + setting + " is " + value + "; allowed: " + allowed);
    }
}
