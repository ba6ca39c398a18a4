// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import io.sidewarp.operator.api.v1alpha1.SidecarResources;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Rules of Kubernetes for the resources of a pod as a whole ({@code spec.resources}). The containers of the pod share
 * them: the sum of their requests is not above the pod's request, and no container has a higher limit than the pod.
 */
final class PodResources {
    private static final String MEMORY = "memory";

    /** Amounts that are cheap to calculate with. The API server writes no other amounts. */
    private static final Pattern COUNTABLE =
            Pattern.compile("[0-9]{1,18}([.][0-9]{1,18})?([numk]|Ki|[MGTPE]i?|[eE][0-9]{1,2})?");

    /** Least limit of CPU of a sidecar that must have a limit. With less, a sidecar takes long to start. */
    private static final Quantity LEAST_CPU_LIMIT = new Quantity("500m");

    private PodResources() {}

    /**
     * Returns whether Kubernetes puts a pod without its sidecar into the class Guaranteed because of its containers. The
     * resources of a whole pod decide alone, whatever its sidecar has.
     */
    static boolean isGuaranteed(PodSpec spec) {
        return limits(spec.getResources()).isEmpty()
                && requests(spec.getResources()).isEmpty()
                && PodMutator.containers(spec)
                        .map(Container::getResources)
                        .allMatch(resources -> isGuaranteed(resources, "cpu") && isGuaranteed(resources, MEMORY));
    }

    private static boolean isGuaranteed(@Nullable ResourceRequirements resources, String name) {
        Quantity limit = limits(resources).get(name);
        if (limit == null) {
            return false;
        }
        Quantity request = requests(resources).getOrDefault(name, limit);
        return amount(limit).signum() > 0 && amount(limit).compareTo(amount(request)) == 0;
    }

    /**
     * Makes the requests of a sidecar equal to its limits, so that a pod of the class Guaranteed stays in this class.
     *
     * @param sharedMemory how much of the sidecar's memory shared regions of the pod can take
     */
    static void makeGuaranteed(Map<String, Quantity> requests, Map<String, Quantity> limits, Quantity sharedMemory) {
        limits.computeIfAbsent("cpu", cpu -> larger(requests.get(cpu), LEAST_CPU_LIMIT));
        limits.computeIfAbsent(
                MEMORY, memory -> larger(requests.get(memory), SidecarResources.memoryWith(sharedMemory)));
        requests.putAll(limits);
    }

    private static Quantity larger(@Nullable Quantity request, Quantity other) {
        return request != null && amount(request).compareTo(amount(other)) > 0 ? request : other;
    }

    /**
     * Returns the limits of the sidecar in a pod. If the default memory limit is above that of the pod, the sidecar has
     * no memory limit, and the pod's limit applies.
     *
     * @param sharedMemory how much of the sidecar's memory shared regions of the pod can take
     */
    static Map<String, Quantity> limitsOfSidecar(PodSpec spec, SidecarResources sidecar, Quantity sharedMemory) {
        Map<String, Quantity> limits = new TreeMap<>(sidecar.limitsWith(sharedMemory));
        if (sidecar.limits() == null
                && isAbove(limits.get(MEMORY), limits(spec.getResources()).get(MEMORY))) {
            limits.remove(MEMORY);
        }
        return limits;
    }

