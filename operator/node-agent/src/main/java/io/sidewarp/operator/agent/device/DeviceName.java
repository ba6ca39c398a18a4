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
 * <tr><th>Id<th>Name<th>Name of its group of shares
 * <tr><td>0000:3b:01.0<td>0000-3b-01-0<td>
 * <tr><td>siw/sidewarp-eth0-3<td>siw-3<td>siw-shared-3
 * <tr><td>soft-19<td>soft-19<td>soft-shared-3
 * </table>
 *
 * <p>Where a device can have several allocations, a group of shares is one device. There are several groups, because the
 * scheduler allocates a device only once for a request, and a request may want several devices.
 */
public final class DeviceName {

    private static final String SIW = "siw";
    private static final String SOFT = "soft";

    /** Number of groups: the largest number of devices that a SidecarProfile can ask for. */
    private static final int GROUPS = 16;

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

    /** Returns the name of the group of shares that a device belongs to; empty for hardware, which has no shares. */
    public static Optional<String> ofGroup(RnicDevice device) {
        return switch (device.kind()) {
            case HARDWARE -> Optional.empty();
            case KERNEL_SIW -> Optional.of(group(SIW, device));
            case SOFTWARE -> Optional.of(group(SOFT, device));
        };
    }

    private static String group(String kind, RnicDevice device) {
        int share = Integer.parseInt(device.id().substring(device.id().lastIndexOf('-') + 1));
        return kind + "-shared-" + share % GROUPS;
    }

    /** Returns whether a name means a device, by itself or in its group of shares. */
    public static boolean means(String name, RnicDevice device) {
        return name.equals(of(device)) || ofGroup(device).equals(Optional.of(name));
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
