// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.micrometer.core.instrument.MeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import io.sidewarp.common.LogText;
import io.sidewarp.common.UnknownVariables;
import io.sidewarp.operator.agent.device.PluginStatus;
import io.sidewarp.operator.agent.device.PublishedDevices;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.agent.deviceplugin.DevicePlugin;
import io.sidewarp.operator.agent.deviceplugin.DevicePluginConfig;
import io.sidewarp.operator.agent.deviceplugin.DevicesInUse;
import io.sidewarp.operator.agent.dra.DraConfig;
import io.sidewarp.operator.agent.dra.DraDriver;
import io.sidewarp.operator.agent.dra.OfferedDevices;
import io.sidewarp.operator.agent.host.Host;
import io.sidewarp.operator.agent.host.HostException;
import io.sidewarp.operator.agent.host.LinuxHost;
import io.sidewarp.operator.agent.nic.NicDiscovery;
import io.sidewarp.operator.agent.nic.NicProvisioner;
import io.sidewarp.operator.agent.nic.OriginalValues;
import io.sidewarp.operator.agent.siw.SiwLinks;
import io.sidewarp.operator.api.events.EventRecorder;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeSpec;
import io.sidewarp.operator.api.v1alpha1.IwarpNodeStatus;
import io.sidewarp.operator.api.v1alpha1.ProvisioningState;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Agent of one node. One thread looks at the node from time to time, and whenever its IwarpNode changes. At each look
 * the thread carries out the IwarpNode's specification, offers devices to the kubelet and writes the status. While the
 * API server is away, the agent continues with the last known specification.
 *
 * <p>The agent undoes nothing when it ends: pods keep their devices, and the next agent takes over.
 */
@ApplicationScoped
public class NodeAgent {
    private static final Logger LOG = Logger.getLogger(NodeAgent.class);
    private static final String FIELD_MANAGER = "sidewarp-node-agent";
    private static final PatchContext APPLY = new PatchContext.Builder()
            .withPatchType(PatchType.SERVER_SIDE_APPLY)
            .withFieldManager(FIELD_MANAGER)
            .withForce(true)
            .build();
    private static final String KERNEL_RELEASE = "sys/kernel/osrelease";
    private static final long STOP_SECONDS = 10;
    private static final Duration POD_STATE_MEMORY = Duration.ofSeconds(10);

    /** Greatest age of a report. The controller takes an older report for a sign that the agent is away. */
    private static final Duration REPORT_INTERVAL = Duration.ofMinutes(5);

    private final AgentConfig config;
    private final DevicePluginConfig pluginConfig;
    private final KubernetesClient client;
    private final PublishedDevices devices;
    private final EventRecorder events;
    private final Tracer tracer;
    private final LinkedBlockingQueue<String> reasons = new LinkedBlockingQueue<>(1);
    private final DevicePlugin plugin;
    private final DraDriver dra;
    private final NodePods pods;
    private final OfferedDevices offers;

    /** Devices that claims can have. */
    private final PublishedDevices claimable = new PublishedDevices();

    /** All devices of the node. */
    private final PublishedDevices known = new PublishedDevices();

    private volatile @Nullable Thread thread;
    private volatile @Nullable SharedIndexInformer<IwarpNode> informer;
    private volatile @Nullable IwarpNode node;
    private volatile boolean looked;

    public NodeAgent(
            AgentConfig config,
            DevicePluginConfig pluginConfig,
            DraConfig draConfig,
            KubernetesClient client,
            PublishedDevices devices,
            MeterRegistry meters,
            OpenTelemetry telemetry) {
        this.config = config;
        this.pluginConfig = pluginConfig;
        this.client = client;
        this.devices = devices;
        tracer = telemetry.getTracer(FIELD_MANAGER);
        events = new EventRecorder(client, FIELD_MANAGER);
        plugin = new DevicePlugin(pluginConfig, devices);
        // Without a name of the node the start fails.
        dra = new DraDriver(draConfig, config.nodeName().orElse(""), client, claimable, known);
        offers = new OfferedDevices(dra);
        pods = new NodePods(client, config.nodeName().orElse(""), POD_STATE_MEMORY);
        meters.gauge("sidewarp.agent.devices", known, published -> count(published, _ -> true));
        meters.gauge("sidewarp.agent.devices.healthy", known, published -> count(published, RnicDevice::healthy));
        meters.gauge(
                "sidewarp.agent.kubelet.registered",
                plugin,
                each -> each.status().registered() ? 1 : 0);
        meters.gauge("sidewarp.agent.dra.registered", dra, each -> each.status().registered() ? 1 : 0);
    }

    private static double count(PublishedDevices published, Predicate<RnicDevice> counted) {
        return published.devices().orElse(List.of()).stream().filter(counted).count();
    }

