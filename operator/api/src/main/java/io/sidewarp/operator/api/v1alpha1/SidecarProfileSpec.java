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
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Settings of injected sidecars. */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SidecarProfileSpec(
        @JsonPropertyDescription(
                "Container image of the sidecar. Unset: the image that the operator was installed with.")
        @Size(min = 1, max = 1024)
        @Pattern("^\\S+$")
        @Nullable
        String image,

        @JsonPropertyDescription("Pull policy of the image. Unset: the default of Kubernetes.") @Nullable
        ImagePullPolicy imagePullPolicy,

        @JsonPropertyDescription(
                "Secrets in the pod's namespace for pulling the image. They are added to the pull secrets of the pod.")
        @Size(max = 16)
        List<@Pattern("^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$") String> imagePullSecrets,

        @JsonPropertyDescription(
                "CPU and memory of the sidecar. Shared regions count towards the sidecar's memory, because it allocates"
                        + " them, unless they are in huge pages.")
        SidecarResources resources,

        @JsonPropertyDescription(
                "Number of devices that a pod requests: by a ResourceClaim where the cluster uses these, otherwise as"
                        + " sidewarp.io/rnic. The pod runs only on a node that has as many free devices. With nicPolicy,"
                        + " each device is a network interface of the pod. The sidecar gets the device nodes. It carries"
                        + " out RDMA with its own engine, over TCP or SCTP, unless rnics is 1 and the setting"
                        + " sidewarp.provider is auto: then it uses the device.")
        @Min(0)
        @Max(16)
        @Default("0")
        Integer rnics,

        @JsonPropertyDescription(
                "IwarpNicPolicy that has a network. The devices of pods are then virtual functions of this policy, and"
                        + " each device is a network interface of the pod (Multus). Unset: pods get any device, and no"
                        + " interface.")
        @Size(max = 253)
        @Pattern("^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")
        @Nullable
        String nicPolicy,

        @JsonPropertyDescription(
                "Size of the memory-backed volume for shared regions. The part that the regions use counts towards the"
                        + " sidecar's memory.")
        @Default("\"1Gi\"")
        Quantity sharedMemory,

        @JsonPropertyDescription(
                "Directory where the application's containers find the API socket (api.sock) and the shared regions"
                        + " (shared). It cannot be /tmp itself.")
        @Pattern("^(/[.]?[A-Za-z0-9_-][A-Za-z0-9._-]*)+$")
        @Size(max = 64)
        @Default("/run/sidewarp")
        String mountPath,

        @JsonPropertyDescription(
                "Auto: a native sidecar (an init container that keeps running) if the API server and all Linux nodes"
                        + " have Kubernetes 1.29 or later, otherwise an ordinary container. Native: always a native"
                        + " sidecar. The pod does not start on an older node. Container: always an ordinary container.")
        @Default("Auto")
        SidecarPlacement placement,

        @JsonPropertyDescription(
                "User of the sidecar. 0 is refused. Unset: runAsUser of the pod, else the first user that OpenShift allows"
                        + " in the namespace, else 7471.")
        @Min(1)
        @Max(2147483647)
        @Nullable
        Long runAsUser,

        @JsonPropertyDescription(
                "Group of the sidecar. The pod gets it as a supplementary group, so that applications can open"
                        + " the API socket and the shared regions. Unset: fsGroup of the pod, else the first group that"
                        + " OpenShift allows in the namespace, else 7471.")
        @Min(1)
        @Max(2147483647)
        @Nullable
        Long runAsGroup,

        @JsonPropertyDescription(
                "Port of the sidecar's health and metrics. Pods with hostNetwork on one node need different ports.")
        @Min(1024)
        @Max(65535)
        @Default("9464")
        Integer managementPort,

        @JsonPropertyDescription(
                "TCP ports at which applications of the pod and its peers accept RDMA connections. In a mesh of Istio or"
                        + " Linkerd, connections to these ports and to managementPort do not go through the proxy.")
        @Size(max = 32)
        @Default("[7471, 7472]")
        List<@Min(1) @Max(65535) Integer> rdmaPorts,

        @JsonPropertyDescription("Log level of the sidecar.") @Default("INFO")
        LogLevel logLevel,

        @JsonPropertyDescription(
                "OTLP endpoint that receives traces and metrics, for instance http://collector:4317. Unset: nothing is"
                        + " sent, but metrics can be scraped.")
        @Pattern("^https?://\\S+$")
        @Nullable
        String otlpEndpoint,

        @JsonPropertyDescription(
                "TLS on connections, when a program does not say. Required: always. Preferred: with peers that speak TLS."
                        + " Plain: never. Unset: required with peers, preferred with peers and plainPeers allowed, else"
                        + " plain. TLS needs an identity.")
        @Nullable
        SecurityMode security,

        @JsonPropertyDescription(
                "Peers that may connect to listeners of the pod. They show a certificate, and all other peers are"
                        + " refused. Unset: each peer that reaches a listener may connect.")
        @Size(min = 1, max = 64)
        @Nullable
        List<PeerRule> peers,

        @JsonPropertyDescription(
                "Peers without TLS, such as siw and RNICs, at the listeners of a profile with peers. Unset: refused.")
        @Nullable
        PlainPeers plainPeers,

        @JsonPropertyDescription(
                "Certificate of the sidecar. Unset: the pod gets a certificate only with security or peers, from the"
                        + " identity.source of the chart's values. An empty object: the pod gets that certificate.")
        @Nullable
        IdentitySpec identity,

        @JsonPropertyDescription(
                "Further settings of the sidecar, by their names in docs/configuration.md, for instance"
                        + " sidewarp.limits.connections.")
        @Size(max = 64)
        // For API servers that know CEL. The webhook checks the same rule.
        @ValidationRule(
                value = "self.all(name, name.startsWith('sidewarp.'))",
                message = "names of settings start with sidewarp., see docs/configuration.md")
        Map<String, String> settings) {

    public SidecarProfileSpec {
        imagePullSecrets = imagePullSecrets == null ? List.of() : List.copyOf(imagePullSecrets);
        resources = resources == null ? new SidecarResources(null, null) : resources;
        rnics = rnics == null ? 0 : rnics;
        sharedMemory = sharedMemory == null ? new Quantity("1Gi") : sharedMemory;
        mountPath = mountPath == null ? "/run/sidewarp" : mountPath;
        placement = placement == null ? SidecarPlacement.AUTO : placement;
        managementPort = managementPort == null ? 9464 : managementPort;
        rdmaPorts = rdmaPorts == null ? List.of(7471, 7472) : List.copyOf(rdmaPorts);
        logLevel = logLevel == null ? LogLevel.INFO : logLevel;
        peers = peers == null ? null : List.copyOf(peers);
        settings = settings == null ? Map.of() : Map.copyOf(settings);
    }

    /** Returns the settings for a namespace without a profile. */
    @SuppressWarnings("NullAway") // Each null becomes its default.
    public static SidecarProfileSpec defaults() {
        return new SidecarProfileSpec(
                null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
                null, null, null);
    }
}
