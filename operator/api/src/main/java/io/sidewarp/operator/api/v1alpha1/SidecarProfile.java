// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Version;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** Settings of the sidecars that are injected into pods of a namespace. */
@Group(SidewarpApi.GROUP)
@Version(SidewarpApi.VERSION)
@Kind("SidecarProfile")
@ShortNames("scp")
@AdditionalPrinterColumn(name = "RNICs", jsonPath = ".spec.rnics", type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(name = "Memory", jsonPath = ".spec.sharedMemory")
@AdditionalPrinterColumn(name = "Image", jsonPath = ".spec.image", priority = 1)
@AdditionalPrinterColumn(name = "Ready", jsonPath = ".status.conditions[?(@.type=='Ready')].status")
@AdditionalPrinterColumn(name = "Reason", jsonPath = ".status.conditions[?(@.type=='Ready')].reason")
@AdditionalPrinterColumn(
        name = "Age",
        jsonPath = ".metadata.creationTimestamp",
        type = AdditionalPrinterColumn.Type.DATE)
public final class SidecarProfile extends CustomResource<SidecarProfileSpec, SidecarProfileStatus>
        implements Namespaced {
    @Serial
    private static final long serialVersionUID = 1;

    @Override
    protected @Nullable SidecarProfileSpec initSpec() {
        return null;
    }

    @Override
    protected @Nullable SidecarProfileStatus initStatus() {
        return null;
    }
}
