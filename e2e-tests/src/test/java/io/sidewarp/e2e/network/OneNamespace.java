// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.network;

import static org.assertj.core.api.Assumptions.assumeThat;

import io.sidewarp.e2e.support.Tools;
import io.sidewarp.operator.testing.TestResource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A network namespace with one interface and one address, for programs that refuse loopback addresses. Needs root. No
 * packet leaves the namespace.
 */
public final class OneNamespace implements AutoCloseable {

    /** Address of the interface. */
    public static final String ADDRESS = "192.0.2.10";

    private final String name = "swv" + ProcessHandle.current().pid();
    private final TestResource remains = TestResource.of(this::remove);

    private OneNamespace() {}

    /** Makes the namespace. Skips the test where that is not permitted. */
    public static OneNamespace open() {
        Tools.need("ip", "iproute2");
        assumeThat(TestNetwork.isPermitted()).as("network namespaces take root").isTrue();
        OneNamespace namespace = new OneNamespace();
        try {
            namespace.make();
            return namespace;
        } catch (RuntimeException | Error e) {
            namespace.close();
            throw e;
        }
    }

    private void make() {
        // Removes the namespace of a killed JVM that had the same process ID.
        remove();
        TestNetwork.ip("netns", "add", name);
        TestNetwork.ip("-n", name, "link", "add", "eth0", "type", "veth", "peer", "name", "eth1");
        for (String link : List.of("lo", "eth0", "eth1")) {
            TestNetwork.ip("-n", name, "link", "set", link, "up");
        }
        TestNetwork.ip("-n", name, "addr", "add", ADDRESS + "/24", "dev", "eth0");
    }

    private void remove() {
        if (Files.exists(Path.of("/var/run/netns", name))) {
            TestNetwork.ip("netns", "del", name);
        }
    }

    /** Returns the prefix of commands that must run in this namespace. */
    public List<String> prefix() {
        return List.of("ip", "netns", "exec", name);
    }

    @Override
    public void close() {
        remains.close();
    }
}
