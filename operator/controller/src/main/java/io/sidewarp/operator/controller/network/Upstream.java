// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.network;

import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;

/** Resources of other operators that this operator writes. */
enum Upstream {
    /** Policy of the SR-IOV network operator: virtual functions of some NICs, offered as one extended resource. */
    SRIOV_POLICY("sriovnetwork.openshift.io", "sriovnetworknodepolicies", "SriovNetworkNodePolicy"),

    /** A network that Multus adds to pods. */
    NETWORK("k8s.cni.cncf.io", "network-attachment-definitions", "NetworkAttachmentDefinition");

    private final ResourceDefinitionContext context;

    Upstream(String group, String plural, String kind) {
        context = new ResourceDefinitionContext.Builder()
                .withGroup(group)
                .withVersion("v1")
                .withPlural(plural)
                .withKind(kind)
                .withNamespaced(true)
                .build();
    }

    String definition() {
        return context.getPlural() + "." + context.getGroup();
    }

    String apiVersion() {
        return context.getGroup() + "/" + context.getVersion();
    }

    String kind() {
        return context.getKind();
    }

    ResourceDefinitionContext context() {
        return context;
    }
}
