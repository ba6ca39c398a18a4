// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The address of a PCI function.
 *
 * @param value domain, bus, device and function as sysfs writes them, such as 0000:18:00.0
 */
public record PciAddress(String value) implements Comparable<PciAddress> {

    private static final Pattern FORMAT = Pattern.compile("[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");

    public PciAddress {
        value = value.toLowerCase(Locale.ROOT);
        if (!FORMAT.matcher(value).matches()) {
            throw new IllegalArgumentException(
                    "not a PCI address: " + value + ". Write domain:bus:device.function, such as 0000:18:00.0");
        }
    }

    /** The address that a name stands for, empty when it is something else. */
    static Optional<PciAddress> parse(String name) {
        return FORMAT.matcher(name).matches() ? Optional.of(new PciAddress(name)) : Optional.empty();
    }

    /** Where sysfs has the function. */
    String directory() {
        return "bus/pci/devices/" + value;
    }

    @Override
    public int compareTo(PciAddress other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
