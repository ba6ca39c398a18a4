// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Ports of the sidecar that the proxies of Istio and Linkerd must leave alone. With strict mTLS a proxy refuses the
 * kubelet's probes, and RDMA would go through the proxy.
 *
 * <p>The meshes read annotations: their injectors, and at the start of the pod their CNI plugins. An injector that runs
 * before this webhook has already written the ports into the arguments of its init container, which are extended too.
 */
final class MeshPorts {
    private static final Mesh ISTIO = new Mesh(
            "traffic.sidecar.istio.io/excludeInboundPorts",
            "traffic.sidecar.istio.io/excludeOutboundPorts",
            "",
            Set.of("istio-init", "istio-validation"),
            "-d",
            "-o");

    /** Annotations of a pod replace the ports that Linkerd leaves alone by default, those of Galera. */
    private static final Mesh LINKERD = new Mesh(
            "config.linkerd.io/skip-inbound-ports",
            "config.linkerd.io/skip-outbound-ports",
            "4567,4568",
            Set.of("linkerd-init"),
            "--inbound-ports-to-ignore",
            "--outbound-ports-to-ignore");

    private static final List<Mesh> MESHES = List.of(ISTIO, LINKERD);

    private static final Pattern RANGE = Pattern.compile("([0-9]{1,5})(?:-([0-9]{1,5}))?");

    private final Set<Integer> inbound = new LinkedHashSet<>();
    private final Set<Integer> outbound;

    MeshPorts(SidecarProfileSpec profile) {
        inbound.add(profile.managementPort());
        inbound.addAll(profile.rdmaPorts());
        outbound = new LinkedHashSet<>(profile.rdmaPorts());
    }

    /**
     * Returns the annotations that exclude the ports, merged with present ones.
     *
     * @param ofPod annotations of the pod
     * @param ofNamespace annotations of its namespace, which Linkerd reads for pods without their own
     */
    Map<String, String> annotations(Map<String, String> ofPod, Map<String, String> ofNamespace) {
        Map<String, String> annotations = new LinkedHashMap<>();
        for (Mesh mesh : MESHES) {
            annotations.put(mesh.inbound(), with(present(mesh, mesh.inbound(), ofPod, ofNamespace), inbound));
            if (!outbound.isEmpty()) {
                annotations.put(mesh.outbound(), with(present(mesh, mesh.outbound(), ofPod, ofNamespace), outbound));
            }
        }
        return annotations;
    }

    private static String present(
            Mesh mesh, String annotation, Map<String, String> ofPod, Map<String, String> ofNamespace) {
        return Optional.ofNullable(ofPod.get(annotation))
                .or(() -> Optional.ofNullable(ofNamespace.get(annotation)).filter(_ -> mesh.equals(LINKERD)))
                .orElse(mesh.byDefault());
    }

    /** Extends the arguments of the init containers that redirect the traffic of a pod. */
    void extendInitContainers(PodSpec spec) {
        for (Container container : spec.getInitContainers()) {
            for (Mesh mesh : MESHES) {
                if (mesh.initContainers().contains(container.getName())) {
                    List<String> arguments = new ArrayList<>(container.getArgs());
                    extend(arguments, mesh.inboundOption(), inbound);
                    extend(arguments, mesh.outboundOption(), outbound);
                    container.setArgs(arguments);
                }
            }
        }
    }

    private static void extend(List<String> arguments, String option, Set<Integer> ports) {
        int value = arguments.indexOf(option) + 1;
        if (ports.isEmpty()) {
            return;
        }
        if (value > 0 && value < arguments.size()) {
            arguments.set(value, with(arguments.get(value), ports));
        } else {
            arguments.addAll(List.of(option, with("", ports)));
        }
    }

    /** Returns a list of ports, separated by commas, with those that it lacks. {@code *} means all ports. */
    private static String with(String present, Set<Integer> ports) {
        List<String> entries = Arrays.stream(present.split(",", -1))
                .map(String::strip)
                .filter(entry -> !entry.isEmpty())
                .toList();
        Stream<String> missing = ports.stream()
                .filter(port -> entries.stream().noneMatch(entry -> covers(entry, port)))
                .map(String::valueOf);
        return String.join(",", Stream.concat(entries.stream(), missing).toList());
    }

    private static boolean covers(String entry, int port) {
        Matcher range = RANGE.matcher(entry);
        if (!range.matches()) {
            return entry.equals("*");
        }
        int first = Integer.parseInt(range.group(1));
        int last = range.group(2) == null ? first : Integer.parseInt(range.group(2));
        return first <= port && port <= last;
    }

    /**
     * Names by which a mesh learns which ports it leaves alone.
     *
     * @param inbound annotation of a pod with ports of the pod
     * @param outbound annotation of a pod with ports of its peers
     * @param byDefault ports without an annotation
     * @param initContainers containers that redirect the traffic of a pod
     * @param inboundOption option of these containers with ports of the pod
     * @param outboundOption option of these containers with ports of its peers
     */
    private record Mesh(
            String inbound,
            String outbound,
            String byDefault,
            Set<String> initContainers,
            String inboundOption,
            String outboundOption) {}
}
