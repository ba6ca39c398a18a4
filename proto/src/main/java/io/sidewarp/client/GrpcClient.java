// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.v1.DeviceInfo;
import io.sidewarp.v1.SessionInfo;
import java.time.Duration;
import java.util.List;

/** The client over gRPC. */
final class GrpcClient implements SidewarpClient {

    private final ClientOptions options;

    GrpcClient(ClientOptions options) {
        this.options = options;
    }

    @Override
    public String target() {
        return options.target();
    }

    @Override
    public DeviceInfo device() {
        throw new UnsupportedOperationException();
    }

    @Override
    public List<SessionInfo> listSessions() {
        throw new UnsupportedOperationException();
    }

    @Override
    public List<io.sidewarp.v1.Connection> listConnections() {
        throw new UnsupportedOperationException();
    }

    @Override
    public List<io.sidewarp.v1.Region> listRegions() {
        throw new UnsupportedOperationException();
    }

    @Override
    public Session openSession(String name) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void awaitReady(Duration timeout) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
}
