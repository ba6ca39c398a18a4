// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.List;

/**
 * Virtual functions of a physical function.
 *
 * @param total maximum number that the device and its driver allow
 * @param number present number
 * @param virtualFunctions present virtual functions, by index
 */
public record SrIov(int total, int number, List<VirtualFunction> virtualFunctions) {

    public SrIov {
        virtualFunctions = List.copyOf(virtualFunctions);
    }
}
