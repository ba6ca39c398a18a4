// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.connection;

import io.grpc.Status;
import io.sidewarp.common.LogText;
import io.sidewarp.engine.net.tls.TlsIdentity;
import io.sidewarp.engine.verbs.PeerIdentity;
import io.sidewarp.engine.verbs.PeerPattern;
import io.sidewarp.engine.verbs.SecurityPolicy;
import io.sidewarp.engine.verbs.TlsUse;
import io.sidewarp.provider.software.SoftwareProvider;
import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.settings.SecuritySettings;
import io.sidewarp.settings.SidewarpConfig;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.CrcPreference;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Policies about TLS and peers: the caller's options within the administrator's limits, and defaults. */
final class SecurityRules {

    private SecurityRules() {}

    /** Returns the policy of a connection before its peers are restricted. */
    static SecurityPolicy of(ConnectionOptions options, SessionContext context) {
        return of(options, false, context);
    }

    /** Returns the policy of a listener. Both the administrator and the caller have to permit a peer. */
    static SecurityPolicy listening(ConnectionOptions options, List<String> allowed, SessionContext context) {
        List<PeerPattern> ofCaller = patterns(allowed);
        List<PeerPattern> ofAdministrator =
                SecuritySettings.peers(context.config().connection());
        TlsIdentity own = context.identity();
        return of(options, !allowed.isEmpty(), context)
                .withPeers(peer -> permits(ofAdministrator, peer, own) && permits(ofCaller, peer, own));
    }

    /** Returns the policy of a connection from this side. By default, the peer must be in the same namespace. */
    static SecurityPolicy connecting(ConnectionOptions options, List<String> allowed, SessionContext context) {
        List<PeerPattern> ofCaller = patterns(allowed);
        TlsIdentity own = context.identity();
        Predicate<PeerIdentity> peers = ofCaller.isEmpty()
                ? peer -> own.current()
                        .filter(self -> permits(List.of(PeerPattern.neighbours(self.id())), peer, own))
                        .isPresent()
                : peer -> permits(ofCaller, peer, own);
        SecurityPolicy policy = of(options, !allowed.isEmpty(), context);
        if (policy.security() == TlsUse.PREFERRED
                && own.current().isEmpty()
                && context.config().identity().source().isPresent()) {
            context.logs()
                    .withoutTls()
                    .warn(() -> "message="
                            + LogText.quoted("security is `preferred`, and this sidecar has no certificate yet, so"
                                    + " connections begin without TLS; wait until the sidecar is ready, or use"
                                    + " `required`. Reason: " + own.reason()));
        }
        return policy.withPeers(peers);
    }

    private static SecurityPolicy of(ConnectionOptions options, boolean restricted, SessionContext context) {
        TlsUse security = security(options, restricted, context.config().connection());
        if (security == TlsUse.REQUIRED
                && context.device().attributes().provider().equals(SoftwareProvider.NAME)) {
            requireIdentity(context);
        }
        boolean crcLeftToSettings = options.getCrc() == CrcPreference.CRC_PREFERENCE_UNSPECIFIED;
        return SecurityPolicy.of(security)
                .withTlsReplacesCrc(crcLeftToSettings
                        && SecuritySettings.tlsReplacesCrc(context.config().connection()));
    }

    private static void requireIdentity(SessionContext context) {
        if (context.identity().current().isPresent()) {
            return;
        }
        if (context.config().identity().source().isEmpty()) {
            throw ApiError.state("the connection needs TLS, and this sidecar has no identity; set"
                    + " sidewarp.identity.source to builtin, files or spiffe, or ask for less (options.security,"
                    + " allowed_peers)");
        }
        throw ApiError.of(
                Status.Code.UNAVAILABLE,
                "the connection needs TLS, and this sidecar has no certificate yet; wait until it is ready. Reason: "
                        + context.identity().reason());
    }

    private static TlsUse security(ConnectionOptions options, boolean restricted, SidewarpConfig.Connection settings) {
        TlsUse asked = switch (options.getSecurity()) {
            case SECURITY_UNSPECIFIED -> restricted ? TlsUse.REQUIRED : SecuritySettings.byDefault(settings);
            case SECURITY_PLAIN -> TlsUse.PLAIN;
            case SECURITY_PREFERRED -> TlsUse.PREFERRED;
            case SECURITY_REQUIRED -> TlsUse.REQUIRED;
            case UNRECOGNIZED ->
                throw ApiError.invalid(
                        "options.security",
                        options.getSecurityValue(),
                        "SECURITY_PLAIN, SECURITY_PREFERRED, SECURITY_REQUIRED");
        };
        if (asked.isWeakerThan(SecuritySettings.least(settings))) {
            throw ApiError.of(
                    Status.Code.PERMISSION_DENIED,
                    "options.security is " + options.getSecurity() + ", but connections need TLS here, because the"
                            + " administrator named the permitted peers (setting sidewarp.connection.peers); leave"
                            + " options.security unset");
        }
        if (restricted && asked == TlsUse.PLAIN) {
            throw ApiError.invalid(
                    "allowed_peers is set, but options.security is SECURITY_PLAIN, which authenticates no"
                            + " peer; leave one of them unset");
        }
        return asked;
    }

    private static List<PeerPattern> patterns(List<String> texts) {
        if (texts.size() > PeerPattern.MAX_PATTERNS) {
            throw ApiError.invalid(
                    "allowed_peers", texts.size() + " patterns", "at most " + PeerPattern.MAX_PATTERNS + " patterns");
        }
        List<PeerPattern> patterns = new ArrayList<>(texts.size());
        for (String text : texts) {
            try {
                patterns.add(PeerPattern.parse(text));
            } catch (IllegalArgumentException e) {
                throw ApiError.invalid("allowed_peers: " + e.getMessage());
            }
        }
        return patterns;
    }

    /** Returns whether a pattern matches the peer. No patterns permit each peer. */
    private static boolean permits(List<PeerPattern> patterns, PeerIdentity peer, TlsIdentity own) {
        String trustDomain = own.current().map(self -> self.id().trustDomain()).orElse("");
        return patterns.isEmpty() || patterns.stream().anyMatch(pattern -> pattern.matches(peer.id(), trustDomain));
    }
}
