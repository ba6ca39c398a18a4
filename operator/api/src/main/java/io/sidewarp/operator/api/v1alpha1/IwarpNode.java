// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Version;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * The iWARP state of one node, with the name of the node. The controller writes the specification: the policies that
 * apply to the node. The node agent writes the status: its findings and changes. Cluster-scoped, and not meant to be
 * edited by people.
 */
@Group(SidewarpApi.GROUP)
@Version(SidewarpApi.VERSION)
@Kind("IwarpNode")
@ShortNames("iwn")
@AdditionalPrinterColumn(name = "Provider", jsonPath = ".status.activeProvider")
@AdditionalPrinterColumn(name = "Devices", jsonPath = ".status.devices", type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
        name = "Hardware",
        jsonPath = ".status.providers.hardware",
        type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(name = "Ready", jsonPath = ".status.conditions[?(@.type=='Ready')].status")
@AdditionalPrinterColumn(name = "Reason", jsonPath = ".status.conditions[?(@.type=='Ready')].reason")
@AdditionalPrinterColumn(name = "Message", jsonPath = ".status.conditions[?(@.type=='Ready')].message", priority = 1)
@AdditionalPrinterColumn(
        name = "Age",
        jsonPath = ".metadata.creationTimestamp",
        type = AdditionalPrinterColumn.Type.DATE)
public final class IwarpNode extends CustomResource<IwarpNodeSpec, IwarpNodeStatus> {
    @Serial
    private static final long serialVersionUID = 1;

    @Override
    protected @Nullable IwarpNodeSpec initSpec() {
        return null;
    }

    @Override
    protected @Nullable IwarpNodeStatus initStatus() {
        return null;
    }
}
