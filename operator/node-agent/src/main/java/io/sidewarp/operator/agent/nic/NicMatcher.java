// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Selects the NICs of a policy. A NIC must match one entry of each list that is not empty. A selector without any entry
 * matches no NIC.
 *
 * @param vendors PCI vendor ids, four hexadecimal digits
 * @param deviceIds PCI device ids, four hexadecimal digits
 * @param drivers kernel drivers
 * @param pfNames network interfaces; {@code *} stands for any characters and {@code ?} for one
 * @param pciAddresses addresses
 */
public record NicMatcher(
        List<String> vendors,
        List<String> deviceIds,
        List<String> drivers,
        List<String> pfNames,
        List<PciAddress> pciAddresses)
        implements Predicate<Nic> {

    public NicMatcher {
        vendors = lowerCase(vendors);
        deviceIds = lowerCase(deviceIds);
        drivers = List.copyOf(drivers);
        pfNames = List.copyOf(pfNames);
        pciAddresses = List.copyOf(pciAddresses);
    }

    private static List<String> lowerCase(List<String> ids) {
        return ids.stream().map(id -> id.toLowerCase(Locale.ROOT)).toList();
    }

    /** Returns a selector for the single NIC at an address. */
    public static NicMatcher ofAddress(PciAddress address) {
        return new NicMatcher(List.of(), List.of(), List.of(), List.of(), List.of(address));
    }

    private boolean isEmpty() {
        return vendors.isEmpty()
                && deviceIds.isEmpty()
                && drivers.isEmpty()
                && pfNames.isEmpty()
                && pciAddresses.isEmpty();
    }

    @Override
    public boolean test(Nic nic) {
        return !isEmpty()
                && (vendors.isEmpty() || vendors.contains(nic.vendorId()))
                && (deviceIds.isEmpty() || deviceIds.contains(nic.deviceId()))
                && (drivers.isEmpty() || nic.driver().filter(drivers::contains).isPresent())
                && (pfNames.isEmpty() || nic.interfaces().stream().anyMatch(this::hasName))
                && (pciAddresses.isEmpty() || pciAddresses.contains(nic.address()));
    }

    private boolean hasName(NetworkInterface networkInterface) {
        return pfNames.stream()
                .anyMatch(name -> glob(name).matcher(networkInterface.name()).matches());
    }

    private static Pattern glob(String pattern) {
        return Pattern.compile(pattern.chars()
                .mapToObj(character -> switch (character) {
                    case '*' -> ".*";
                    case '?' -> ".";
                    default -> Pattern.quote(Character.toString(character));
                })
                .collect(Collectors.joining()));
    }
}