    /**
     * Returns what the API server would refuse in a pod because of its sidecar, and what to do. Empty if nothing.
     *
     * @param sharedMemory how much of the sidecar's memory shared regions of the pod can take
     */
    static Optional<String> whatIsWrong(
            PodSpec spec, SidecarProfileSpec profile, String profileName, Quantity sharedMemory, boolean asNative) {
        SidecarResources sidecar = profile.resources();
        Map<String, Quantity> limits = limitsOfSidecar(spec, sidecar, sharedMemory);
        Map<String, Quantity> limitsOfPod = limits(spec.getResources());
        for (Map.Entry<String, Quantity> limit : limits.entrySet()) {
            Quantity ofPod = limitsOfPod.get(limit.getKey());
            // The API server does not compare the limits of init containers with the limit of the pod.
            if (!asNative && isAbove(limit.getValue(), ofPod)) {
                return Optional.of("the sidecar's limit of " + limit.getKey() + " is " + limit.getValue()
                        + " (SidecarProfile " + profileName + "), and the limit of the whole pod is " + ofPod
                        + "; raise resources.limits of the pod, or lower resources.limits of the profile");
            }
        }
        // A resource with a limit alone has a request of the same amount.
        Map<String, Quantity> requests = new TreeMap<>(limits);
        requests.putAll(sidecar.requests());
        Map<String, Quantity> requestsOfPod = requests(spec.getResources());
        for (Map.Entry<String, Quantity> request : requests.entrySet()) {
            String name = request.getKey();
            BigDecimal ofSidecar = amount(request.getValue());
            Quantity ofPod = requestsOfPod.get(name);
            if (ofPod == null || !isCountable(ofPod) || ofSidecar.signum() == 0) {
                continue;
            }
            BigDecimal all = requested(spec, name, ofSidecar, asNative);
            if (all.compareTo(amount(ofPod)) > 0) {
                Quantity sum =
                        Quantity.fromNumericalAmount(all, request.getValue().getFormat());
                return Optional.of("the containers of the pod request " + sum + " of " + name + ", with "
                        + request.getValue() + " for the sidecar (SidecarProfile " + profileName
                        + "), and the whole pod requests " + ofPod + "; raise resources.requests of the pod to " + sum
                        + ", or lower resources.requests of the profile");
            }
        }
        return Optional.empty();
    }

    /** Returns the largest sum of requests of containers that run at the same time. */
    private static BigDecimal requested(PodSpec spec, String name, BigDecimal ofSidecar, boolean asNative) {
        BigDecimal running = asNative ? ofSidecar : BigDecimal.ZERO;
        BigDecimal most = running;
        for (Container container : spec.getInitContainers()) {
            BigDecimal started = running.add(requested(container, name), MathContext.DECIMAL128);
            most = most.max(started);
            if ("Always".equals(container.getRestartPolicy())) {
                running = started;
            }
        }
        BigDecimal last = asNative ? running : running.add(ofSidecar, MathContext.DECIMAL128);
        for (Container container : spec.getContainers()) {
            last = last.add(requested(container, name), MathContext.DECIMAL128);
        }
        return most.max(last);
    }

    private static BigDecimal requested(Container container, String name) {
        if (PodMutator.isAdded(container)) {
            return BigDecimal.ZERO;
        }
        ResourceRequirements resources = container.getResources();
        return Optional.ofNullable(requests(resources).get(name))
                .or(() -> Optional.ofNullable(limits(resources).get(name)))
                .map(PodResources::amount)
                .orElse(BigDecimal.ZERO);
    }

    private static boolean isAbove(@Nullable Quantity quantity, @Nullable Quantity limit) {
        return quantity != null
                && limit != null
                && isCountable(limit)
                && amount(quantity).compareTo(amount(limit)) > 0;
    }

    private static BigDecimal amount(Quantity quantity) {
        return isCountable(quantity) ? quantity.getNumericalAmount() : BigDecimal.ZERO;
    }

    private static boolean isCountable(Quantity quantity) {
        return COUNTABLE.matcher(quantity.toString()).matches();
    }

    private static Map<String, Quantity> requests(@Nullable ResourceRequirements resources) {
        return Optional.ofNullable(resources)
                .map(ResourceRequirements::getRequests)
                .orElseGet(Map::of);
    }

    static Map<String, Quantity> limits(@Nullable ResourceRequirements resources) {
        return Optional.ofNullable(resources)
                .map(ResourceRequirements::getLimits)
                .orElseGet(Map::of);
    }
}
