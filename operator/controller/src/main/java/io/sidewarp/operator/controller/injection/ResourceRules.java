// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import static io.sidewarp.operator.api.v1alpha1.SidewarpApi.RNIC_RESOURCE;

import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** Rules of Kubernetes for the resources of any container: the valid names, and that devices cannot be shared. */
final class ResourceRules {
    private static final Set<String> COMPUTE = Set.of("cpu", "memory", "ephemeral-storage");

    /** A domain and the name of the resource in that domain. */
    private static final Pattern QUALIFIED = Pattern.compile("(?=[^/]{1,244}/)(?!requests[.])"
            + "[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
            + "/[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?");

    /** Part of the names that are reserved for Kubernetes, which accepts all of them. */
    private static final String OF_KUBERNETES = "kubernetes.io/";

    private ResourceRules() {}

    /**
     * Returns what the API server would refuse in the sidecar's resources in any pod, and what to do. Empty if nothing.
     */
    static Optional<String> whatIsWrong(Map<String, Quantity> requests, Map<String, Quantity> limits) {
        Map<String, Quantity> all = new TreeMap<>(limits);
        all.putAll(requests);
        for (Map.Entry<String, Quantity> resource : all.entrySet()) {
            String name = resource.getKey();
            boolean isDevice = isDevice(name);
            if (!isDevice && !COMPUTE.contains(name) && !HugePages.isResource(name) && !isOfKubernetes(name)) {
                return Optional.of("resources has " + Excerpt.quoted(name)
                        + ", which no container can have; there are cpu, memory,"
                        + " ephemeral-storage, hugepages-SIZE, and those of devices, which have a domain, such as"
                        + " example.com/gpu");
            }
            if (name.equals(RNIC_RESOURCE)) {
                return Optional.of("resources has " + name + "; remove it, rnics of the profile says how many");
            }
            if (isDevice && !isWhole(resource.getValue())) {
                return Optional.of("resources has " + resource.getValue() + " of " + name
                        + ", which cannot be divided; give a whole number");
            }
            Quantity request = requests.get(name);
            if ((isDevice || HugePages.isResource(name)) && request != null && !request.equals(limits.get(name))) {
                return Optional.of(
                        "resources has a request of " + name + " (" + request
                                + ") without a limit of the same amount; set the limit, and leave out the request, which follows it");
            }
        }
        return Optional.empty();
    }

    private static boolean isDevice(String name) {
        return !name.contains(OF_KUBERNETES) && QUALIFIED.matcher(name).matches();
    }

    private static boolean isOfKubernetes(String name) {
        return name.contains(OF_KUBERNETES) && QUALIFIED.matcher(name).matches();
    }

    private static boolean isWhole(Quantity quantity) {
        return ProfileRules.isNumber(quantity)
                && quantity.getNumericalAmount().stripTrailingZeros().scale() <= 0;
    }
}
