// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.scale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.controller.ControllerProcess;
import io.sidewarp.operator.controller.OwnDefinitions;
import io.sidewarp.operator.controller.Yaml;
import io.sidewarp.operator.testing.KubeApiServer;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Tests the packaged controller in a cluster of many nodes, with a real API server and simulated agents. The system
 * properties {@code scale.nodes} and {@code scale.pods} set the size. The default size is small enough for a test
 * suite. Prints figures. The assertions do not depend on the speed of the machine.
 */
@RealApiServer
class ScaleIT {
    private static final int POLICIES = SimulatedNodes.RACKS;
    private static final int NODES = Math.max(Integer.getInteger("scale.nodes", 60), POLICIES);
    private static final int PODS = Integer.getInteger("scale.pods", 200);
    private static final int ROUNDS = 3;
    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final Duration POLL = Duration.ofMillis(250);
    /** The default of {@code sidewarp.operator.policy-status-interval}. */
    private static final double STATUS_INTERVAL_SECONDS = 2;

    /** Numbers of objects that the controller has written: IwarpNodes, statuses of policies, and events. */
    private record Writes(long nodes, long policies, long events) {
        Writes minus(Writes former) {
            return new Writes(nodes - former.nodes, policies - former.policies, events - former.events);
        }
    }

    /** Measurements of the controller in one part of the test. */
    private record Round(
            String name, double seconds, int longestQueue, int reconciliations, int reports, Writes writes) {
        @Override
        public String toString() {
            return "%-24s %6.1f s, longest queue %4d, reconciliations %5d, reports of agents %5d, written: nodes %4d, policies %3d, events %3d"
                    .formatted(
                            name,
                            seconds,
                            longestQueue,
                            reconciliations,
                            reports,
                            writes.nodes,
                            writes.policies,
                            writes.events);
        }
    }

    private static KubeApiServer server;
    private static String namespace;
    private static String applications;
    private static ControllerProcess controller;
    private static SimulatedNodes nodes;

    @BeforeAll
    static void start(KubeApiServer shared, TestNamespaces namespaces) throws IOException {
        server = shared;
        namespace = namespaces.create();
        applications = namespaces.create(Map.of("sidewarp.io/inject", "enabled"));
        OwnDefinitions.install(server.client());
        controller = ControllerProcess.start(server, namespace, Map.of());
        nodes = new SimulatedNodes(server, NODES);
    }

    @AfterAll
    static void stop() {
        if (controller != null) {
            controller.close();
            ControllerProcess.unregisterWebhook(server.client());
        }
        if (nodes != null) {
            nodes.close();
        }
    }

    @Test
    void workIsThatOfWhatHasChangedAndIsDone() throws Exception {
        System.out.printf("%d nodes, %d policies, %d pods%n", NODES, POLICIES, PODS);
        round("nodes join", nodes::create);
        round("policies are made", ScaleIT::makePolicies);
        List<Round> changes = new ArrayList<>();
        for (int i = 1; i <= ROUNDS; i++) {
            int mtu = 1500 + i;
            changes.add(round("all policies change", () -> changePolicies(mtu)));
        }
        Round idle = round("kubelets report", nodes::heartbeats);
        long memory = controller.mostResidentMebibytes();
        Writes restart = restart();
        createPods();
        System.out.printf(
                "memory: most resident %d MiB, after the restart and with the pods %d MiB, of %d MiB%n",
                memory, controller.mostResidentMebibytes(), ControllerProcess.MEMORY_LIMIT_MEBIBYTES);

        for (Round round : changes) {
            // Each is there at most once.
            assertThat(round.longestQueue()).as("queue of %s", round).isLessThanOrEqualTo(NODES + POLICIES);
            // A node may be written a second time, before it is known that the first was enough.
            assertThat(round.writes().nodes()).as("nodes of %s", round).isBetween((long) NODES, 2L * NODES);
            assertThat((double) round.writes().policies())
                    .as("policies of %s", round)
                    .isLessThanOrEqualTo(POLICIES * (2 + round.seconds() / STATUS_INTERVAL_SECONDS));
            // Progressing, and then Ready; one of them again where the controller's cache still has the status before.
            assertThat(round.writes().events()).as("events of %s", round).isLessThanOrEqualTo(3L * POLICIES);
            // A node is reconciled for its policy and for its own write. A policy is reconciled for its own write, for
            // reports of agents, for each other policy, and at the end of each wait.
            assertThat(round.reconciliations())
                    .as("reconciliations of %s", round)
                    .isLessThanOrEqualTo((int) (3 * NODES
                            + round.reports()
                            + POLICIES * (3 + POLICIES + round.seconds() / STATUS_INTERVAL_SECONDS)));
        }
        assertThat(idle.writes()).as("when nothing has changed").isEqualTo(new Writes(0, 0, 0));
        assertThat(idle.reconciliations()).as("when nothing has changed").isZero();
        assertThat(restart).as("when nothing has changed").isEqualTo(new Writes(0, 0, 0));
        assertThat(Math.max(memory, controller.mostResidentMebibytes()))
                .isLessThan(ControllerProcess.MEMORY_LIMIT_MEBIBYTES);
    }

