// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.sidewarp.operator.api.v1alpha1.IdentitySource;
import io.sidewarp.operator.api.v1alpha1.IdentitySpec;
import io.sidewarp.operator.api.v1alpha1.PeerRule;
import io.sidewarp.operator.api.v1alpha1.PlainPeers;
import io.sidewarp.operator.api.v1alpha1.SecurityMode;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * TLS, permitted peers and identity of a sidecar. A profile that says nothing about them adds nothing to a pod.
 *
 * @param settings settings of the sidecar by their names
 * @param source source of the sidecar's identity; empty if the sidecar gets none
 * @param csiDriver driver of the volume that has the identity; unused for {@link IdentitySource#BUILTIN}
 */
record PeerSecurity(Map<String, String> settings, Optional<IdentitySource> source, String csiDriver) {
    /** Sidecar without TLS, which permits each peer. */
    static final PeerSecurity NONE = new PeerSecurity(Map.of(), Optional.empty(), "");

    /** Name of the volume with the identity, which only the sidecar mounts. */
    static final String VOLUME = "sidewarp-identity";

    /** Directory of this volume in the sidecar. */
    static final String DIRECTORY = "/run/sidewarp-identity";

    static final String SECURITY_SETTING = "sidewarp.connection.security";
    static final String PEERS_SETTING = "sidewarp.connection.peers";
    static final String PLAIN_PEERS_SETTING = "sidewarp.connection.plain-peers";
    static final String SOURCE_SETTING = "sidewarp.identity.source";
    static final String DIRECTORY_SETTING = "sidewarp.identity.directory";
    static final String SOCKET_SETTING = "sidewarp.identity.socket";
    static final String ISSUER_SETTING = "sidewarp.identity.issuer";
    static final String TRUST_BUNDLE_SETTING = "sidewarp.identity.trust-bundle";

    private static final String CERT_MANAGER_DRIVER = "spiffe.csi.cert-manager.io";
    private static final String WORKLOAD_API_DRIVER = "csi.spiffe.io";

    /** Socket of a SPIRE agent in the volume of its CSI driver. */
    private static final String SPIRE_SOCKET = "unix://" + DIRECTORY + "/spire-agent.sock";

    private static final String AUDIENCE = "sidewarp";
    private static final String TOKEN = "token";
    private static final long TOKEN_SECONDS = 3600;

    PeerSecurity {
        settings = Map.copyOf(settings);
    }

    /** Returns what is wrong with the peers and the identity of a profile, and what to do. Empty if nothing is wrong. */
    static Optional<String> whatIsWrong(SidecarProfileSpec profile, IdentityOffer offer) {
        List<PeerRule> peers = profile.peers();
        if (peers == null && profile.plainPeers() == PlainPeers.ALLOWED) {
            return Optional.of(
                    "plainPeers is allowed, and peers is unset, so each peer may connect; add peers, or remove"
                            + " plainPeers");
        }
        if (peers != null) {
            Optional<String> wrong = whatIsWrongWithPeers(profile, peers);
            if (wrong.isPresent()) {
                return wrong;
            }
        }
        return needsIdentity(profile) ? whatIsWrongWithIdentity(profile, offer) : Optional.empty();
    }

    private static Optional<String> whatIsWrongWithPeers(SidecarProfileSpec profile, List<PeerRule> peers) {
        for (int i = 0; i < peers.size(); i++) {
            PeerRule peer = peers.get(i);
            boolean byNames = peer.namespace() != null || peer.serviceAccount() != null;
            if ((peer.spiffeId() != null) == byNames) {
                return Optional.of("peers[" + i + "] has " + (byNames ? "spiffeId and other members" : "no member")
                        + "; give either spiffeId, or namespace, serviceAccount or both");
            }
        }
        boolean plainPeers = profile.plainPeers() == PlainPeers.ALLOWED;
        SecurityMode implied = plainPeers ? SecurityMode.PREFERRED : SecurityMode.REQUIRED;
        return Optional.ofNullable(profile.security())
                .filter(security -> security != implied)
                .map(security -> "security is " + security.value() + ", and with peers "
                        + (plainPeers ? "and plainPeers " : "") + "it is " + implied.value() + "; remove security");
    }

    private static Optional<String> whatIsWrongWithIdentity(SidecarProfileSpec profile, IdentityOffer offer) {
        Optional<IdentitySource> source = source(profile, offer);
        if (source.isEmpty()) {
            return Optional.of("the sidecar needs an identity for TLS, and neither identity.source of the profile nor"
                    + " identity.source of the chart's values is set; set one of them to builtin, files or spiffe");
        }
        if (source.get() != IdentitySource.BUILTIN) {
            return Optional.empty();
        }
        if (profile.identity() != null && profile.identity().csiDriver() != null) {
            return Optional.of("identity.csiDriver is " + profile.identity().csiDriver()
                    + ", and the source builtin has no CSI driver; remove csiDriver, or set identity.source to files or"
                    + " spiffe");
        }
        return offer.issuer().isPresent()
                ? Optional.empty()
                : Optional.of("identity.source is builtin, and the controller signs no certificates; set"
                        + " identity.enabled of the chart's values to true, or choose files or spiffe");
    }

    /** Returns whether a usable profile waits for the first CA of the controller. */
    static boolean waitsForCa(SidecarProfileSpec profile, IdentityOffer offer) {
        return needsIdentity(profile)
                && source(profile, offer).equals(Optional.of(IdentitySource.BUILTIN))
                && offer.trustBundle().isEmpty();
    }

    /**
     * Returns the security of sidecars of a profile with which nothing is wrong.
     *
     * @param namespace namespace of the pod
     */
    static PeerSecurity of(SidecarProfileSpec profile, String namespace, IdentityOffer offer) {
        if (!needsIdentity(profile)) {
            return NONE;
        }
        Map<String, String> settings = new LinkedHashMap<>();
        SecurityMode security = profile.security();
        if (security != null) {
            settings.put(SECURITY_SETTING, security.value());
        }
        List<PeerRule> peers = profile.peers();
        if (peers != null) {
            settings.put(
                    PEERS_SETTING,
                    peers.stream().map(peer -> pattern(peer, namespace)).collect(Collectors.joining(",")));
        }
        if (profile.plainPeers() == PlainPeers.ALLOWED) {
            settings.put(PLAIN_PEERS_SETTING, "true");
        }
        IdentitySource source = source(profile, offer).orElseThrow();
        settings.put(SOURCE_SETTING, source.value());
        String driver = Optional.ofNullable(profile.identity())
                .map(IdentitySpec::csiDriver)
                .orElse(null);
        switch (source) {
            case BUILTIN -> {
                settings.put(DIRECTORY_SETTING, DIRECTORY);
                offer.issuer().ifPresent(issuer -> settings.put(ISSUER_SETTING, issuer));
                offer.trustBundle().ifPresent(bundle -> settings.put(TRUST_BUNDLE_SETTING, bundle));
            }
            case FILES -> settings.put(DIRECTORY_SETTING, DIRECTORY);
            case SPIFFE -> settings.put(SOCKET_SETTING, SPIRE_SOCKET);
        }
        return new PeerSecurity(settings, Optional.of(source), driver(source, driver));
    }

    private static String driver(IdentitySource source, @Nullable String named) {
        return Objects.requireNonNullElse(
                named, source == IdentitySource.FILES ? CERT_MANAGER_DRIVER : WORKLOAD_API_DRIVER);
    }

    /** Returns a pattern of SPIFFE IDs, in the short form for pods of the sidecar's own trust domain. */
    private static String pattern(PeerRule peer, String namespace) {
        if (peer.spiffeId() != null) {
            return peer.spiffeId();
        }
        return "ns/" + Objects.requireNonNullElse(peer.namespace(), namespace) + "/sa/"
                + Objects.requireNonNullElse(peer.serviceAccount(), "*");
    }

    private static boolean needsIdentity(SidecarProfileSpec profile) {
        return profile.identity() != null
                || profile.peers() != null
                || profile.security() == SecurityMode.PREFERRED
                || profile.security() == SecurityMode.REQUIRED;
    }

    private static Optional<IdentitySource> source(SidecarProfileSpec profile, IdentityOffer offer) {
        return Optional.ofNullable(profile.identity()).map(IdentitySpec::source).or(offer::source);
    }

    /**
     * Returns the volume with the identity, for a pod that has none of this name. All kinds are permitted by the Pod
     * Security Standard {@code restricted}.
     *
     * @param group group of the sidecar
     */
    Optional<Volume> volume(long group) {
        return source.map(origin -> {
            VolumeBuilder volume = new VolumeBuilder().withName(VOLUME);
            if (origin == IdentitySource.BUILTIN) {
                return volume.withNewProjected()
                        .addNewSource()
                        .withNewServiceAccountToken()
                        .withAudience(AUDIENCE)
                        .withExpirationSeconds(TOKEN_SECONDS)
                        .withPath(TOKEN)
                        .endServiceAccountToken()
                        .endSource()
                        .endProjected()
                        .build();
            }
            var csi = volume.withNewCsi().withDriver(csiDriver).withReadOnly(true);
            if (csiDriver.equals(CERT_MANAGER_DRIVER)) {
                // Otherwise only root could read the key.
                csi.addToVolumeAttributes(CERT_MANAGER_DRIVER + "/fs-group", Long.toString(group));
            }
            return csi.endCsi().build();
        });
    }
}