    void start(@Observes StartupEvent event) {
        UnknownVariables.in(
                        System.getenv().keySet(),
                        "SIDEWARP_AGENT_",
                        AgentConfig.class,
                        DevicePluginConfig.class,
                        DraConfig.class)
                .ifPresent(names -> LOG.warnf(
                        "event=unknown-variables names=%s action=\"none is a setting of the node agent, and none has an"
                                + " effect; see operator/node-agent/README.md\"",
                        LogText.quoted(names)));
        String node = config.nodeName()
                .orElseThrow(() -> new IllegalStateException(
                        "the node's name is unknown; set NODE_NAME from spec.nodeName, as the chart does"));
        SharedIndexInformer<IwarpNode> followed = client.resources(IwarpNode.class)
                .withName(node)
                .runnableInformer(0)
                .exceptionHandler((started, failure) -> {
                    LOG.warnf("event=api-server-away cause=%s", LogText.quoted(failure.getMessage()));
                    return true;
                })
                .addEventHandler(new Handler());
        informer = followed;
        followed.start();
        plugin.start();
        dra.start();
        thread = Thread.ofPlatform().name("node-agent").start(this::run);
    }

    void stop(@Observes ShutdownEvent event) throws InterruptedException {
        if (thread != null) {
            thread.interrupt();
            thread.join(TimeUnit.SECONDS.toMillis(STOP_SECONDS));
        }
        plugin.close();
        dra.close();
        SharedIndexInformer<IwarpNode> followed = informer;
        if (followed != null) {
            followed.close();
        }
    }

    /** Returns whether the agent has looked at the node; before that it offers nothing. */
    boolean hasLooked() {
        return looked;
    }

    /** Returns whether the agent hears of changes of its IwarpNode. */
    boolean isWatching() {
        SharedIndexInformer<IwarpNode> started = informer;
        return started != null && started.isWatching();
    }

    /**
     * Returns whether the agent's thread has not ended. The thread ends if the state directory is unusable, or after an
     * error of the program.
     */
    boolean isRunning() {
        Thread started = thread;
        return started == null || started.isAlive();
    }

    /** Returns the kernel that the agent works with. */
    Host host() {
        return new LinuxHost(config.sysfsRoot(), config.procRoot(), config.netlinkTimeout());
    }

    private void run() {
        Host host = host();
        try (DevicesInUse inUse = new DevicesInUse(pluginConfig, dra::preparedDevices)) {
            NodeObserver looker = new NodeObserver(
                    new NicProvisioner(
                            host,
                            new FunctionsInUse(inUse, pods::hasEnded, devices, claimable),
                            OriginalValues.open(config.stateDirectory(), host.bootId())),
                    new NicDiscovery(host),
                    new SiwLinks(host, config.siwPrefix()),
                    inUse,
                    new AwaitedRdma(config.rdmaPatience()),
                    pods::hasEnded);
            boolean soon = true;
            while (!Thread.currentThread().isInterrupted()) {
                long wait = (soon ? config.retryInterval() : config.checkInterval()).toMillis();
                reasons.poll(wait, TimeUnit.MILLISECONDS);
                soon = lookAt(looker, inUse, node);
            }
        } catch (InterruptedException e) {
            LOG.debug("event=stopped");
        } catch (IOException e) {
            LOG.fatalf("event=state-unusable reason=\"%s\"", e.getMessage());
        } catch (RuntimeException e) {
            LOG.fatal("event=ended-by-error action=\"the kubelet restarts this container\"", e);
        }
    }

    /** Returns whether to look again soon. */
    private boolean lookAt(NodeObserver looker, DevicesInUse inUse, @Nullable IwarpNode present) {
        if (present == null || present.getSpec() == null) {
            return true;
        }
        Span span = tracer.spanBuilder("look at node")
                .setAttribute("k8s.node.name", present.getMetadata().getName())
                .setAttribute("k8s.resource.generation", present.getMetadata().getGeneration())
                .startSpan();
        try (Scope scope = span.makeCurrent()) {
            NodeObservation look;
            try {
                look = looker.look(present.getSpec(), Duration.ofNanos(System.nanoTime()));
            } catch (HostException e) {
                LOG.errorf("event=look-failed reason=%s", LogText.quoted(e.getMessage()));
                fail(span, e);
                report(present, e);
                return false;
            }
            look = offer(look, inUse, present);
            span.setAttribute("sidewarp.outcome", look.outcome());
            look.provider().ifPresent(provider -> span.setAttribute("sidewarp.provider", provider.name()));
            looked = true;
            PluginStatus kubelet = kubelet(present.getSpec());
            report(present, look, kubelet);
            // Uses the reported plugin status: a later change must be reported soon, too.
            return look.isWaiting(kubelet);
        } catch (KubernetesClientException e) {
            LOG.warnf("event=status-not-written reason=%s", LogText.quoted(e.getMessage()));
            fail(span, e);
            return true;
        } finally {
            span.end();
        }
    }

