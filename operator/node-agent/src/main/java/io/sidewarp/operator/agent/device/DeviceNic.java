// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.device;

import io.sidewarp.operator.api.v1alpha1.LinkState;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The NIC that carries a device's traffic, as far as it is known.
 *
 * @param address PCI address of the NIC itself, for a VF that of its physical function
 * @param vendorId four hexadecimal digits
 * @param driver driver of the NIC itself
 * @param linkState state of the link
 * @param linkMegabits speed of the link in Mbit/s; empty while the link is down
 */
public record DeviceNic(
        Optional<String> address,
        Optional<String> vendorId,
        Optional<String> driver,
        LinkState linkState,
        OptionalInt linkMegabits) {}
