// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.operator.agent.host.RecordedHost;
import io.sidewarp.operator.api.v1alpha1.NodePolicy;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;

/** Applies policies to a recorded node. */
abstract class ProvisionerFixture {
    static final PciAddress IWARP_PORT = new PciAddress("0000:18:00.1");

    @TempDir
    Path directory;

    final Map<PciAddress, List<String>> users = new HashMap<>();

    RecordedHost host(String name) {
        return RecordedHost.of(name, directory.resolve("sys"));
    }

    static NodePolicy policy(PciAddress nic, Integer virtualFunctions, Integer mtu, Boolean iwarp) {
        return TestPolicies.policy("fast", TestPolicies.address(nic.value()), virtualFunctions, mtu, iwarp);
    }

    /** Applies policies as a new agent, which knows only what it finds in the node and in its directory. */
    List<ProvisioningResult> apply(RecordedHost host, NodePolicy... policies) throws IOException {
        OriginalValues originals = OriginalValues.open(directory.resolve("state"), host.bootId());
        return new NicProvisioner(host, function -> users.getOrDefault(function, List.of()), originals)
                .apply(new NicDiscovery(host).discover(), List.of(policies));
    }

    static ProvisioningResult only(List<ProvisioningResult> results) {
        assertThat(results).hasSize(1);
        return results.getFirst();
    }
}
