// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.device;

import io.sidewarp.operator.api.v1alpha1.ProviderKind;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names of devices in ResourceSlices. Such a name is a DNS label, unlike the id of a device.
 *
 * <table>
 * <caption>Names</caption>
 * <tr><th>Id<th>Name<th>Name of all shares together
 * <tr><td>0000:3b:01.0<td>0000-3b-01-0<td>
 * <tr><td>siw/sidewarp-eth0-3<td>siw-3<td>siw
 * <tr><td>soft-3<td>soft-3<td>soft
 * </table>
 */
public final class DeviceName {

    private static final String SIW = "siw";
    private static final String SOFT = "soft";
    private static final Pattern FUNCTION = Pattern.compile("([0-9a-f]{4,8})-([0-9a-f]{2})-([0-9a-f]{2})-([0-7])");

    private DeviceName() {}

    /** Returns the name of one device. */
    public static String of(RnicDevice device) {
        return switch (device.kind()) {
            case HARDWARE -> device.id().replace(':', '-').replace('.', '-');
            case KERNEL_SIW -> SIW + device.id().substring(device.id().lastIndexOf('-'));
            case SOFTWARE -> device.id();
        };
    }

    /** Returns the name of a device that stands for all shares of a kind; empty for hardware, which has no shares. */
    public static Optional<String> ofAllShares(ProviderKind kind) {
        return switch (kind) {
            case HARDWARE -> Optional.empty();
            case KERNEL_SIW -> Optional.of(SIW);
            case SOFTWARE -> Optional.of(SOFT);
        };
    }

    /** Returns whether a name means a device, by itself or among all shares of its kind. */
    public static boolean means(String name, RnicDevice device) {
        return name.equals(of(device)) || ofAllShares(device.kind()).equals(Optional.of(name));
    }

    /**
     * Returns an id for a name, for uses that need no exact one. The id of a function is its PCI address, and that of a
     * share has the prefix of its kind.
     */
    public static String approximateId(String name) {
        Matcher function = FUNCTION.matcher(name);
        if (function.matches()) {
            return function.group(1) + ":" + function.group(2) + ":" + function.group(3) + "." + function.group(4);
        }
        return name.startsWith(SIW) ? RnicDevice.SIW_PREFIX + name : name;
    }

    /** Returns the name of a kind, as pods see it. */
    public static String provider(ProviderKind kind) {
        return switch (kind) {
            case HARDWARE -> "hardware";
            case KERNEL_SIW -> "kernel-siw";
            case SOFTWARE -> "software";
        };
    }
}
