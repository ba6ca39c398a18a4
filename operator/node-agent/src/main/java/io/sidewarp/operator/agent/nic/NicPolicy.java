// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * What some NICs have to be like. What is empty stays as it is, or becomes again what it was before the agent changed it.
 *
 * @param name for messages
 * @param selector which NICs
 * @param ownsFunctions whether the number of virtual functions and the MTU are the agent's to change; otherwise they are
 *     somebody else's, and not even restored
 * @param virtualFunctions how many virtual functions
 * @param mtu octets
 * @param iwarp whether iWARP is on, in NICs that have a parameter for it
 */
public record NicPolicy(
        String name,
        NicSelector selector,
        boolean ownsFunctions,
        OptionalInt virtualFunctions,
        OptionalInt mtu,
        Optional<Boolean> iwarp) {}
