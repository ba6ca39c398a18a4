// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A client with a session of a {@link FakeSidecar}, over a real Unix socket. */
abstract class FakeSidecarTest {

    @TempDir
    Path directory;

    FakeSidecar sidecar;
    SidewarpClient client;
    Session session;

    @BeforeEach
    void start() throws IOException {
        sidecar = new FakeSidecar(directory);
        client = sidecar.client();
        session = client.openSession("test");
    }

    @AfterEach
    void stop() {
        client.close();
        sidecar.close();
    }
}
