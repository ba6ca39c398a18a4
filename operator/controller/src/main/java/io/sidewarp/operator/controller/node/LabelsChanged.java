// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.node;

import io.fabric8.kubernetes.api.model.Node;
import io.javaoperatorsdk.operator.processing.event.source.filter.OnUpdateFilter;
import java.util.Objects;

/** Accepts changes of a node that can change which policies apply to it. */
public final class LabelsChanged implements OnUpdateFilter<Node> {
    @Override
    public boolean accept(Node updated, Node former) {
        return !Objects.equals(
                updated.getMetadata().getLabels(), former.getMetadata().getLabels());
    }
}
