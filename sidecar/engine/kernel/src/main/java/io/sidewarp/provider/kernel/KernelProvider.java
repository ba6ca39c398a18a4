// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static io.sidewarp.provider.kernel.Native.INT;

import io.sidewarp.engine.linux.NativeLibrary;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.provider.RdmaProvider;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Carries out verbs on an iWARP device of the kernel: an RNIC, a virtual function of an RNIC, or soft-iWARP (siw).
 * Needs librdmacm, libibverbs with the driver of the device, and the device's files below /dev/infiniband.
 */
public final class KernelProvider implements RdmaProvider {

    /** The {@link #name()} of this provider. */
    public static final String NAME = "kernel";

    /** Contexts in use. The library has one context for each device, and all events of the device arrive there. */
    private static final Set<Long> OPEN = ConcurrentHashMap.newKeySet();

    private final List<String> names;
    private final KernelLimits limits;

    /** @param names names of devices; the first that exists is used; if empty, any iWARP device */
    public KernelProvider(List<String> names, KernelLimits limits) {
        this.names = List.copyOf(names);
        this.limits = limits;
    }

    @Override
    public String name() {
        return NAME;
    }

    /** @throws KernelVerbsUnavailableException when the libraries or the device are missing */
    @Override
    public Device open() {
        Devices devices = Devices.get();
        try {
            List<String> wanted = names.isEmpty() ? List.copyOf(devices.byName().keySet()) : names;
            for (String name : wanted) {
                Long context = devices.byName().get(name);
                if (context != null) {
                    return open(name, context, devices);
                }
            }
            throw missing(devices);
        } catch (RuntimeException e) {
            devices.free();
            throw e;
        }
    }

    private Device open(String name, long context, Devices devices) {
        if (!OPEN.add(context)) {
            throw new IllegalStateException("the device " + name + " is open in this process already; close it first");
        }
        try {
            return new KernelDevice(limits, name, context, () -> {
                devices.free();
                OPEN.remove(context);
            });
        } catch (RuntimeException e) {
            OPEN.remove(context);
            throw e;
        }
    }

    private KernelVerbsUnavailableException missing(Devices devices) {
        String offered = devices.byName().isEmpty()
                ? "none"
                : String.join(", ", devices.byName().keySet());
        return new KernelVerbsUnavailableException(
                "there is no iWARP device" + (names.isEmpty() ? "" : " called " + String.join(" or ", names))
                        + ": the kernel offers " + offered
                        + ". Load the driver of the NIC, or make a soft one (rdma link add siw0 type siw netdev INTERFACE); a"
                        + " container also needs its /dev/infiniband/uverbsN and /dev/infiniband/rdma_cm",
                null);
    }

    @Override
    public void close() {
        // Devices own everything.
    }

    /**
     * iWARP devices that can be opened.
     *
     * @param list the library's list, which keeps the contexts open until it is freed; 0 if there is none
     * @param byName contexts by the device's name
     */
    private record Devices(long list, Map<String, Long> byName) {

        static Devices get() {
            // Loads the library here, where a failure is an exception. In the initialization of a class it would be an
            // error.
            NativeLibrary library = Native.library(CmChannel.LIBRARY);
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment count = arena.allocate(INT);
                long list = library.callForPointer("rdma_get_devices", count);
                Map<String, Long> found = new LinkedHashMap<>();
                for (int i = 0; list > 0 && i < count.get(INT, 0); i++) {
                    long context = Native.getLong(list + (long) i * Long.BYTES);
                    long device = Native.getLong(context + VerbsLayout.CONTEXT_DEVICE);
                    if (Native.getInt(device + VerbsLayout.DEVICE_TRANSPORT) == VerbsLayout.TRANSPORT_IWARP) {
                        long name = device + VerbsLayout.DEVICE_NAME;
                        found.put(Native.getString(name, VerbsLayout.DEVICE_NAME_LENGTH), context);
                    }
                }
                return new Devices(Math.max(0, list), found);
            }
        }

        void free() {
            if (list != 0) {
                CmChannel.CM.run("rdma_free_devices", list);
            }
        }
    }
}
