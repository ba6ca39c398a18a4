// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** Does what the PCI core of Linux does when sriov_numvfs is written (drivers/pci/iov.c). */
final class VirtualFunctions {

    private static final int FUNCTION_BITS = 3;
    private static final int BUS_BITS = 8;
    private static final int HEXADECIMAL = 16;

    private final Path root;
    private final Host sysfs;

    VirtualFunctions(Path root, Host sysfs) {
        this.root = root;
        this.sysfs = sysfs;
    }

    void change(String function, int number) throws HostException {
        String operation = "writing " + number + " to sriov_numvfs";
        if (number > value(function, "sriov_totalvfs")) {
            throw new HostException(operation, Errno.ERANGE);
        }
        int present = value(function, "sriov_numvfs");
        if (number == present) {
            return;
        }
        if (sysfs.resolve(function + "/driver").isEmpty()) {
            throw new HostException(operation, Errno.ENOENT);
        }
        if (number != 0 && present != 0) {
            throw new HostException(operation, Errno.EBUSY);
        }
        String device = sysfs.resolve(function).orElseThrow();
        try {
            for (int i = 0; i < number; i++) {
                add(device, i);
            }
            for (int i = 0; i < present; i++) {
                remove(device, i);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void add(String device, int index) throws IOException {
        Path physical = root.resolve(device);
        String address = address(device, index);
        Path virtual = physical.resolveSibling(address);
        Files.createDirectories(virtual);
        Files.writeString(virtual.resolve("class"), "0x020000\n");
        Files.writeString(
                virtual.resolve("vendor"), sysfs.read(device + "/vendor").orElseThrow() + "\n");
        Files.writeString(
                virtual.resolve("device"),
                "0x" + sysfs.read(device + "/sriov_vf_device").orElseThrow() + "\n");
        HostTree.link(virtual.resolve("physfn"), physical);
        for (String name : sysfs.list(device + "/net")) {
            Path networkInterface = virtual.resolve("net/" + name + "v" + index);
            Files.createDirectories(networkInterface);
            Files.writeString(networkInterface.resolve("operstate"), "up\n");
            Files.writeString(networkInterface.resolve("mtu"), "1500\n");
            HostTree.link(root.resolve("class/net/" + networkInterface.getFileName()), networkInterface);
        }
        HostTree.link(root.resolve("bus/pci/devices/" + address), virtual);
        HostTree.link(physical.resolve("virtfn" + index), virtual);
    }

    private void remove(String device, int index) {
        Path link = root.resolve(device).resolve("virtfn" + index);
        Path virtual = root.resolve(sysfs.resolve(device + "/virtfn" + index).orElseThrow());
        delete(link);
        delete(root.resolve("bus/pci/devices/" + virtual.getFileName()));
        for (String name : sysfs.list(root.relativize(virtual) + "/net")) {
            delete(root.resolve("class/net/" + name));
        }
        delete(virtual);
    }

    /** The physical function's routing identifier plus offset, plus stride for each one before. */
    private String address(String device, int index) {
        String physical = device.substring(device.lastIndexOf('/') + 1);
        String[] parts = physical.split("[:.]", -1);
        int routing = (Integer.parseInt(parts[1], HEXADECIMAL) << BUS_BITS)
                | (Integer.parseInt(parts[2], HEXADECIMAL) << FUNCTION_BITS)
                | Integer.parseInt(parts[3], HEXADECIMAL);
        routing += value(device, "sriov_offset") + index * value(device, "sriov_stride");
        return String.format("%s:%02x:%02x.%d", parts[0], routing >> BUS_BITS, (routing >> 3) & 0x1F, routing & 7);
    }

    private int value(String function, String attribute) {
        return Integer.parseInt(sysfs.read(function + "/" + attribute).orElseThrow());
    }

    /** Deletes a file, a link, or a directory and what is in it; a link's target stays. */
    static void delete(Path path) {
        try (Stream<Path> files = Files.walk(path)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (NoSuchFileException e) {
            // Was never there.
            return;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
