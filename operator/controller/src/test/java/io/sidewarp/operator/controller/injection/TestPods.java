// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import io.fabric8.kubernetes.api.model.Pod;
import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import io.sidewarp.operator.controller.Yaml;
import io.sidewarp.operator.controller.cache.KubernetesFeature;
import io.sidewarp.operator.testing.CertificateAuthority;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Pods, and profiles of their namespace, for tests of decisions. */
final class TestPods {
    static final String NAMESPACE = "shop";

    /** Certificate of the controller's CA, in PEM. */
    static final String BUNDLE = CertificateAuthority.create("identity").certificatePem();

    /** Installation whose controller has a CA, and names no source for profiles. */
    static final IdentityOffer OFFER = new IdentityOffer(
            Optional.empty(), Optional.of("https://sidewarp-identity.sidewarp-system.svc:9444"), Optional.of(BUNDLE));

    private static final PodNetwork NETWORK = new PodNetwork("default", "e810", "openshift.io/sidewarp_e810");
    static final Map<String, SidecarProfileSpec> PROFILES = Map.of(
            "fast", profile("{rnics: 2, sharedMemory: 2Gi}"),
            "native", profile("{placement: Native}"),
            "container", profile("{placement: Container}"),
            "networked", profile("{rnics: 2, nicPolicy: e810}"),
            "too-early", profile("{rnics: 1, nicPolicy: x722}"),
            "elsewhere", profile("{mountPath: /opt/rdma}"),
            "limited", profile("{sharedMemory: 1Gi, resources: {limits: {memory: 2Gi}}}"),
            "2mi", profile("{resources: {limits: {hugepages-2Mi: 1Gi, memory: 1Gi}}}"),
            "at-9465", profile("{managementPort: 9465}"),
            "broken", profile("{settings: {sidewarp.api.socket: /tmp/x}}"));

    private TestPods() {}

    /** Decides about a pod in a cluster with or without native sidecars. */
    static InjectionDecision decide(boolean nativeSidecars, Pod pod, Map<String, String> labels) {
        return InjectionRules.decide(pod, NAMESPACE, labels, facts(PROFILES, nativeSidecars, nativeSidecars));
    }

    static InjectionFacts facts(Map<String, SidecarProfileSpec> profiles) {
        return facts(profiles, true, true);
    }

    /** A namespace with some profiles, in a cluster whose API server or all nodes have native sidecars. */
    static InjectionFacts facts(Map<String, SidecarProfileSpec> profiles, boolean server, boolean cluster) {
        return facts(profiles, natives(server), natives(cluster));
    }

    private static Set<KubernetesFeature> natives(boolean there) {
        return there ? Set.of(KubernetesFeature.NATIVE_SIDECARS) : Set.of();
    }

    /** A namespace with some profiles, and the policy e810, which has a network. */
    static InjectionFacts facts(
            Map<String, SidecarProfileSpec> profiles, Set<KubernetesFeature> server, Set<KubernetesFeature> cluster) {
        return new InjectionFacts() {
            @Override
            public Map<String, String> namespaceAnnotations() {
                return Map.of();
            }

            @Override
            public Optional<SidecarProfileSpec> profile(String name) {
                return Optional.ofNullable(profiles.get(name));
            }

            @Override
            public Optional<PodNetwork> network(String nicPolicy) {
                return nicPolicy.equals("e810") ? Optional.of(NETWORK) : Optional.empty();
            }

            @Override
            public IdentityOffer identities() {
                return OFFER;
            }

            @Override
            public boolean has(KubernetesFeature feature) {
                return cluster.contains(feature);
            }

            @Override
            public boolean isInServer(KubernetesFeature feature) {
                return server.contains(feature);
            }
        };
    }

    static SidecarProfileSpec profile(String yaml) {
        return Yaml.parse(yaml, SidecarProfileSpec.class);
    }

    /** A pod with one container, which has {@code limits}, and a shared volume of its own. */
    static Pod withSharedVolume(String medium, String annotation, String limits) {
        return pod(
                annotation,
                "containers: [{name: app, image: a, resources: {limits: " + limits
                        + "}}], volumes: [{name: sidewarp-shared," + " emptyDir: {medium: " + medium + "}}]");
    }

    /** A pod with the containers app and worker, if {@code spec} does not say otherwise. */
    static Pod pod(String annotations, String spec) {
        String containers = spec.contains(" containers:") || spec.startsWith("containers:")
                ? ""
                : "containers: [{name: app, image: a}, {name: worker, image: b}]";
        String parts = spec.isEmpty() || containers.isEmpty() ? containers + spec : containers + ", " + spec;
        return Yaml.parse(
                "{apiVersion: v1, kind: Pod, metadata: {annotations: {" + annotations + "}}, spec: {" + parts + "}}",
                Pod.class);
    }
}
