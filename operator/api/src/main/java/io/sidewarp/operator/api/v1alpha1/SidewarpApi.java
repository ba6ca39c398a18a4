// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

/** Names that the parts of the operator, the chart and users share: labels, annotations, finalizers, the extended resource. */
public final class SidewarpApi {
    /** API group of the custom resources, and prefix of all names below. */
    public static final String GROUP = "sidewarp.io";

    /** Version of the custom resources. */
    public static final String VERSION = "v1alpha1";

    /** Extended resource that stands for one RDMA device of a node: a VF, a share of a kernel siw device, or a soft device. */
    public static final String RNIC_RESOURCE = "sidewarp.io/rnic";

    /** Keeps a policy until the nodes have put its NICs back to what they were before. */
    public static final String RESTORE_FINALIZER = "sidewarp.io/restore-nics";

    /** Label of a namespace or annotation of a pod: whether pods get a sidecar. */
    public static final String INJECT = "sidewarp.io/inject";

    private SidewarpApi() {}
}
