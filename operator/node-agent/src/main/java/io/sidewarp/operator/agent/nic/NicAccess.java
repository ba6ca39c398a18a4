// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import io.sidewarp.operator.agent.host.DevlinkParameter;
import io.sidewarp.operator.agent.host.Errno;
import io.sidewarp.operator.agent.host.Host;
import io.sidewarp.operator.agent.host.HostException;
import java.util.OptionalInt;

/** Reads and writes single attributes of NICs. */
final class NicAccess {

    private final Host host;

    NicAccess(Host host) {
        this.host = host;
    }

    /**
     * Reads the present value of an attribute.
     *
     * @throws HostException ENODATA if the attribute has no value
     */
    int read(PciAddress nic, NicAttribute attribute) throws HostException {
        if (attribute.isSwitch()) {
            boolean on = host.parameter(parameter(nic, attribute))
                    .orElseThrow(() -> new HostException("reading back " + attribute, Errno.ENODATA));
            return on ? 1 : 0;
        }
        OptionalInt value =
                host.read(path(nic, attribute)).map(AttributeValues::natural).orElseGet(OptionalInt::empty);
        if (value.isEmpty()) {
            throw new HostException("reading back the " + attribute, Errno.ENODATA);
        }
        return value.getAsInt();
    }

    void write(PciAddress nic, NicAttribute attribute, int value) throws HostException {
        if (attribute.isSwitch()) {
            host.setParameter(parameter(nic, attribute), value != 0);
        } else {
            host.write(path(nic, attribute), String.valueOf(value));
        }
    }

    private static DevlinkParameter parameter(PciAddress nic, NicAttribute attribute) {
        return DevlinkParameter.ofPciFunction(nic.value(), attribute.toString());
    }

    private static String path(PciAddress nic, NicAttribute attribute) {
        return switch (attribute.kind()) {
            case MTU -> "class/net/" + attribute.networkInterface() + "/mtu";
            case VIRTUAL_FUNCTIONS -> nic.directory() + "/sriov_numvfs";
            case IWARP, ROCE -> throw new IllegalArgumentException(attribute + " is no file");
        };
    }
}
