// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeSpec;
import io.sidewarp.operator.api.v1alpha1.NicStatus;
import io.sidewarp.operator.api.v1alpha1.NodePolicy;
import io.sidewarp.operator.api.v1alpha1.VirtualFunctionStatus;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Tells which devices a node has to offer to ResourceClaims. The device plugin offers the others. */
final class ClaimableDevices implements Predicate<RnicDevice> {

    private final boolean claims;
    private final Set<String> exceptions;

    ClaimableDevices(IwarpNodeSpec spec, List<NicStatus> nics) {
        claims = spec.offersClaims();
        Set<String> policies = spec.policies().stream()
                .filter(policy -> Boolean.TRUE.equals(policy.devicePlugin()))
                .map(NodePolicy::name)
                .collect(Collectors.toSet());
        exceptions = nics.stream()
                .filter(nic -> nic.policy() != null && policies.contains(nic.policy()))
                .flatMap(nic -> Stream.concat(
                        Stream.of(nic.pciAddress()),
                        nic.virtualFunctions().stream().map(VirtualFunctionStatus::pciAddress)))
                .collect(Collectors.toSet());
    }

    @Override
    public boolean test(RnicDevice device) {
        return claims && !exceptions.contains(device.id());
    }
}
