// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/** Peers that may connect: pods of this trust domain by namespace and service account, or any SPIFFE IDs. */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
// For API servers that know CEL. The webhook checks the same rule.
@ValidationRule(
        value = "has(self.spiffeId) != (has(self.namespace) || has(self.serviceAccount))",
        message = "a peer has either spiffeId, or namespace, serviceAccount or both")
public record PeerRule(
        @JsonPropertyDescription(
                "Namespace of peers. * stands for any characters. Unset, with serviceAccount: the namespace of the pod.")
        @Size(max = 63)
        @Pattern("^[a-z0-9*]([-a-z0-9*]*[a-z0-9*])?$")
        @Nullable
        String namespace,

        @JsonPropertyDescription(
                "Service account of peers. * stands for any characters. Unset, with namespace: all of the namespace.")
        @Size(max = 253)
        @Pattern("^[a-z0-9*]([-a-z0-9.*]*[a-z0-9*])?$")
        @Nullable
        String serviceAccount,

        @JsonPropertyDescription(
                "Pattern of SPIFFE IDs, for instance spiffe://example.org/ns/shop/sa/*. In the path, * stands for any"
                        + " characters but a slash, and ** as the last segment stands for the rest.")
        @Size(max = 2048)
        @Pattern("^spiffe://[a-z0-9._-]{1,255}(/[A-Za-z0-9._*-]+)+$")
        @Nullable
        String spiffeId) {}
