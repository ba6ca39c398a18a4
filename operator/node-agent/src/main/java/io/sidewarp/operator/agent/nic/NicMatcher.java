// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import io.sidewarp.operator.api.v1alpha1.NicSelector;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Matches NICs against the selector of a policy. */
final class NicMatcher {

    private static final NicSelector NOTHING = new NicSelector(null, null, null, null, null);

    private NicMatcher() {}

    static boolean matches(NicSelector selector, Nic nic) {
        return !selector.equals(NOTHING)
                && hasAny(selector.vendors(), nic.vendorId()::equalsIgnoreCase)
                && hasAny(selector.deviceIds(), nic.deviceId()::equalsIgnoreCase)
                && hasAny(selector.drivers(), driver -> nic.driver().equals(Optional.of(driver)))
                && hasAny(selector.pfNames(), name -> hasInterface(nic, glob(name)))
                && hasAny(selector.pciAddresses(), nic.address().value()::equalsIgnoreCase);
    }

    private static boolean hasAny(List<String> entries, Predicate<String> matching) {
        return entries.isEmpty() || entries.stream().anyMatch(matching);
    }

    private static boolean hasInterface(Nic nic, Pattern name) {
        return nic.interfaces().stream()
                .anyMatch(networkInterface ->
                        name.matcher(networkInterface.name()).matches());
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
