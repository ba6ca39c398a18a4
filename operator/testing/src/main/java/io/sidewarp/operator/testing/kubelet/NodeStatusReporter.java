// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing.kubelet;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeStatusBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Writes capacity and allocatable into the status of an existing node. Retries until the write succeeds. */
final class NodeStatusReporter implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(NodeStatusReporter.class.getName());
    private static final long RETRY_MILLIS = 500;

    private final KubernetesClient client;
    private final String node;
    private final Supplier<Map<String, ManagedResource>> resources;
    private final ScheduledExecutorService worker = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("node-status").factory(), new ThreadPoolExecutor.DiscardPolicy());

    NodeStatusReporter(KubernetesClient client, String node, Supplier<Map<String, ManagedResource>> resources) {
        this.client = client;
        this.node = node;
        this.resources = resources;
    }

    void report() {
        worker.execute(this::write);
    }

    private void write() {
        try {
            client.nodes().withName(node).editStatus(this::withResources);
        } catch (KubernetesClientException e) {
            LOG.log(System.Logger.Level.DEBUG, "cannot write the status of node " + node + "; trying again", e);
            worker.schedule(this::write, RETRY_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    private Node withResources(Node current) {
        NodeStatusBuilder status =
                current.getStatus() == null ? new NodeStatusBuilder() : new NodeStatusBuilder(current.getStatus());
        resources
                .get()
                .forEach((name, resource) -> status.addToCapacity(
                                name, quantity(resource.devices().size()))
                        .addToAllocatable(name, quantity(resource.healthy().size())));
        return new NodeBuilder(current).withStatus(status.build()).build();
    }

    private static Quantity quantity(int devices) {
        return new Quantity(Integer.toString(devices));
    }

    @Override
    public void close() {
        worker.shutdownNow();
    }
}
