// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

/**
 * Names that the parts of the operator, the chart and users share: labels, annotations, finalizers and the extended
 * resource.
 */
public final class SidewarpApi {
    /** API group of the custom resources, and prefix of all names below. */
    public static final String GROUP = "sidewarp.io";

    /** Version of the custom resources. */
    public static final String VERSION = "v1alpha1";

    /**
     * Extended resource that represents one RDMA device of a node: a VF, a share of a kernel siw device, or a soft
     * device.
     */
    public static final String RNIC_RESOURCE = "sidewarp.io/rnic";

    /** Name of the DRA driver of node agents, of its DeviceClass, and of the domain of its devices' attributes. */
    public static final String RNIC_DRIVER = "rnic.sidewarp.io";

    /** Finalizer that keeps a policy until the nodes have restored its NICs. */
    public static final String RESTORE_FINALIZER = "sidewarp.io/restore-nics";

    /**
     * Label of a namespace and annotation of a pod: {@code enabled} or {@code disabled}. If the two differ, disabled
     * wins.
     */
    public static final String INJECT = "sidewarp.io/inject";

    /**
     * Annotation of a pod: name of a SidecarProfile in its namespace. The default is the profile
     * {@value #DEFAULT_PROFILE}, if it exists.
     */
    public static final String PROFILE = "sidewarp.io/profile";

    /**
     * Annotation of a pod: names of the containers that get the API socket and the shared regions. The default is all
     * containers but init containers.
     */
    public static final String CONTAINERS = "sidewarp.io/containers";

    /** Annotation of a pod: number of devices that the pod requests. Overrides the profile. */
    public static final String RNICS = "sidewarp.io/rnics";

    /** Annotation of a pod: size of the volume for shared regions. Overrides the profile. */
    public static final String SHARED_MEMORY = "sidewarp.io/shared-memory";

    /**
     * Annotation of a pod: whether the containers of {@link #CONTAINERS} get the library that stands in for libibverbs
     * and librdmacm. The value {@code enabled} preloads the library. The value {@code path} puts its directory on the
     * loader's path. The default is {@code disabled}.
     */
    public static final String VERBS = "sidewarp.io/verbs";

    /** Annotation that the webhook writes: the profile and the version of the operator. */
    public static final String INJECTED = "sidewarp.io/injected";

    /** Label that the webhook writes, for selecting pods that have a sidecar. */
    public static final String SIDECAR_LABEL = "sidewarp.io/sidecar";

    /** Annotation that Multus reads: networks of a pod, separated by commas or as a JSON list. */
    public static final String NETWORKS = "k8s.v1.cni.cncf.io/networks";

    /** Profile of a namespace for pods that name no profile. */
    public static final String DEFAULT_PROFILE = "default";

    private SidewarpApi() {}
}
