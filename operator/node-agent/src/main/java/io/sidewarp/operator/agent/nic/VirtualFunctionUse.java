// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.List;
import java.util.Set;

/**
 * Who uses the functions of NICs. Before functions are taken away it is asked about them; if nobody uses one, they are withheld
 * and it is asked about once more.
 */
@FunctionalInterface
public interface VirtualFunctionUse {

    /**
     * The pods that use a function, as namespace/name; none when it is free.
     *
     * @param function a virtual function, or a physical one whose RDMA is about to be switched
     */
    List<String> users(PciAddress function);

    /** Gives these functions to nobody any more, until the node's devices are published the next time. */
    default void withhold(Set<PciAddress> functions) {}
}
