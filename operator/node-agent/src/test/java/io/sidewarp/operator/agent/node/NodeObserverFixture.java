// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import io.fabric8.kubernetes.client.utils.Serialization;
import io.sidewarp.operator.agent.device.PluginStatus;
import io.sidewarp.operator.agent.device.PublishedDevices;
import io.sidewarp.operator.agent.deviceplugin.DevicesInUse;
import io.sidewarp.operator.agent.deviceplugin.TestConfig;
import io.sidewarp.operator.agent.host.RecordedHost;
import io.sidewarp.operator.agent.nic.NicDiscovery;
import io.sidewarp.operator.agent.nic.NicProvisioner;
import io.sidewarp.operator.agent.nic.OriginalValues;
import io.sidewarp.operator.agent.nic.VirtualFunctionUse;
import io.sidewarp.operator.agent.siw.SiwLinks;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeSpec;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.testing.kubelet.StandInKubelet;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A recorded node with a stand-in kubelet. */
abstract class NodeObserverFixture {
    static final Duration LONG_ENOUGH = Duration.ofSeconds(20);
    static final Duration PATIENCE = Duration.ofSeconds(15);
    /** By a clock whose times have no meaning. */
    static final Duration NOW = Duration.ofDays(-1);

    static final PluginStatus REGISTERED = new PluginStatus(PluginStatus.State.REGISTERED, "");

    @TempDir
    Path directory;

    final PublishedDevices devices = new PublishedDevices();
    /** Pods that have ended, as namespace/name. */
    final Set<String> ended = new HashSet<>();

    StandInKubelet kubelet;
    private DevicesInUse inUse;

    @BeforeEach
    void start() throws IOException {
        kubelet = new StandInKubelet(directory.resolve("kubelet")).start();
        inUse = new DevicesInUse(new TestConfig(kubelet));
    }

    @AfterEach
    void stop() {
        inUse.close();
        kubelet.close();
    }

    static VirtualFunctionUse none() {
        return function -> List.of();
    }

    RecordedHost host(String name) {
        return RecordedHost.of(name, directory.resolve("host"));
    }

    NodeObserver looker(RecordedHost host, VirtualFunctionUse use) throws IOException {
        return new NodeObserver(
                new NicProvisioner(host, use, OriginalValues.open(directory.resolve("state"), host.bootId())),
                new NicDiscovery(host),
                new SiwLinks(host, SiwLinks.DEFAULT_PREFIX),
                inUse,
                new AwaitedRdma(PATIENCE),
                ended::contains);
    }

    static IwarpNodeSpec spec(String yaml) {
        return Serialization.unmarshal("---\n{" + yaml + "}", IwarpNodeSpec.class);
    }

    static String holding(NodeObservation look, PluginStatus plugin) {
        StatusCondition.State state = look.state(plugin);
        return state.type() + " " + state.reason();
    }
}
