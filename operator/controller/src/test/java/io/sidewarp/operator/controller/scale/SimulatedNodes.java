// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.scale;

import io.fabric8.kubernetes.api.model.ContainerImage;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeStatus;
import io.sidewarp.operator.api.v1alpha1.LinkState;
import io.sidewarp.operator.api.v1alpha1.NicStatus;
import io.sidewarp.operator.api.v1alpha1.ProviderCounts;
import io.sidewarp.operator.api.v1alpha1.ProviderKind;
import io.sidewarp.operator.api.v1alpha1.ProvisioningState;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.api.v1alpha1.VirtualFunctionStatus;
import io.sidewarp.operator.testing.KubeApiServer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * Nodes of a cluster, and their agents. Each agent answers a change of its IwarpNode with two statuses: one while it
 * works and one when it is done.
 */
final class SimulatedNodes implements AutoCloseable {
    static final int RACKS = 10;

    private static final int THREADS = 8;
    private static final int NICS = 2;
    private static final int FUNCTIONS = 4;
    /** Maximum that a kubelet reports. */
    private static final int IMAGES = 50;

    private static final PatchContext APPLY = new PatchContext.Builder()
            .withPatchType(PatchType.SERVER_SIDE_APPLY)
            .withFieldManager("sidewarp-node-agent")
            .withForce(true)
            .build();

    /** An API server with much to do may take long. */
    private static final int REQUEST_MILLIS = 60_000;

    private final KubernetesClient client;
    private final int count;
    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    private final AtomicInteger statuses = new AtomicInteger();
    private final SharedIndexInformer<IwarpNode> informer;

