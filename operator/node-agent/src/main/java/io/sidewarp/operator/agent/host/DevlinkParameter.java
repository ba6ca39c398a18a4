// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

/**
 * A Boolean parameter of a device.
 *
 * @param bus bus of the device, such as pci
 * @param device device on the bus, such as 0000:18:00.0
 * @param name name of the parameter, such as enable_iwarp
 * @param mode when a value takes effect
 */
public record DevlinkParameter(String bus, String device, String name, Mode mode) {

    /** Time at which a value takes effect (enum devlink_param_cmode). */
    public enum Mode {
        /** At once. */
        RUNTIME,
        /** When the driver is initialised again. */
        DRIVERINIT,
        /** When the device is reset; the device stores the value. */
        PERMANENT
    }

    /** Returns a parameter of a PCI function that takes effect at once. */
    public static DevlinkParameter ofPciFunction(String address, String name) {
        return new DevlinkParameter("pci", address, name, Mode.RUNTIME);
    }

    /** Returns the parameter in the notation of the devlink command. */
    @Override
    public String toString() {
        return bus + "/" + device + " " + name;
    }
}
