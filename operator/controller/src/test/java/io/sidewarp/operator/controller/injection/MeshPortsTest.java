// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import static io.sidewarp.operator.controller.injection.MutatedPods.MUTATOR;
import static io.sidewarp.operator.controller.injection.MutatedPods.RICH;
import static io.sidewarp.operator.controller.injection.MutatedPods.container;
import static io.sidewarp.operator.controller.injection.MutatedPods.inject;
import static io.sidewarp.operator.controller.injection.MutatedPods.parse;
import static io.sidewarp.operator.controller.injection.TestPods.profile;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MeshPortsTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            nullValues = "-",
            value = {
                // profile; annotation; value of the pod; value of the namespace; expected
                "{}; traffic.sidecar.istio.io/excludeInboundPorts; -; -; 9464,7471,7472",
                "{}; traffic.sidecar.istio.io/excludeInboundPorts; 8080, 7471; -; 8080,7471,9464,7472",
                "{}; traffic.sidecar.istio.io/excludeInboundPorts; *; -; *",
                "{}; traffic.sidecar.istio.io/excludeInboundPorts; -; 80; 9464,7471,7472",
                "{}; traffic.sidecar.istio.io/excludeOutboundPorts; -; -; 7471,7472",
                "{}; config.linkerd.io/skip-inbound-ports; -; -; 4567,4568,9464,7471,7472",
                "{}; config.linkerd.io/skip-inbound-ports; 7000-8000; 80; 7000-8000,9464",
                "{}; config.linkerd.io/skip-outbound-ports; -; 80; 80,7471,7472",
                "{rdmaPorts: [18515], managementPort: 9465}; config.linkerd.io/skip-inbound-ports; 25; -; 25,9465,18515",
                "{rdmaPorts: []}; traffic.sidecar.istio.io/excludeOutboundPorts; -; -; -",
            })
    void theProxyOfAMeshLeavesProbesAndRdmaAlone(
            String profile, String annotation, String ofPod, String ofNamespace, String expected) {
        Pod original = parse(RICH);
        original.getMetadata().setAnnotations(ofPod == null ? Map.of() : Map.of(annotation, ofPod));

        Pod pod = MUTATOR.mutate(
                original, inject(profile, true, 0, ofNamespace == null ? Map.of() : Map.of(annotation, ofNamespace)));

        assertThat(pod.getMetadata().getAnnotations().get(annotation)).isEqualTo(expected);
    }

    /** Injectors of meshes run before this webhook, and do not read annotations of later webhooks. */
    @Test
    void theInitContainerOfAMeshIsTold() {
        Pod pod = MUTATOR.mutate(parse("""
                apiVersion: v1
                kind: Pod
                spec:
                  initContainers:
                  - {name: istio-init, image: i, args: [istio-iptables, -b, '*', -d, '15090,15021,15020', --log_as_json]}
                  - {name: linkerd-init, image: l, args: [--inbound-ports-to-ignore, '4190,7471', --outbound-ports-to-ignore, '4567']}
                  - {name: setup, image: s, args: [-d, '1']}
                  containers: [{name: app, image: a}]
                """), inject("{}", true, 0));

        assertThat(container(pod, "istio-init").getArgs())
                .containsExactly(
                        "istio-iptables",
                        "-b",
                        "*",
                        "-d",
                        "15090,15021,15020,9464,7471,7472",
                        "--log_as_json",
                        "-o",
                        "7471,7472");
        assertThat(container(pod, "linkerd-init").getArgs())
                .containsExactly(
                        "--inbound-ports-to-ignore",
                        "4190,7471,9464,7472",
                        "--outbound-ports-to-ignore",
                        "4567,7471,7472");
        assertThat(container(pod, "setup").getArgs()).containsExactly("-d", "1");
        assertThat(MUTATOR.mutate(pod, inject("{}", true, 0))).isEqualTo(pod);
    }
}
