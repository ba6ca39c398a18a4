// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import io.sidewarp.operator.agent.host.DevlinkParameter;
import io.sidewarp.operator.agent.host.Errno;
import io.sidewarp.operator.agent.host.Host;
import io.sidewarp.operator.agent.host.HostException;
import io.sidewarp.operator.agent.nic.NicAttribute.Kind;
import io.sidewarp.operator.agent.nic.ProvisioningResult.Failure;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/** Makes the changes of one NIC, one after the other. If a change fails, rolls the earlier changes back. */
final class ChangeRun {

    private final Host host;
    private final OriginalValues originals;
    private final Nic nic;

    ChangeRun(Host host, OriginalValues originals, Nic nic) {
        this.host = host;
        this.originals = originals;
        this.nic = nic;
    }

    /**
     * Makes changes in their order.
     *
     * @return empty if all changes were made and read back
     */
    Optional<Failure> make(List<Change> changes) {
        Set<NicAttribute> rememberedBefore = new HashSet<>(originals.of(nic).keySet());
        List<Change> begun = new ArrayList<>();
        for (Change change : changes) {
            String problem = "";
            try {
                // Comes first: if the agent ends now, the next agent knows which value to restore.
                originals.remember(nic, change.attribute(), change.from());
                begun.add(change);
                write(change.attribute(), change.to());
                int now = read(change.attribute());
                if (now != change.to()) {
                    problem = "the driver accepted the value, but it is read back as " + now + ".";
                }
            } catch (HostException e) {
                problem = e.getMessage() + "." + advice(change.attribute(), e);
            } catch (IOException e) {
                problem = "the original value cannot be remembered: " + e.getMessage()
                        + ". Make the agent's state directory writable.";
            }
            if (!problem.isEmpty()) {
                return Optional.of(
                        new Failure("changing the " + change + ": " + problem, rollBack(begun, rememberedBefore)));
            }
        }
        return Optional.empty();
    }

    /** @return changes that could not be rolled back, with the reasons */
    private List<String> rollBack(List<Change> begun, Set<NicAttribute> rememberedBefore) {
        List<String> left = new ArrayList<>();
        Set<NicAttribute> remembered = new HashSet<>(rememberedBefore);
        for (Change change : begun.reversed()) {
            try {
                restore(change);
            } catch (HostException e) {
                left.add(change + ": " + e.getMessage());
                remembered.add(change.attribute());
            }
        }
        try {
            originals.retain(nic, remembered);
        } catch (IOException e) {
            left.add("the agent's state file: " + e.getMessage());
        }
        return left;
    }

    /** Restores the value before a change. The change may have had its full effect, no effect, or a partial effect. */
    private void restore(Change change) throws HostException {
        int now = read(change.attribute());
        if (now == change.from()) {
            return;
        }
        if (change.attribute().kind() == Kind.VIRTUAL_FUNCTIONS && now > 0 && change.from() > 0) {
            write(change.attribute(), 0);
        }
        write(change.attribute(), change.from());
        now = read(change.attribute());
        if (now != change.from()) {
            throw new HostException(
                    "restoring the " + change.attribute(), Errno.EIO.number(), "it is " + now + " afterwards");
        }
    }

    /** @throws HostException ENODATA if the attribute has no value */
    private int read(NicAttribute attribute) throws HostException {
        if (attribute.isSwitch()) {
            return host.parameter(parameter(attribute))
                            .orElseThrow(() -> new HostException("reading back " + attribute, Errno.ENODATA))
                    ? 1
                    : 0;
        }
        OptionalInt value = host.number(path(attribute));
        if (value.isEmpty()) {
            throw new HostException("reading back the " + attribute, Errno.ENODATA);
        }
        return value.getAsInt();
    }

    private void write(NicAttribute attribute, int value) throws HostException {
        if (attribute.isSwitch()) {
            host.setParameter(parameter(attribute), value != 0);
        } else {
            host.write(path(attribute), String.valueOf(value));
        }
    }

    private DevlinkParameter parameter(NicAttribute attribute) {
        return DevlinkParameter.ofPciFunction(nic.address().value(), attribute.toString());
    }

    private String path(NicAttribute attribute) {
        return switch (attribute.kind()) {
            case MTU, FUNCTION_MTU -> "class/net/" + attribute.networkInterface() + "/mtu";
            case VIRTUAL_FUNCTIONS -> nic.address().directory() + "/sriov_numvfs";
            case IWARP, ROCE -> throw new IllegalArgumentException(attribute + " is no file");
        };
    }

    private static String advice(NicAttribute attribute, HostException e) {
        if (e.is(Errno.EPERM) || e.is(Errno.EACCES) || e.is(Errno.EROFS)) {
            return " The agent has to run privileged, in the node's network namespace, with sysfs mounted writable.";
        }
        if (attribute.kind() == Kind.VIRTUAL_FUNCTIONS
                && e.errno()
                        .filter(
                                Set.of(Errno.EIO, Errno.ENOMEM, Errno.ENOSPC, Errno.EOPNOTSUPP, Errno.ENOTSUPP)
                                        ::contains)
                        .isPresent()) {
            return " Switch SR-IOV and ARI on in the node's firmware, or boot with pci=realloc.";
        }
        if ((attribute.kind() == Kind.MTU || attribute.kind() == Kind.FUNCTION_MTU) && e.is(Errno.EINVAL)) {
            return " The driver does not take this MTU.";
        }
        return "";
    }
}
