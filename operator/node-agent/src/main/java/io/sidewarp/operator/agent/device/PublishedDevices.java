// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.device;

import jakarta.enterprise.context.ApplicationScoped;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

/** Inventory to which discovery publishes the devices of the node. */
@ApplicationScoped
public class PublishedDevices implements DeviceInventory {

    private final CopyOnWriteArrayList<Runnable> listeners = new CopyOnWriteArrayList<>();
    private volatile Optional<List<RnicDevice>> devices = Optional.empty();

    /**
     * Replaces all devices.
     *
     * @throws IllegalArgumentException if two devices have the same id
     */
    public void publish(List<RnicDevice> devices) {
        Set<String> ids = new HashSet<>();
        for (RnicDevice device : devices) {
            if (!ids.add(device.id())) {
                throw new IllegalArgumentException("two devices have the id " + device.id());
            }
        }
        List<RnicDevice> published = List.copyOf(devices);
        if (!this.devices.equals(Optional.of(published))) {
            this.devices = Optional.of(published);
            listeners.forEach(Runnable::run);
        }
    }

    @Override
    public Optional<List<RnicDevice>> devices() {
        return devices;
    }

    @Override
    public Subscription onChange(Runnable listener) {
        listeners.add(listener);
        return () -> listeners.remove(listener);
    }
}