    SimulatedNodes(KubeApiServer server, int count) {
        client = new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(
                                Config.fromKubeconfig(server.kubeconfig().toFile()))
                        .withRequestTimeout(REQUEST_MILLIS)
                        .build())
                .build();
        this.count = count;
        informer = client.resources(IwarpNode.class).inform(new ResourceEventHandler<>() {
            @Override
            public void onAdd(IwarpNode node) {
                answer(node);
            }

            @Override
            public void onUpdate(IwarpNode former, IwarpNode node) {
                if (!node.getMetadata()
                        .getGeneration()
                        .equals(former.getMetadata().getGeneration())) {
                    answer(node);
                }
            }

            @Override
            public void onDelete(IwarpNode node, boolean finalStateUnknown) {
                // The agent of the node is gone too.
            }
        });
    }

    /** Returns a client that lives as long as the nodes. */
    KubernetesClient client() {
        return client;
    }

    private static String name(int index) {
        return "scale-%04d".formatted(index);
    }

    /** Nodes are spread over so many. */
    static String rack(int index) {
        return "r" + index % RACKS;
    }

    /** The nodes join. */
    void create() {
        forEach(index -> {
            Node node = new NodeBuilder()
                    .withNewMetadata()
                    .withName(name(index))
                    .addToLabels("rack", rack(index))
                    .endMetadata()
                    .build();
            Node created = client.nodes().resource(node).create();
            heartbeat(created);
        });
    }

    /** All kubelets report once, as they do each few minutes when nothing has happened. */
    void heartbeats() {
        forEach(index -> heartbeat(client.nodes().withName(name(index)).get()));
    }

    private void heartbeat(Node node) {
        List<ContainerImage> images = IntStream.range(0, IMAGES)
                .mapToObj(image -> new ContainerImage(
                        List.of(
                                "registry.example.com/team/application-" + image + "@sha256:"
                                        + "0123456789abcdef".repeat(4),
                                "registry.example.com/team/application-" + image + ":1." + image + ".0"),
                        100_000_000L + image))
                .toList();
        client.nodes()
                .resource(new NodeBuilder(node)
                        .editOrNewStatus()
                        .withImages(images)
                        .addNewCondition()
                        .withType("Heartbeat")
                        .withStatus("True")
                        .withMessage(Long.toString(System.nanoTime()))
                        .endCondition()
                        .endStatus()
                        .build())
                .updateStatus();
    }

    /** Returns the number of nodes that have reported the latest change as done. */
    long done() {
        return informer.getStore().list().stream()
                .filter(node -> node.getStatus() != null
                        && Objects.equals(
                                node.getStatus().observedGeneration(),
                                node.getMetadata().getGeneration())
                        && node.getStatus().conditions().stream()
                                .anyMatch(condition ->
                                        condition.type().equals(StatusCondition.READY) && condition.holds()))
                .count();
    }

    /** Statuses that the agents have written. */
    int statuses() {
        return statuses.get();
    }

    private void answer(IwarpNode node) {
        threads.execute(() -> {
            report(node, ProvisioningState.WAITING, StatusCondition.PROGRESSING, "WaitingForPods");
            report(node, ProvisioningState.DONE, StatusCondition.READY, "HardwareOffered");
        });
    }

    private void report(IwarpNode node, ProvisioningState state, String type, String reason) {
        List<StatusCondition> former =
                node.getStatus() == null ? List.of() : node.getStatus().conditions();
        IwarpNode reported = new IwarpNode();
        reported.setMetadata(
                new ObjectMetaBuilder().withName(node.getMetadata().getName()).build());
        String policy = node.getSpec().policies().isEmpty()
                ? null
                : node.getSpec().policies().getFirst().name();
        reported.setStatus(new IwarpNodeStatus(
                node.getMetadata().getGeneration(),
                "test",
                "6.1.0",
                IntStream.range(0, NICS)
                        .mapToObj(nic -> nic(nic, policy, state))
                        .toList(),
                new ProviderCounts(NICS * FUNCTIONS, 0, 256),
                ProviderKind.HARDWARE,
                NICS * FUNCTIONS,
                ProvisioningState.DONE,
                StatusCondition.of(
                        former,
                        new StatusCondition.State(type, reason, "simulated"),
                        node.getMetadata().getGeneration()),
                null,
                List.of()));
        client.resource(reported).subresource("status").patch(APPLY);
        statuses.incrementAndGet();
    }

    private static NicStatus nic(int index, String policy, ProvisioningState state) {
        List<VirtualFunctionStatus> functions = IntStream.range(0, FUNCTIONS)
                .mapToObj(function -> new VirtualFunctionStatus(
                        function,
                        "0000:18:1%d.%d".formatted(index, function),
                        "ens%dv%d".formatted(index, function),
                        "iavf",
                        "iwp%d%d".formatted(index, function),
                        null))
                .toList();
        return new NicStatus(
                "ens" + index,
                "0000:18:00." + index,
                "8086",
                "1592",
                "ice",
                "4.40 0x8001c967 1.3534.0",
                "iwp" + index,
                "RNIC",
                true,
                LinkState.UP,
                100_000,
                9000,
                0,
                128,
                functions,
                policy,
                state,
                null);
    }

    private void forEach(IntConsumer action) {
        parallel(count, action);
    }

    /** Has {@code action} done so many times, by several threads, and returns when all is done. */
    void parallel(int times, IntConsumer action) {
        try (ExecutorService workers = Executors.newFixedThreadPool(THREADS)) {
            List<Future<?>> all = IntStream.range(0, times)
                    .<Future<?>>mapToObj(index -> workers.submit(() -> action.accept(index)))
                    .toList();
            for (Future<?> each : all) {
                each.get();
            }
        } catch (ExecutionException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        informer.close();
        threads.shutdownNow();
        client.resources(IwarpNicPolicy.class).list().getItems().forEach(policy -> {
            policy.getMetadata().setFinalizers(List.of());
            client.resource(policy).update();
            client.resource(policy).delete();
        });
        client.resources(IwarpNode.class).delete();
        client.nodes().delete();
        client.close();
    }
}
