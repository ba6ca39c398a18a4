// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import io.sidewarp.operator.agent.device.PublishedDevices;
import io.sidewarp.operator.agent.deviceplugin.TestConfig;
import io.sidewarp.operator.agent.dra.DraTestConfig;
import io.sidewarp.operator.agent.host.Errno;
import io.sidewarp.operator.agent.host.Host;
import io.sidewarp.operator.agent.host.RecordedHost;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeSpec;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeStatus;
import io.sidewarp.operator.api.v1alpha1.ProviderKind;
import io.sidewarp.operator.api.v1alpha1.ProvisioningState;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.testing.CustomResourceDefinitions;
import io.sidewarp.operator.testing.DraDefinitions;
import io.sidewarp.operator.testing.EndedSpans;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.kubelet.PodName;
import io.sidewarp.operator.testing.kubelet.StandInKubelet;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.eclipse.microprofile.health.HealthCheckResponse.Status;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the agent of a node that has no NICs to offer. */
@RealApiServer
class NodeAgentTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String NODE = "traced";

    @TempDir
    private Path directory;

    @Test
    void eachLookIsASpanThatTellsWhatCameOfIt(KubernetesClient client) throws Exception {
        CustomResourceDefinitions.install(
                client,
                Objects.requireNonNull(
                        NodeAgentTest.class.getResource("/META-INF/fabric8/iwarpnodes.sidewarp.io-v1.yml")));
        client.resource(Serialization.unmarshal(
                        "---\n{apiVersion: sidewarp.io/v1alpha1, kind: IwarpNode, metadata: {name: " + NODE
                                + "}, spec: {policies: [], fallback: [Software], software: {devices: 2}}}",
                        IwarpNode.class))
                .create();
        EndedSpans spans = new EndedSpans();
        try (StandInKubelet kubelet = new StandInKubelet(directory.resolve("kubelet")).start();
                OpenTelemetrySdk telemetry = OpenTelemetrySdk.builder()
                        .setTracerProvider(SdkTracerProvider.builder()
                                .addSpanProcessor(SimpleSpanProcessor.create(spans))
                                .build())
                        .build()) {
            NodeAgent agent = new NodeAgent(
                    config(),
                    new TestConfig(kubelet),
                    new DraTestConfig(directory),
                    client,
                    new PublishedDevices(),
                    new SimpleMeterRegistry(),
                    telemetry);
            agent.start(new StartupEvent());
            try {
                await().atMost(LIMIT)
                        .untilAsserted(() -> assertThat(spans.ended()).anySatisfy(span -> {
                            assertThat(span.getName()).isEqualTo("look at node");
                            assertThat(span.getAttributes().asMap())
                                    .containsEntry(AttributeKey.stringKey("k8s.node.name"), NODE)
                                    .containsEntry(AttributeKey.longKey("k8s.resource.generation"), 1L)
                                    .containsEntry(AttributeKey.stringKey("sidewarp.provider"), "SOFTWARE")
                                    .containsEntry(AttributeKey.stringKey("sidewarp.outcome"), "done");
                        }));
            } finally {
                agent.stop(new ShutdownEvent());
            }
        } finally {
            client.resources(IwarpNode.class).withName(NODE).delete();
        }
    }

    @Test
    void tellsWhyTheNodeCannotBeLookedAtAndWhatWasFoundBefore(KubernetesClient client) throws Exception {
        CustomResourceDefinitions.install(
                client,
                Objects.requireNonNull(
                        NodeAgentTest.class.getResource("/META-INF/fabric8/iwarpnodes.sidewarp.io-v1.yml")));
        client.resource(Serialization.unmarshal(
                        "---\n{apiVersion: sidewarp.io/v1alpha1, kind: IwarpNode, metadata: {name: " + NODE
                                + "}, spec: {policies: [], fallback: [Software], software: {devices: 2}}}",
                        IwarpNode.class))
                .create();
        RecordedHost host = RecordedHost.of("intel-x722", directory.resolve("host"));
        try (StandInKubelet kubelet = new StandInKubelet(directory.resolve("kubelet")).start()) {
            NodeAgent agent =
                    new NodeAgent(
                            config(),
                            new TestConfig(kubelet),
                            new DraTestConfig(directory),
                            client,
                            new PublishedDevices(),
                            new SimpleMeterRegistry(),
                            OpenTelemetry.noop()) {
                        @Override
                        Host host() {
                            return host;
                        }
                    };
            agent.start(new StartupEvent());
            try {
                await().atMost(LIMIT)
                        .untilAsserted(() ->
                                assertThat(status(client).activeProvider()).isEqualTo(ProviderKind.SOFTWARE));
                assertThat(new AgentHealth().wellness(agent).call().getStatus()).isEqualTo(Status.UP);
                IwarpNodeStatus before = status(client);
                assertThat(Instant.parse(Objects.requireNonNull(before.lastReportTime())))
                        .isCloseTo(Instant.now(), within(5, ChronoUnit.MINUTES));

                host.withoutRdmaNetlink(Optional.of(Errno.EIO));
                client.resources(IwarpNode.class).withName(NODE).edit(node -> {
                    node.setSpec(Serialization.unmarshal("---\n{fallback: [], policies: []}", IwarpNodeSpec.class));
                    return node;
                });

                await().atMost(LIMIT)
                        .untilAsserted(() -> assertThat(status(client).conditions())
                                .filteredOn(StatusCondition::holds)
                                .singleElement()
                                .satisfies(condition -> {
                                    assertThat(condition.type()).isEqualTo(StatusCondition.DEGRADED);
                                    assertThat(condition.reason()).isEqualTo("LookFailed");
                                    assertThat(condition.message()).contains("reading RDMA devices", "EIO");
                                    assertThat(condition.observedGeneration()).isEqualTo(2);
                                }));
                assertThat(status(client).observedGeneration()).isEqualTo(2);
                assertThat(status(client).nodeState()).isEqualTo(ProvisioningState.FAILED);
                assertThat(status(client).nics()).isNotEmpty().isEqualTo(before.nics());
                assertThat(status(client).activeProvider()).isEqualTo(ProviderKind.SOFTWARE);
                assertThat(status(client).devices()).isEqualTo(2);
                await().atMost(LIMIT)
                        .untilAsserted(() -> assertThat(client.v1()
                                        .events()
                                        .inNamespace("default")
                                        .list()
                                        .getItems())
                                .anySatisfy(event -> {
                                    assertThat(event.getInvolvedObject().getName())
                                            .isEqualTo(NODE);
                                    assertThat(event.getReason()).isEqualTo("LookFailed");
                                    assertThat(event.getType()).isEqualTo("Warning");
                                }));
            } finally {
                agent.stop(new ShutdownEvent());
            }
        } finally {
            client.resources(IwarpNode.class).withName(NODE).delete();
        }
    }

    @Test
    void devicesChangeToClaimsOnceTheirPodsHaveEnded(KubernetesClient client) throws Exception {
        DraDefinitions.install(client, true);
        CustomResourceDefinitions.install(
                client,
                Objects.requireNonNull(
                        NodeAgentTest.class.getResource("/META-INF/fabric8/iwarpnodes.sidewarp.io-v1.yml")));
        client.resource(Serialization.unmarshal(
                        "---\n{apiVersion: sidewarp.io/v1alpha1, kind: IwarpNode, metadata: {name: " + NODE
                                + "}, spec: {policies: [], fallback: [Software], software: {devices: 3}}}",
                        IwarpNode.class))
                .create();
        RecordedHost host = RecordedHost.of("intel-x722", directory.resolve("host"));
        PodName pod = new PodName("shop", "cart-0");
        try (StandInKubelet kubelet = new StandInKubelet(directory.resolve("kubelet")).start()) {
            NodeAgent agent =
                    new NodeAgent(
                            config(),
                            new TestConfig(kubelet),
                            new DraTestConfig(directory),
                            client,
                            new PublishedDevices(),
                            new SimpleMeterRegistry(),
                            OpenTelemetry.noop()) {
                        @Override
                        Host host() {
                            return host;
                        }
                    };
            agent.start(new StartupEvent());
            try {
                await().atMost(LIMIT).until(() -> kubelet.allocatable("sidewarp.io/rnic") == 3);
                kubelet.allocate(pod, "sidewarp", "sidewarp.io/rnic", 1);
                assertThat(kubelet.claims().isRegistered("rnic.sidewarp.io")).isFalse();

                offerClaims(client, true);

                await().atMost(LIMIT).untilAsserted(() -> {
                    assertThat(offered(client)).isEqualTo(2);
                    assertThat(status(client).nodeState()).isEqualTo(ProvisioningState.WAITING);
                    assertThat(status(client).conditions())
                            .filteredOn(StatusCondition::holds)
                            .singleElement()
                            .satisfies(condition -> {
                                assertThat(condition.reason()).isEqualTo("WaitingForPods");
                                assertThat(condition.message()).contains("shop/cart-0");
                            });
                });
                assertThat(kubelet.allocatable("sidewarp.io/rnic")).isZero();
                assertThat(kubelet.capacity("sidewarp.io/rnic")).isEqualTo(1);

                kubelet.release(pod);
                await().atMost(LIMIT).untilAsserted(() -> {
                    assertThat(offered(client)).isEqualTo(3);
                    assertThat(status(client).nodeState()).isEqualTo(ProvisioningState.DONE);
                });
                assertThat(kubelet.capacity("sidewarp.io/rnic")).isZero();
                assertThat(status(client).devices()).isEqualTo(3);

                offerClaims(client, false);
                await().atMost(LIMIT).untilAsserted(() -> {
                    assertThat(kubelet.allocatable("sidewarp.io/rnic")).isEqualTo(3);
                    assertThat(slices(client)).isEmpty();
                    assertThat(kubelet.claims().isRegistered("rnic.sidewarp.io"))
                            .isFalse();
                });
            } finally {
                agent.stop(new ShutdownEvent());
            }
        } finally {
            client.resources(IwarpNode.class).withName(NODE).delete();
            slices(client).forEach(slice -> client.resource(slice).delete());
        }
    }

    private static void offerClaims(KubernetesClient client, boolean claims) {
        client.resources(IwarpNode.class)
                .withName(NODE)
                .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"resourceClaims\":" + claims + "}}");
    }

    private static List<ResourceSlice> slices(KubernetesClient client) {
        return client.resources(ResourceSlice.class).list().getItems().stream()
                .filter(slice -> NODE.equals(slice.getSpec().getNodeName()))
                .toList();
    }

    /** Returns the number of devices that claims can have, each by itself or as a share. */
    private static int offered(KubernetesClient client) {
        return slices(client).stream()
                .flatMap(slice -> slice.getSpec().getDevices().stream())
                .mapToInt(device -> Boolean.TRUE.equals(device.getAllowMultipleAllocations())
                        ? device.getCapacity()
                                .get("shares")
                                .getValue()
                                .getNumericalAmount()
                                .intValue()
                        : 1)
                .sum();
    }

    private static IwarpNodeStatus status(KubernetesClient client) {
        IwarpNodeStatus status =
                client.resources(IwarpNode.class).withName(NODE).get().getStatus();
        assertThat(status).isNotNull();
        return status;
    }

    @ParameterizedTest
    @CsvSource({
        // last report, is another report due
        ", true",
        "not a time, true",
        "2026-01-01T00:05:01Z, false",
        "2026-01-01T00:05:00Z, true",
        "2026-01-01T00:14:59Z, false",
        "2026-01-01T00:15:00Z, true",
    })
    void reportsAnUnchangedStatusEveryFiveMinutes(@Nullable String last, boolean isDue) {
        IwarpNodeStatus status = Serialization.unmarshal("---\n{agentVersion: test}", IwarpNodeStatus.class);
        Instant now = Instant.parse("2026-01-01T00:10:00Z");

        assertThat(NodeAgent.isDue(status, status.reportedAt(last), now)).isEqualTo(isDue);
        IwarpNodeStatus other = Serialization.unmarshal("---\n{agentVersion: other}", IwarpNodeStatus.class);
        assertThat(NodeAgent.isDue(status, other.reportedAt(last), now)).isTrue();
    }

    @Test
    void isNotLiveWhenItCannotLookAtTheNodeAnyMore(KubernetesClient client) throws Exception {
        // Creates a file at the path of the state directory.
        Files.createFile(directory.resolve("state"));
        try (StandInKubelet kubelet = new StandInKubelet(directory.resolve("kubelet")).start()) {
            NodeAgent agent = new NodeAgent(
                    config(),
                    new TestConfig(kubelet),
                    new DraTestConfig(directory),
                    client,
                    new PublishedDevices(),
                    new SimpleMeterRegistry(),
                    OpenTelemetry.noop());
            assertThat(new AgentHealth().liveness(agent).call().getStatus()).isEqualTo(Status.UP);
            assertThat(new AgentHealth().wellness(agent).call().getStatus()).isEqualTo(Status.DOWN);
            agent.start(new StartupEvent());
            try {
                await().atMost(LIMIT)
                        .untilAsserted(() -> assertThat(
                                        new AgentHealth().liveness(agent).call().getStatus())
                                .isEqualTo(Status.DOWN));
                assertThat(new AgentHealth().readiness(agent).call().getStatus())
                        .isEqualTo(Status.DOWN);
            } finally {
                agent.stop(new ShutdownEvent());
            }
        }
    }

    private AgentConfig config() {
        return new SmallRyeConfigBuilder()
                .addDiscoveredConverters()
                .withMapping(AgentConfig.class)
                .withDefaultValues(Map.of(
                        "quarkus.application.version",
                        "test",
                        "sidewarp.agent.node-name",
                        NODE,
                        "sidewarp.agent.state-directory",
                        directory.resolve("state").toString(),
                        // Not that of an agent of this machine.
                        "sidewarp.agent.siw-prefix",
                        "test-none-"))
                .build()
                .getConfigMapping(AgentConfig.class);
    }
}