    private static Round round(String name, Runnable action) throws Exception {
        Writes writes = writes();
        int reconciliations = reconciliations();
        int reports = nodes.statuses();
        Instant begin = Instant.now();
        int[] longest = {0};
        Thread acting = Thread.ofPlatform().name("acting").start(action);
        await().atMost(LIMIT).pollInterval(POLL).until(() -> {
            int queue = queue();
            longest[0] = Math.max(longest[0], queue);
            return !acting.isAlive() && queue == 0 && isSettled();
        });
        acting.join();
        Round round = new Round(
                name,
                Duration.between(begin, Instant.now()).toMillis() / 1000.0,
                longest[0],
                reconciliations() - reconciliations,
                nodes.statuses() - reports,
                writes().minus(writes));
        System.out.println(round);
        return round;
    }

    /** Another controller takes over; what it writes until it has looked at everything. */
    private static Writes restart() throws Exception {
        controller.close();
        Writes before = writes();
        Instant begin = Instant.now();
        controller = ControllerProcess.start(server, namespace, Map.of());
        await().atMost(LIMIT).pollInterval(POLL).until(() -> reconciliations() >= NODES + POLICIES && queue() == 0);
        Writes writes = writes().minus(before);
        System.out.printf(
                "the controller restarts  %6.1f s, %s%n",
                Duration.between(begin, Instant.now()).toMillis() / 1000.0, writes);
        return writes;
    }

    private static void makePolicies() {
        IntStream.range(0, POLICIES)
                .mapToObj(SimulatedNodes::rack)
                .map(rack -> Yaml.parse(
                        "{apiVersion: sidewarp.io/v1alpha1, kind: IwarpNicPolicy, metadata: {name: scale-" + rack
                                + "}, spec: {nodeSelector: {rack: " + rack
                                + "}, nicSelector: {vendors: ['8086']}, virtualFunctions: 4, mtu: 1500}}",
                        IwarpNicPolicy.class))
                .forEach(policy -> nodes.client().resource(policy).create());
    }

    private static void changePolicies(int mtu) {
        IntStream.range(0, POLICIES)
                .mapToObj(SimulatedNodes::rack)
                .forEach(rack -> nodes.client()
                        .resources(IwarpNicPolicy.class)
                        .withName("scale-" + rack)
                        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"mtu\":" + mtu + "}}"));
    }

    /** Returns whether all agents have done their work, and all policies report it. */
    private static boolean isSettled() {
        return nodes.done() == NODES
                && nodes.client().resources(IwarpNicPolicy.class).list().getItems().stream()
                        .allMatch(policy -> policy.getStatus() != null
                                && policy.getMetadata()
                                        .getGeneration()
                                        .equals(policy.getStatus().observedGeneration())
                                && policy.getStatus().conditions().stream()
                                        .anyMatch(condition ->
                                                condition.type().equals(StatusCondition.READY) && condition.holds()));
    }

    /** Returns the number of entries in the queues of all reconcilers. */
    private static int queue() throws InterruptedException {
        return (int) controller.metric("reconciliations_queue", "");
    }

    private static int reconciliations() throws InterruptedException {
        return (int) controller.metric("reconciliations_started_total", "");
    }

    /** Requests by which nobody but the controller changes something. */
    private static Writes writes() {
        List<String> requests = Objects.requireNonNull(nodes.client().raw("/metrics"))
                .lines()
                .filter(line -> line.startsWith("apiserver_request_total{"))
                .toList();
        return new Writes(
                count(requests, "resource=\"iwarpnodes\"", "subresource=\"\",.*verb=\"(APPLY|PATCH|POST)\""),
                count(requests, "resource=\"iwarpnicpolicies\"", "subresource=\"status\""),
                count(requests, "resource=\"events\"", "verb=\"POST\""));
    }

    private static long count(List<String> requests, String resource, String what) {
        Predicate<String> matches = Pattern.compile(what).asPredicate();
        return requests.stream()
                .filter(line -> line.contains(resource) && matches.test(line))
                .mapToLong(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    /** Pods through the webhook. */
    private static void createPods() throws InterruptedException {
        KubernetesClient client = nodes.client();
        controller.registerWebhook(client, applications);
        double before = admissions();
        Instant begin = Instant.now();
        double[] milliseconds = new double[PODS];
        nodes.parallel(PODS, index -> {
            long called = System.nanoTime();
            client.pods()
                    .inNamespace(applications)
                    .resource(ControllerProcess.pod("pod-" + index))
                    .create();
            milliseconds[index] = (System.nanoTime() - called) / 1e6;
        });
        Arrays.sort(milliseconds);
        System.out.printf(
                "pods are created         %6.1f s, creation p50 %.1f ms, p99 %.1f ms; the webhook's part, mean %.2f ms%n",
                Duration.between(begin, Instant.now()).toMillis() / 1000.0,
                milliseconds[PODS / 2],
                milliseconds[PODS * 99 / 100],
                1000
                        * controller.metric("sidewarp_operator_admission_duration_seconds_sum", "")
                        / controller.metric("sidewarp_operator_admission_duration_seconds_count", ""));
        assertThat(admissions() - before).isEqualTo(PODS);
    }

    private static double admissions() throws InterruptedException {
        return controller.metric("sidewarp_operator_admissions_total", "\"injected\"");
    }
}
