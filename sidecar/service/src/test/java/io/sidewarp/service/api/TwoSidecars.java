// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Two sidecars with a session at each: the client's at the left sidecar, the server's at the right sidecar. */
abstract class TwoSidecars {

    TestSidecar left;
    TestSidecar right;
    TestSession client;
    TestSession server;

    /** Starts the client's, with the settings that the test needs. */
    TestSidecar startLeft() {
        return TestSidecar.start();
    }

    /** Starts the server's. */
    TestSidecar startRight() {
        return TestSidecar.start();
    }

    @BeforeEach
    void startSidecars() {
        left = startLeft();
        right = startRight();
        client = left.session("client");
        server = right.session("server");
    }

    @AfterEach
    void stopSidecars() {
        client.close();
        server.close();
        left.close();
        right.close();
    }
}
