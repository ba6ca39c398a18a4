// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;

/** Request of a node agent to evict a pod of its node. */
@JsonIgnoreProperties(ignoreUnknown = true)
public record PodEviction(
        @JsonPropertyDescription("Namespace of the pod.") @Required @Size(min = 1, max = 63)
        String namespace,

        @JsonPropertyDescription("Name of the pod.") @Required @Size(min = 1, max = 253)
        String name,

        @JsonPropertyDescription("UID of the pod. A later pod of the same name is not evicted.")
        @Required
        @Size(min = 1, max = 64)
        String uid,

        @JsonPropertyDescription("PCI address of the NIC that the pod must leave.") @Required
        String nic) {}
