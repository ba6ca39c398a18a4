// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.device;

import java.util.List;
import java.util.Optional;

/** Inventory of the node's present devices. */
public interface DeviceInventory {

    /**
     * Returns all devices, including those that are not healthy. Empty until discovery has run. The plugin does not
     * register before that: a kubelet that is told of no devices removes them from the node's capacity.
     */
    Optional<List<RnicDevice>> devices();

    /**
     * Calls a listener after each change, on the thread that made the change.
     *
     * @return handle that removes the listener
     */
    Subscription onChange(Runnable listener);

    /** Registration of a listener; closing it removes the listener. */
    interface Subscription extends AutoCloseable {
        @Override
        void close();
    }
}
