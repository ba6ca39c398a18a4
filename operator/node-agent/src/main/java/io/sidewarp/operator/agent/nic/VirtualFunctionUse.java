// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.List;
import java.util.Set;

/**
 * Tells which pods use the functions of NICs. The provisioner asks before it takes functions away. If no pod uses a
 * function, the provisioner withholds the functions and asks once more.
 */
@FunctionalInterface
public interface VirtualFunctionUse {

    /**
     * Returns the pods that use a function, as namespace/name; none if it is free.
     *
     * @param function a virtual function, or a physical function whose RDMA is about to be switched
     */
    List<String> users(PciAddress function);

    /** Stops offering these functions, until the next publication of the node's devices. */
    default void withhold(Set<PciAddress> functions) {}
}
