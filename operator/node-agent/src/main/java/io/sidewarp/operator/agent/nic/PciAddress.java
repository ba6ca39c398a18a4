// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import io.sidewarp.operator.agent.host.Host;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Address of a PCI function.
 *
 * @param value domain, bus, device and function in the notation of sysfs, such as 0000:18:00.0
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

    /** Parses an address; empty if the name is not a PCI address. */
    static Optional<PciAddress> parse(String name) {
        return FORMAT.matcher(name).matches() ? Optional.of(new PciAddress(name)) : Optional.empty();
    }

    /** Returns the function that a link in sysfs leads to; empty if it leads to none. */
    static Optional<PciAddress> at(Host host, String link) {
        return host.resolve(link).map(NicDiscovery::lastName).flatMap(PciAddress::parse);
    }

    /** Returns the directory of the function in sysfs. */
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
