// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.OptionalInt;

/**
 * A network interface of a PCI function.
 *
 * @param name name of the interface
 * @param state operational state
 * @param mtu MTU in bytes
 * @param speed speed in Mbit/s; empty while the link is down
 */
public record NetworkInterface(String name, OperState state, OptionalInt mtu, OptionalInt speed) {}
