// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/** Origin of the certificates of the sidecars of a profile. */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record IdentitySpec(
        @JsonPropertyDescription(
                "Builtin: the controller signs a certificate for the pod's service account. Files: a CSI volume has"
                        + " tls.crt, tls.key and ca.crt. Spiffe: a CSI volume has the socket of the SPIFFE Workload API."
                        + " Unset: identity.source of the chart's values.")
        @Nullable
        IdentitySource source,

        @JsonPropertyDescription(
                "CSI driver of the volume. Unset: spiffe.csi.cert-manager.io for files, csi.spiffe.io for spiffe.")
        @Size(max = 63)
        @Pattern("^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?$")
        @Nullable
        String csiDriver) {}
