// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.operator;

import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.ServiceAccountTokenProjection;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.authentication.TokenRequest;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.e2e.support.Directories;
import io.sidewarp.e2e.support.SidecarProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Stand-in for the kubelet: runs the sidecar of an admitted pod as a process. The process has the environment of the
 * container, and the projected token that the volume asks for. Changes only what a process cannot have: paths, ports and the name
 * of the Service.
 */
final class PodSidecar {
    private static final String VOLUME = "sidewarp-identity";

    private PodSidecar() {}

    /**
     * Starts the sidecar of a pod, and waits until it serves.
     *
     * @param issuerPort port of the identity service on the loopback address
     */
    static SidecarProcess start(KubernetesClient client, Pod pod, int issuerPort) {
        String name = pod.getMetadata().getName();
        Path directory = Directories.temporary("identity-" + name);
        Map<String, String> environment = Applications.sidecar(pod).getEnv().stream()
                .filter(variable -> variable.getValue() != null)
                .collect(Collectors.toMap(EnvVar::getName, EnvVar::getValue));
        SidecarProcess.Builder sidecar = SidecarProcess.with(name)
                .environment(environment)
                .set("sidewarp.management.host", "127.0.0.1")
                .set("sidewarp.identity.directory", directory.toString());
        try {
            Files.writeString(directory.resolve("token"), token(client, pod));
            URI issuer = URI.create(environment.get("SIDEWARP_IDENTITY_ISSUER"));
            Path hosts = Files.writeString(directory.resolve("hosts"), "127.0.0.1 " + issuer.getHost() + "\n");
            return sidecar.set("sidewarp.identity.issuer", "https://" + issuer.getHost() + ":" + issuerPort)
                    .jvmFlags(List.of("-Djdk.net.hosts.file=" + hosts))
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the token that the kubelet would write for the volume. */
    private static String token(KubernetesClient client, Pod pod) {
        ServiceAccountTokenProjection wanted = pod.getSpec().getVolumes().stream()
                .filter(volume -> volume.getName().equals(VOLUME))
                .map(Volume::getProjected)
                .map(projected -> projected.getSources().getFirst().getServiceAccountToken())
                .findFirst()
                .orElseThrow();
        TokenRequest request = new TokenRequestBuilder()
                .withNewSpec()
                .withAudiences(wanted.getAudience())
                .withExpirationSeconds(wanted.getExpirationSeconds())
                .withNewBoundObjectRef()
                .withApiVersion("v1")
                .withKind("Pod")
                .withName(pod.getMetadata().getName())
                .withUid(pod.getMetadata().getUid())
                .endBoundObjectRef()
                .endSpec()
                .build();
        return client.serviceAccounts()
                .inNamespace(pod.getMetadata().getNamespace())
                .withName(pod.getSpec().getServiceAccountName())
                .tokenRequest(request)
                .getStatus()
                .getToken();
    }
}
