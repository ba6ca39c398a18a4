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

    private static final String VERSION = "v1";

    private final String group;
    private final String plural;
    private final String kind;

    Upstream(String group, String plural, String kind) {
        this.group = group;
        this.plural = plural;
        this.kind = kind;
    }

    String definition() {
        return plural + "." + group;
    }

    String apiVersion() {
        return group + "/" + VERSION;
    }

    String kind() {
        return kind;
    }

    ResourceDefinitionContext context() {
        return new ResourceDefinitionContext.Builder()
                .withGroup(group)
                .withVersion(VERSION)
                .withPlural(plural)
                .withKind(kind)
                .withNamespaced(true)
                .build();
    }
}
