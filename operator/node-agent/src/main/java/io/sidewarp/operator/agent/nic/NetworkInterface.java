// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * A network interface of a PCI function.
 *
 * @param mtu octets
 * @param speed Mbit/s; empty while the link is down
 * @param physicalPort the driver's name for the port at which the cable is, such as p0
 */
public record NetworkInterface(
        String name, LinkState state, OptionalInt mtu, OptionalInt speed, Optional<String> physicalPort) {}
