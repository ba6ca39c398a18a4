// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * Wanted state of the NICs that a selector matches. An empty value stays unchanged, or returns to its value before the
 * agent's first change.
 *
 * @param name name of the policy, for messages
 * @param selector NICs of the policy
 * @param ownsFunctions true if the agent manages the number of virtual functions and the MTU; if false, another program
 *     manages them, and the agent does not even restore them
 * @param virtualFunctions number of virtual functions
 * @param mtu MTU in bytes
 * @param iwarp whether iWARP is on; only for NICs with a parameter for it
 */
public record NicPolicy(
        String name,
        NicMatcher selector,
        boolean ownsFunctions,
        OptionalInt virtualFunctions,
        OptionalInt mtu,
        Optional<Boolean> iwarp) {}
