// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.Optional;

/**
 * A port of an RDMA device.
 *
 * @param number number of the port, from 1
 * @param state state of the port
 * @param networkInterface network interface whose addresses the port has
 */
public record RdmaPort(int number, PortState state, Optional<String> networkInterface) {}
