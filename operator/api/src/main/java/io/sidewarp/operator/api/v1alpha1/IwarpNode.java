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
import java.util.Optional;
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
@AdditionalPrinterColumn(name = "Agent", jsonPath = ".status.conditions[?(@.type=='AgentReporting')].reason")
@AdditionalPrinterColumn(name = "Message", jsonPath = ".status.conditions[?(@.type=='Ready')].message", priority = 1)
@AdditionalPrinterColumn(
        name = "Age",
        jsonPath = ".metadata.creationTimestamp",
        type = AdditionalPrinterColumn.Type.DATE)
public final class IwarpNode extends CustomResource<IwarpNodeSpec, IwarpNodeStatus> {
    @Serial
    private static final long serialVersionUID = 1;

    /**
     * Returns the status if the node agent has reported. Otherwise the status can have only a condition of the
     * controller.
     */
    public Optional<IwarpNodeStatus> reported() {
        return Optional.ofNullable(getStatus()).filter(status -> status.observedGeneration() != null);
    }

    /** Returns the condition {@link StatusCondition#AGENT_REPORTING}, if the controller has written one. */
    public Optional<StatusCondition> agentReporting() {
        return Optional.ofNullable(getStatus()).stream()
                .flatMap(status -> status.conditions().stream())
                .filter(condition -> condition.type().equals(StatusCondition.AGENT_REPORTING))
                .findFirst();
    }

    @Override
    protected @Nullable IwarpNodeSpec initSpec() {
        return null;
    }

    @Override
    protected @Nullable IwarpNodeStatus initStatus() {
        return null;
    }
}
