// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import io.fabric8.kubernetes.api.model.Quantity;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import io.sidewarp.operator.api.v1alpha1.SidecarResources;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Whether a profile can be used: what the schema of the custom resource cannot say. */
public final class ProfileRules {
    private static final String PREFIX = "sidewarp.";
    private static final Pattern AMOUNT = Pattern.compile("[0-9]{1,18}([.][0-9]{1,18})?(k|Ki|[MGTPE]i?)?");

    /**
     * Variables of settings that follow from the profile's other fields, or from the pod. Several names stand for one
     * variable: sidewarp.api.socket and sidewarp.api-socket.
     */
    private static final Set<String> RESERVED = Stream.of(
                    "sidewarp.api",
                    "sidewarp.api.socket",
                    "sidewarp.api.socket-mode",
                    "sidewarp.shared-volume",
                    "sidewarp.volume",
                    "sidewarp.management.enabled",
                    "sidewarp.management.host",
                    "sidewarp.management.port")
            .map(PodMutator::variableOf)
            .collect(Collectors.toUnmodifiableSet());

    /** Of a profile for native sidecars where there are none. */
    public static final String NO_NATIVE_SIDECARS =
            "asks for a native sidecar, which takes Kubernetes 1.29 or later; set its placement to Auto or Container";

    private ProfileRules() {}

    /** Of a profile for devices of a policy that has none for pods. */
    public static String noNetwork(String nicPolicy) {
        return "takes devices of the IwarpNicPolicy " + nicPolicy
                + ", which has no network (yet); see its conditions, or remove nicPolicy from the profile";
    }

    /** What is wrong with a profile and what to do, or empty when nothing is. */
    public static Optional<String> whatIsWrong(SidecarProfileSpec profile) {
        // A limit of huge pages is for pods that bring a volume of them; one that does not is judged when it comes.
        boolean ofHugePages = profile.resources().limitsWith(SharedVolume.NO_MEMORY).keySet().stream()
                .anyMatch(HugePages::isResource);
        return whatIsWrong(profile, ofHugePages ? SharedVolume.NO_MEMORY : profile.sharedMemory());
    }

    /**
     * What is wrong with a profile for one pod.
     *
     * @param sharedMemory how much of the sidecar's memory shared regions of the pod can take
     */
    static Optional<String> whatIsWrong(SidecarProfileSpec profile, Quantity sharedMemory) {
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
     * An amount that somebody wrote, or empty when it is none above 0. Exponents are none, as in a profile: with them, few
     * characters stand for numbers that take minutes to calculate with.
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
