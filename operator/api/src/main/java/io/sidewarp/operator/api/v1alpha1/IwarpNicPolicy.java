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
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/** Selects NICs of nodes for iWARP and configures them. Cluster-scoped. */
@Group(SidewarpApi.GROUP)
@Version(SidewarpApi.VERSION)
@Kind("IwarpNicPolicy")
@ShortNames("inp")
@AdditionalPrinterColumn(name = "VFs", jsonPath = ".spec.virtualFunctions", type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
        name = "Nodes",
        jsonPath = ".status.selectedNodes",
        type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(name = "NICs", jsonPath = ".status.nics", type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(name = "Ready", jsonPath = ".status.conditions[?(@.type=='Ready')].status")
@AdditionalPrinterColumn(name = "Reason", jsonPath = ".status.conditions[?(@.type=='Ready')].reason")
@AdditionalPrinterColumn(
        name = "Age",
        jsonPath = ".metadata.creationTimestamp",
        type = AdditionalPrinterColumn.Type.DATE)
public final class IwarpNicPolicy extends CustomResource<IwarpNicPolicySpec, IwarpNicPolicyStatus> {
    /**
     * Order of the policies that select one NIC: highest priority, then name in alphabetical order. For policies with a
     * specification.
     */
    public static final Comparator<IwarpNicPolicy> BY_RANK = Comparator.comparing(
                    (IwarpNicPolicy policy) -> policy.getSpec().priority(), Comparator.reverseOrder())
            .thenComparing(policy -> policy.getMetadata().getName());

    @Serial
    private static final long serialVersionUID = 1;

    @Override
    protected @Nullable IwarpNicPolicySpec initSpec() {
        return null;
    }

    @Override
    protected @Nullable IwarpNicPolicyStatus initStatus() {
        return null;
    }
}
