// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import static io.sidewarp.operator.controller.injection.TestPods.profile;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Pod;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import io.sidewarp.operator.controller.Yaml;
import io.sidewarp.operator.controller.injection.InjectionDecision.Inject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Holds pods, decisions about them, and the parts of mutated pods that tests look at. */
final class MutatedPods {
    static final PodMutator MUTATOR = new PodMutator("example/sidecar:1", "1.0");
    static final String SIMPLE = "{apiVersion: v1, kind: Pod, spec: {containers: [{name: app, image: a}]}}";

    static final String RICH = """
            apiVersion: v1
            kind: Pod
            metadata:
              labels: {app: shop}
              annotations: {}
            spec:
              futureField: {kept: true}
              securityContext: {supplementalGroups: [5], fsGroup: 6}
              imagePullSecrets: [{name: mine}]
              initContainers:
              - {name: setup, image: s}
              containers:
              - {name: app, image: a, env: [{name: SIDEWARP_API, value: mine}], volumeMounts: [{name: data, mountPath: /data}]}
              - {name: worker, image: w}
              volumes:
              - {name: data, emptyDir: {}}
            """;

    private MutatedPods() {}

    static Pod parse(String yaml) {
        return Yaml.parse(yaml, Pod.class);
    }

    static Inject inject(String profile, boolean nativeSidecar, int rnics) {
        return inject(profile, nativeSidecar, rnics, Map.of());
    }

    static Inject inject(String profile, boolean nativeSidecar, int rnics, Map<String, String> namespaceAnnotations) {
        SidecarProfileSpec spec = profile(profile);
        return new Inject(
                "p",
                spec,
                Set.of("app", "worker"),
                rnics,
                Optional.empty(),
                "sidewarp.io/rnic",
                Optional.empty(),
                spec.sharedMemory(),
                nativeSidecar,
                Optional.empty(),
                PeerSecurity.of(spec, "shop", TestPods.OFFER),
                namespaceAnnotations);
    }

    static Container sidecar(Pod pod) {
        return container(pod, "sidewarp");
    }

    static Container container(Pod pod, String name) {
        return Stream.of(pod.getSpec().getInitContainers(), pod.getSpec().getContainers())
                .flatMap(List::stream)
                .filter(container -> container.getName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    static Map<String, String> mounts(Pod pod, String container) {
        return container(pod, container).getVolumeMounts().stream()
                .collect(Collectors.toMap(mount -> mount.getName(), mount -> mount.getMountPath()));
    }

    static Map<String, String> environment(Container container) {
        return container.getEnv().stream()
                .collect(Collectors.toMap(
                        EnvVar::getName,
                        variable -> Optional.ofNullable(variable.getValue()).orElse("")));
    }
}
