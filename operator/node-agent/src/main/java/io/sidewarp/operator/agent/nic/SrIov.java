// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.List;

/**
 * A physical function's ability to have virtual ones.
 *
 * @param total the most virtual functions that the device and its driver allow
 * @param number how many there are now
 * @param virtualFunctions those that there are, by index
 */
public record SrIov(int total, int number, List<VirtualFunction> virtualFunctions) {

    public SrIov {
        virtualFunctions = List.copyOf(virtualFunctions);
    }
}
