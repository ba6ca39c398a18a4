// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.Locale;

/** Operational state of a network interface (RFC 2863, attribute operstate). */
public enum OperState {
    UNKNOWN,
    NOTPRESENT,
    DOWN,
    LOWERLAYERDOWN,
    TESTING,
    DORMANT,
    UP;

    static OperState parse(String attribute) {
        for (OperState state : values()) {
            if (state.name().toLowerCase(Locale.ROOT).equals(attribute)) {
                return state;
            }
        }
        return UNKNOWN;
    }
}
