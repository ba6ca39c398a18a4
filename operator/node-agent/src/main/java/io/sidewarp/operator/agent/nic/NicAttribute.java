// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.Comparator;
import java.util.Optional;

/**
 * An attribute of a NIC that the agent may change. Values are numbers: a count, bytes, or 1 and 0 for on and off.
 *
 * @param kind kind of attribute
 * @param networkInterface interface of an MTU; empty for other kinds
 */
public record NicAttribute(Kind kind, String networkInterface) implements Comparable<NicAttribute> {

    /** Kinds of attributes, in the order of listings. */
    public enum Kind {
        ROCE("enableRoce"),
        IWARP("enableIwarp"),
        MTU("mtu"),
        VIRTUAL_FUNCTIONS("virtualFunctions"),
        /** MTU of the interface of a virtual function. */
        FUNCTION_MTU("functionMtu");

        private final String key;

        Kind(String key) {
            this.key = key;
        }
    }

    static final NicAttribute ROCE = new NicAttribute(Kind.ROCE, "");
    static final NicAttribute IWARP = new NicAttribute(Kind.IWARP, "");
    static final NicAttribute VIRTUAL_FUNCTIONS = new NicAttribute(Kind.VIRTUAL_FUNCTIONS, "");

    private static final String SEPARATOR = "/";

    static NicAttribute mtu(String networkInterface) {
        return new NicAttribute(Kind.MTU, networkInterface);
    }

    static NicAttribute functionMtu(String networkInterface) {
        return new NicAttribute(Kind.FUNCTION_MTU, networkInterface);
    }

    boolean isSwitch() {
        return kind == Kind.ROCE || kind == Kind.IWARP;
    }

    /** Returns the name of the attribute in the state file. */
    String key() {
        return networkInterface.isEmpty() ? kind.key : kind.key + SEPARATOR + networkInterface;
    }

    /** Returns the attribute for a name in the state file; empty if the name is unknown. */
    static Optional<NicAttribute> ofKey(String key) {
        int separator = key.indexOf(SEPARATOR);
        String name = separator < 0 ? key : key.substring(0, separator);
        String networkInterface = separator < 0 ? "" : key.substring(separator + 1);
        for (Kind kind : Kind.values()) {
            if (kind.key.equals(name)) {
                return Optional.of(new NicAttribute(kind, networkInterface));
            }
        }
        return Optional.empty();
    }

    @Override
    public int compareTo(NicAttribute other) {
        return Comparator.comparing(NicAttribute::kind)
                .thenComparing(NicAttribute::networkInterface)
                .compare(this, other);
    }

    /** Returns the name for messages. */
    @Override
    public String toString() {
        return switch (kind) {
            case ROCE -> NicDiscovery.ENABLE_ROCE;
            case IWARP -> NicDiscovery.ENABLE_IWARP;
            case MTU, FUNCTION_MTU -> "MTU of " + networkInterface;
            case VIRTUAL_FUNCTIONS -> "number of virtual functions";
        };
    }
}
