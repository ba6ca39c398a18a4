// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Set-up of injected sidecars.
 *
 * @param image container image of the sidecar; null for the one that the operator was installed with
 * @param imagePullPolicy when the image is pulled; null for what Kubernetes does by default
 * @param imagePullSecrets secrets of the pod's namespace that the image is pulled with
 * @param resources CPU and memory of the sidecar
 * @param rnics how many devices (sidewarp.io/rnic) a pod asks for
 * @param nicPolicy IwarpNicPolicy whose VFs the pods get as networks; null for any device
 * @param sharedMemory size of the memory-backed volume for shared regions
 * @param mountPath where the application's containers find the API socket and the shared regions
 * @param placement whether the sidecar is a native one
 * @param runAsUser user of the sidecar
 * @param runAsGroup group of the sidecar, which the application's containers get as a supplementary one
 * @param managementPort port of the sidecar's health and metrics
 * @param logLevel log level of the sidecar
 * @param otlpEndpoint where traces and metrics are sent; null for nowhere
 * @param settings further settings of the sidecar, as docs/configuration.md lists them
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SidecarProfileSpec(
        @JsonPropertyDescription("Container image of the sidecar. Unset: the one that the operator was installed with.")
        @Size(min = 1, max = 1024)
        @Pattern("^\\S+$")
        @Nullable
        String image,

        @JsonPropertyDescription("When the image is pulled. Unset: as Kubernetes does by default.") @Nullable
        ImagePullPolicy imagePullPolicy,

        @JsonPropertyDescription(
                "Secrets of the pod's namespace that the image is pulled with. They are added to those of the"
                        + " pod.")
        @Size(max = 16)
        List<@Pattern("^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$") String> imagePullSecrets,

        @JsonPropertyDescription(
                "CPU and memory of the sidecar. Shared regions count to its memory, since it allocates them, unless they"
                        + " are in huge pages.")
        SidecarResources resources,

        @JsonPropertyDescription(
                "How many devices (sidewarp.io/rnic) a pod asks for. It runs only where there are as many, and with"
                        + " nicPolicy each is a network interface of it. The sidecar gets their device nodes, but carries"
                        + " out RDMA by its own engine, over TCP or SCTP, with and without.")
        @Min(0)
        @Max(16)
        @Default("0")
        Integer rnics,

        @JsonPropertyDescription(
                "IwarpNicPolicy with a network: the devices of pods are virtual functions of it, and each is a network"
                        + " interface of the pod (Multus). Unset: any device, and no interface.")
        @Size(max = 253)
        @Pattern("^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")
        @Nullable
        String nicPolicy,

        @JsonPropertyDescription(
                "Size of the memory-backed volume for shared regions. What they take of it counts to the sidecar's memory.")
        @Default("\"1Gi\"")
        Quantity sharedMemory,

        @JsonPropertyDescription(
                "Directory where the application's containers find the API socket (api.sock) and the shared"
                        + " regions (shared); not /tmp itself.")
        @Pattern("^(/[.]?[A-Za-z0-9_-][A-Za-z0-9._-]*)+$")
        @Size(max = 64)
        @Default("/run/sidewarp")
        String mountPath,

        @JsonPropertyDescription(
                "Auto: a native sidecar (an init container that keeps running) where the cluster has them, that"
                        + " is Kubernetes 1.29 or later on the API server and on all Linux nodes, an ordinary container"
                        + " otherwise. Native, Container: always so. A pod with a native one does not start on an older"
                        + " node.")
        @Default("Auto")
        SidecarPlacement placement,

        @JsonPropertyDescription("User of the sidecar. 0 is refused.") @Min(1) @Max(2147483647) @Default("7471")
        Long runAsUser,

        @JsonPropertyDescription(
                "Group of the sidecar. The pod gets it as a supplementary group, so that applications can open"
                        + " the API socket and the shared regions.")
        @Min(1)
        @Max(2147483647)
        @Default("7471")
        Long runAsGroup,

        @JsonPropertyDescription(
                "Port of the sidecar's health and metrics. On a node, pods with hostNetwork need different ones.")
        @Min(1024)
        @Max(65535)
        @Default("9464")
        Integer managementPort,

        @JsonPropertyDescription("Log level of the sidecar.") @Default("INFO")
        LogLevel logLevel,

        @JsonPropertyDescription(
                "OTLP endpoint that traces and metrics are sent to, for instance http://collector:4317. Unset:"
                        + " nothing is sent; metrics can be scraped.")
        @Pattern("^https?://\\S+$")
        @Nullable
        String otlpEndpoint,

        @JsonPropertyDescription(
                "Further settings of the sidecar, by their names in docs/configuration.md, for instance"
                        + " sidewarp.limits.connections.")
        @Size(max = 64)
        Map<String, String> settings) {

    public SidecarProfileSpec {
        imagePullSecrets = imagePullSecrets == null ? List.of() : List.copyOf(imagePullSecrets);
        resources = resources == null ? new SidecarResources(null, null) : resources;
        rnics = rnics == null ? 0 : rnics;
        sharedMemory = sharedMemory == null ? new Quantity("1Gi") : sharedMemory;
        mountPath = mountPath == null ? "/run/sidewarp" : mountPath;
        placement = placement == null ? SidecarPlacement.AUTO : placement;
        runAsUser = runAsUser == null ? 7471 : runAsUser;
        runAsGroup = runAsGroup == null ? 7471 : runAsGroup;
        managementPort = managementPort == null ? 9464 : managementPort;
        logLevel = logLevel == null ? LogLevel.INFO : logLevel;
        settings = settings == null ? Map.of() : Map.copyOf(settings);
    }

    /** What counts where a namespace has no profile. */
    @SuppressWarnings("NullAway") // Each null becomes its default.
    public static SidecarProfileSpec defaults() {
        return new SidecarProfileSpec(
                null, null, null, null, null, null, null, null, null, null, null, null, null, null, null);
    }
}
