// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import io.fabric8.kubernetes.api.model.Quantity;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import io.sidewarp.operator.api.v1alpha1.SidecarResources;
import io.sidewarp.settings.SettingsCheck;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Checks whether a profile can be used. The schema of the custom resource cannot express these rules. */
public final class ProfileRules {
    private static final String PREFIX = "sidewarp.";
    private static final Pattern AMOUNT = Pattern.compile("[0-9]{1,18}([.][0-9]{1,18})?(k|Ki|[MGTPE]i?)?");

    /**
     * Variables of settings that the profile's other fields or the pod determine. Several settings have the same
     * variable: sidewarp.api.socket and sidewarp.api-socket.
     */
    private static final Set<String> RESERVED = Stream.of(
                    "sidewarp.api",
                    "sidewarp.api.socket",
                    "sidewarp.api.socket-mode",
                    "sidewarp.shared-volume",
                    "sidewarp.volume",
                    "sidewarp.advanced.management.enabled",
                    "sidewarp.management.host",
                    "sidewarp.management.port",
                    PeerSecurity.SECURITY_SETTING,
                    PeerSecurity.PEERS_SETTING,
                    PeerSecurity.PLAIN_PEERS_SETTING,
                    PeerSecurity.SOURCE_SETTING,
                    PeerSecurity.DIRECTORY_SETTING,
                    PeerSecurity.ISSUER_SETTING,
                    PeerSecurity.TRUST_BUNDLE_SETTING)
            .map(PodMutator::variableOf)
            .collect(Collectors.toUnmodifiableSet());

    /** Message for a profile that needs native sidecars in a cluster without them. */
    public static final String NO_NATIVE_SIDECARS =
            "asks for a native sidecar, which needs Kubernetes 1.29 or later; set its placement to Auto or Container";

    /** Message for a profile whose sidecars the controller cannot give certificates yet. */
    public static final String NO_CA =
            "the controller has no CA yet, which signs the certificates of sidecars; try again in some seconds, and see"
                    + " the controller's log if this stays";

    private ProfileRules() {}

    /** Returns the message for a profile whose policy has no network for pods. */
    public static String noNetwork(String nicPolicy) {
        return "takes devices of the IwarpNicPolicy " + nicPolicy
                + ", which has no network (yet); see its conditions, or remove nicPolicy from the profile";
    }

    /** Returns whether a usable profile waits for the first CA of the controller. */
    public static boolean waitsForCa(SidecarProfileSpec profile, IdentityOffer offer) {
        return PeerSecurity.waitsForCa(profile, offer);
    }

    /**
     * Returns what is wrong with a profile, and what to do. Empty if nothing is wrong.
     *
     * @param namespace namespace of the profile
     */
    public static Optional<String> whatIsWrong(SidecarProfileSpec profile, String namespace, IdentityOffer offer) {
        // A limit of huge pages is for pods that bring a volume in huge pages. A pod without such a volume is checked
        // when it is created.
        boolean ofHugePages = profile.resources().limitsWith(PodSharedVolume.NO_MEMORY).keySet().stream()
                .anyMatch(HugePages::isResource);
        return whatIsWrong(profile, ofHugePages ? PodSharedVolume.NO_MEMORY : profile.sharedMemory(), namespace, offer);
    }

    /**
     * Returns what is wrong with a profile for one pod.
     *
     * @param sharedMemory how much of the sidecar's memory shared regions of the pod can take
     */
    static Optional<String> whatIsWrong(
            SidecarProfileSpec profile, Quantity sharedMemory, String namespace, IdentityOffer offer) {
        for (String name : new TreeSet<>(profile.settings().keySet())) {
            if (!name.startsWith(PREFIX) || !name.matches("[a-z0-9.-]+")) {
                return Optional.of("settings has " + Excerpt.quoted(name)
                        + ", which is no setting of the sidecar; names start with " + PREFIX
                        + " and are listed in docs/configuration.md");
            }
            if (RESERVED.contains(PodMutator.variableOf(name))) {
                return Optional.of("settings has " + name + ", which the operator sets itself; remove it");
            }
        }
        Optional<String> security = PeerSecurity.whatIsWrong(profile, offer);
        if (security.isPresent()) {
            return security;
        }
        Map<String, String> settings =
                new HashMap<>(PeerSecurity.of(profile, namespace, offer).settings());
        String members = settings.isEmpty() ? "settings" : "security, peers, identity or settings";
        settings.putAll(profile.settings());
        if (!settings.isEmpty() && !PeerSecurity.waitsForCa(profile, offer)) {
            Optional<String> setting = SettingsCheck.whatIsWrong(settings, "settings");
            if (setting.isPresent()) {
                return setting.map(words -> "a sidecar does not start with its settings: " + Excerpt.message(words)
                        + "; correct " + members);
            }
        }
        if (profile.mountPath().equals(PodMutator.TEMPORARY_DIRECTORY)) {
            return Optional.of("mountPath is " + profile.mountPath()
                    + ", where programs have their temporary files; choose another directory, for instance "
                    + profile.mountPath() + "/sidewarp");
        }
        if (!isPositive(profile.sharedMemory())) {
            return Optional.of(
                    "sharedMemory is " + profile.sharedMemory() + "; it has to be above 0, for instance 1Gi");
        }
        Map<String, Quantity> requests = profile.resources().requests();
        Map<String, Quantity> limits = profile.resources().limitsWith(sharedMemory);
        Optional<String> resources =
                ResourceRules.whatIsWrong(requests, limits).or(() -> HugePages.whatIsWrong(requests, limits));
        if (resources.isPresent()) {
            return resources;
        }
        for (Map.Entry<String, Quantity> limit : limits.entrySet()) {
            Quantity request = requests.get(limit.getKey());
            if (request != null
                    && isNumber(request)
                    && isNumber(limit.getValue())
                    && request.getNumericalAmount().compareTo(limit.getValue().getNumericalAmount()) > 0) {
                return Optional.of("resources has a request of " + limit.getKey() + " (" + request
                        + ") above its limit (" + limit.getValue() + "); raise the limit or lower the request");
            }
        }
        Quantity memory = limits.get("memory");
        if (memory != null && isNumber(memory) && memory.compareTo(sharedMemory) <= 0) {
            return Optional.of("resources has a limit of memory (" + memory
                    + ") not above what shared regions can take of it (" + sharedMemory + "); raise the limit to "
                    + SidecarResources.memoryWith(sharedMemory) + ", or have less shared memory");
        }
        return Optional.empty();
    }

    /**
     * Parses an amount that a user wrote. Empty if the text is no amount above 0. Exponents are rejected, as in a
     * profile: with an exponent, a few characters denote a number that takes minutes to calculate with.
     */
    static Optional<Quantity> amount(String text) {
        return Optional.of(text)
                .filter(written -> AMOUNT.matcher(written).matches())
                .map(Quantity::new)
                .filter(ProfileRules::isPositive);
    }

    static boolean isPositive(Quantity quantity) {
        return isNumber(quantity) && quantity.getNumericalAmount().signum() > 0;
    }

    static boolean isNumber(Quantity quantity) {
        try {
            quantity.getNumericalAmount();
            return true;
        } catch (IllegalArgumentException | ArithmeticException e) {
            return false;
        }
    }
}
