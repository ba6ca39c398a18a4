// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.List;

/**
 * Who uses the functions of NICs. The agent asks before it takes away a function, and right before it does so; whoever
 * answers must not give the function to anybody in between.
 */
@FunctionalInterface
public interface VirtualFunctionUse {

    /**
     * The pods that use a function, as namespace/name; none when it is free.
     *
     * @param function a virtual function, or a physical one whose RDMA is about to be switched
     */
    List<String> users(PciAddress function);
}
