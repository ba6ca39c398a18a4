// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.deviceplugin;

import io.sidewarp.operator.agent.device.DeviceInventory;
import io.sidewarp.operator.kubelet.UnixServer;
import io.sidewarp.operator.kubelet.UnixTransport;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Serves the plugin on its socket, and reports changes of the inventory. */
final class PluginServer implements AutoCloseable {

    private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(2);

    private final DevicePluginService service;
    private final UnixServer server;
    private final DeviceInventory.Subscription subscription;

    PluginServer(UnixTransport transport, Path socket, DeviceInventory inventory) throws IOException {
        service = new DevicePluginService(inventory);
        server = UnixServer.start(transport, socket, List.of(service));
        subscription = inventory.onChange(service::update);
    }

    /** Returns whether the path of the socket still leads to this server. */
    boolean holdsSocket() {
        return server.holdsSocket();
    }

    /** Returns whether a kubelet watches the devices. */
    boolean watched() {
        return service.watched();
    }

    /** Completes all streams, and removes the socket. */
    @Override
    public void close() {
        subscription.close();
        service.complete();
        server.close(CLOSE_PATIENCE);
    }
}
