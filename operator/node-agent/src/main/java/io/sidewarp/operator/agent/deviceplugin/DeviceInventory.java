// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.deviceplugin;

import java.util.List;
import java.util.Optional;

/** The devices of the node as they are now. */
public interface DeviceInventory {

    /**
     * All devices, also those that are not healthy. Empty until they were looked for: until then, the plugin does not
     * register, since a kubelet that is told of no devices takes them from the node's capacity.
     */
    Optional<List<RnicDevice>> devices();

    /**
     * Calls a listener after each change, on the thread that made it.
     *
     * @return ends that
     */
    Subscription onChange(Runnable listener);

    /** A listener that can be taken away. */
    interface Subscription extends AutoCloseable {
        @Override
        void close();
    }
}