    /** Offers devices to the device plugin or to claims. Returns the look with the waits of devices that change over. */
    private NodeObservation offer(NodeObservation look, DevicesInUse inUse, IwarpNode present) {
        Optional<Map<String, List<String>>> pluginUsers;
        try {
            pluginUsers = Optional.of(inUse.pluginUsers());
        } catch (IOException e) {
            pluginUsers = Optional.empty();
        }
        OfferedDevices.Division division =
                offers.divide(look.devices(), new ClaimableDevices(present.getSpec(), look.nics()), pluginUsers);
        known.publish(look.devices());
        devices.publish(division.plugin());
        claimable.publish(division.claims());
        dra.offer(
                present.getSpec().offersClaims(),
                present.getMetadata().getOwnerReferences().stream().findFirst());
        return look.waitingFor(division.waiting());
    }

    /** Returns the registration with the kubelet that a pod waits for. */
    private PluginStatus kubelet(IwarpNodeSpec spec) {
        PluginStatus claims = dra.status();
        return spec.offersClaims() && !claims.registered() ? claims : plugin.status();
    }

    private static void fail(Span span, Exception e) {
        span.setAttribute("sidewarp.outcome", "failed");
        span.recordException(e);
        span.setStatus(StatusCode.ERROR, String.valueOf(e.getMessage()));
    }

    private void report(IwarpNode present, NodeObservation look, PluginStatus kubelet) {
        Long generation = present.getMetadata().getGeneration();
        report(
                present,
                new IwarpNodeStatus(
                        generation,
                        config.version(),
                        kernelVersion(),
                        look.nics(),
                        look.counts(),
                        look.provider().orElse(null),
                        look.healthyDevices(),
                        look.nodeState(kubelet),
                        StatusCondition.of(conditions(present), look.state(kubelet), generation),
                        null,
                        pods.evictions(look.evictions())));
    }

    /** Reports the findings of the last look, which stay on offer, with the reason of the failure. */
    private void report(IwarpNode present, HostException failure) {
        Long generation = present.getMetadata().getGeneration();
        Optional<IwarpNodeStatus> former = Optional.ofNullable(present.getStatus());
        String message = "the node cannot be looked at: " + failure.getMessage();
        StatusCondition.State state =
                new StatusCondition.State(StatusCondition.DEGRADED, IwarpNodeStatus.LOOK_FAILED, message);
        report(
                present,
                new IwarpNodeStatus(
                        generation,
                        config.version(),
                        kernelVersion(),
                        former.map(IwarpNodeStatus::nics).orElseGet(List::of),
                        former.map(IwarpNodeStatus::providers).orElse(null),
                        former.map(IwarpNodeStatus::activeProvider).orElse(null),
                        former.map(IwarpNodeStatus::devices).orElse(null),
                        ProvisioningState.FAILED,
                        StatusCondition.of(conditions(present), state, generation),
                        null,
                        List.of()));
    }

    private static List<StatusCondition> conditions(IwarpNode present) {
        return present.getStatus() == null ? List.of() : present.getStatus().conditions();
    }

    private void report(IwarpNode present, IwarpNodeStatus status) {
        Instant now = Instant.now();
        if (!isDue(status, present.reported().map(IwarpNodeStatus::ofAgent).orElse(null), now)) {
            return;
        }
        IwarpNode patch = new IwarpNode();
        patch.setMetadata(new ObjectMetaBuilder()
                .withName(present.getMetadata().getName())
                .build());
        patch.setStatus(status.reportedAt(now.truncatedTo(ChronoUnit.SECONDS).toString()));
        client.resource(patch).subresource("status").patch(APPLY);
        events.transition(present, conditions(present), status.conditions());
    }

    /** Returns whether a status must be written: because it differs from the present one, or because that one is old. */
    static boolean isDue(IwarpNodeStatus status, @Nullable IwarpNodeStatus present, Instant now) {
        if (present == null
                || present.lastReportTime() == null
                || !status.reportedAt(null).equals(present.reportedAt(null))) {
            return true;
        }
        try {
            Duration age = Duration.between(Instant.parse(present.lastReportTime()), now);
            // The age is negative after the clock was set back.
            return age.abs().compareTo(REPORT_INTERVAL) >= 0;
        } catch (DateTimeParseException e) {
            return true;
        }
    }

    private @Nullable String kernelVersion() {
        try {
            return Files.readString(config.procRoot().resolve(KERNEL_RELEASE)).strip();
        } catch (IOException e) {
            return null;
        }
    }

    private void trigger(String reason) {
        // One pending reason is enough, since each look sees the whole node.
        if (reasons.offer(reason)) {
            LOG.debugf("event=triggered reason=%s", reason);
        }
    }

    private final class Handler implements ResourceEventHandler<IwarpNode> {
        @Override
        public void onAdd(IwarpNode added) {
            node = added;
            trigger("added");
        }

        @Override
        public void onUpdate(IwarpNode former, IwarpNode updated) {
            node = updated;
            if (!former.getMetadata()
                    .getGeneration()
                    .equals(updated.getMetadata().getGeneration())) {
                trigger("updated");
            }
        }

        @Override
        public void onDelete(IwarpNode deleted, boolean finalStateUnknown) {
            // The controller writes the object again, or the node is removed. The last specification holds until then.
            LOG.debug("event=iwarp-node-deleted");
        }
    }
}
