// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

/**
 * A Boolean parameter of a device.
 *
 * @param bus the bus of the device, such as pci
 * @param device the device on the bus, such as 0000:18:00.0
 * @param name such as enable_iwarp
 */
public record DevlinkParameter(String bus, String device, String name, Mode mode) {

    /** When a value takes effect (enum devlink_param_cmode). */
    public enum Mode {
        /** At once. */
        RUNTIME,
        /** When the driver is initialised anew. */
        DRIVERINIT,
        /** When the device is reset; it is kept in the device. */
        PERMANENT
    }

    /** A parameter of a PCI function that takes effect at once. */
    public static DevlinkParameter ofPciFunction(String address, String name) {
        return new DevlinkParameter("pci", address, name, Mode.RUNTIME);
    }

    /** As the devlink command writes it. */
    @Override
    public String toString() {
        return bus + "/" + device + " " + name;
    }
}
