// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.lifecycle;

import io.netty.util.concurrent.DefaultThreadFactory;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import io.sidewarp.common.FailureText;
import io.sidewarp.engine.memory.RegionException;
import io.sidewarp.engine.memory.SharedVolume;
import io.sidewarp.engine.net.EngineLoops;
import io.sidewarp.engine.net.NetSettings;
import io.sidewarp.engine.net.tls.TlsIdentity;
import io.sidewarp.engine.net.tls.TlsKeyLog;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.provider.RdmaProvider;
import io.sidewarp.service.api.ApiServices;
import io.sidewarp.service.control.ControlSockets;
import io.sidewarp.service.health.HealthState;
import io.sidewarp.service.identity.Identities;
import io.sidewarp.service.identity.Identity;
import io.sidewarp.service.log.PeerLogs;
import io.sidewarp.service.management.ManagementServer;
import io.sidewarp.service.memory.OrphanRemoval;
import io.sidewarp.service.peer.ApiConnections;
import io.sidewarp.service.peer.PeerInterceptor;
import io.sidewarp.service.server.GrpcApiServer;
import io.sidewarp.service.server.Transports;
import io.sidewarp.service.session.SessionRegistry;
import io.sidewarp.service.status.SidecarStatus;
import io.sidewarp.service.telemetry.CallInterceptor;
import io.sidewarp.service.telemetry.Telemetry;
import io.sidewarp.service.transfer.RingServer;
import io.sidewarp.settings.ConfigValidator;
import io.sidewarp.settings.SidewarpConfig;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * A running sidecar. Builds the parts, and closes them in reverse order. Needs no framework, so that a test can run
 * several sidecars in one process.
 */
public final class Sidecar implements AutoCloseable {

    private static final Logger LOG = Logger.getLogger(Sidecar.class);
    private static final int DEFAULT_LOOPS = 2;
    private static final long CALLS_MILLIS = 500;

    private final SidewarpConfig config;
    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private final HealthState health = new HealthState();
    private final PeerLogs logs;
    private boolean stopping;
    private @Nullable SessionRegistry sessions;
    private @Nullable GrpcApiServer api;
    private @Nullable ManagementServer management;

    private Sidecar(SidewarpConfig config) {
        this.config = config;
        this.logs = new PeerLogs(config.advanced().log().messagesPerMinute());
    }

    /**
     * Starts a sidecar.
     *
     * @param telemetry properties of the OpenTelemetry SDK, in addition to its environment variables
     * @throws StartFailedException if the settings or the environment do not permit a start
     */
    public static Sidecar start(SidewarpConfig config, String version, Map<String, String> telemetry) {
        List<String> problems = ConfigValidator.problems(config);
        if (!problems.isEmpty()) {
            throw new StartFailedException("invalid configuration: " + String.join("; ", problems), null);
        }
        Sidecar sidecar = new Sidecar(config);
        try {
            sidecar.begin(version, telemetry);
            return sidecar;
        } catch (IOException e) {
            sidecar.closeParts();
            throw new StartFailedException(String.valueOf(e.getMessage()), e);
        } catch (ConfigurationException e) {
            sidecar.closeParts();
            throw new StartFailedException(
                    "OpenTelemetry does not accept its settings (OTEL_...): " + e.getMessage() + cause(e), e);
        } catch (RuntimeException e) {
            sidecar.closeParts();
            throw e;
        }
    }

    /** Returns the root cause. For some settings the SDK's own message only says that something is wrong. */
    private static String cause(ConfigurationException failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause == failure ? "" : ": " + cause.getMessage();
    }

    private static TlsKeyLog keyLog(Path file) throws IOException {
        try {
            return TlsKeyLog.enable(file);
        } catch (IOException e) {
            throw new IOException(
                    "cannot write the key log of sidewarp.advanced.tls-key-log, " + file + " (" + FailureText.reason(e)
                            + "); name a file in a directory that the sidecar may write, or leave the setting out",
                    e);
        }
    }

    private void begin(String version, Map<String, String> telemetryProperties) throws IOException {
        if (config.advanced().tlsKeyLog().isPresent()) {
            own(keyLog(config.advanced().tlsKeyLog().get()));
        }
        Telemetry telemetry = own(Telemetry.create(config.advanced().telemetry(), version, telemetryProperties));
        int loops = config.eventLoops()
                .orElse(Math.min(DEFAULT_LOOPS, Runtime.getRuntime().availableProcessors()));
        Transports transports = own(new Transports(loops, busyPoll()));
        ExecutorService workers = Executors.newFixedThreadPool(
                config.advanced().workerThreads(), new DefaultThreadFactory("sidewarp-worker", true));
        own(workers::shutdownNow);
        ExecutorService lookups = Executors.newCachedThreadPool(new DefaultThreadFactory("sidewarp-lookup", true));
        own(lookups::shutdownNow);
        // A thread of its own: anybody may request metrics, and applications need the workers.
        ExecutorService collector =
                Executors.newSingleThreadExecutor(new DefaultThreadFactory("sidewarp-metrics", true));
        own(collector::shutdownNow);
        if (config.advanced().management().enabled()) {
            management = own(new ManagementServer(transports, config.management(), health, telemetry, collector));
            management.start();
        }
        Optional<Identity> identity = Identities.create(config.identity(), transports);
        identity.ifPresent(source -> begin(source, telemetry));
        TlsIdentity ofDevice = identity.<TlsIdentity>map(i -> i).orElse(TlsIdentity.NONE);
        Consumer<String> denials = message -> identity.ifPresent(own -> own.onDenied(message));
        RdmaProvider provider = own(Providers.create(config, transports.group(), telemetry, logs, ofDevice, denials));
        Device device = own(Providers.open(provider));
        own(telemetry.associations().observe(device));
        Optional<SharedVolume> volume = sharedVolume();
        Optional<RingServer> rings = Optional.empty();
        if (volume.isPresent()) {
            rings = Optional.of(ringServer(transports));
        }
        SessionRegistry registry = new SessionRegistry(
                device, ofDevice, workers, lookups, volume, rings, config, telemetry, logs, ownUid());
        sessions = registry;
        ApiConnections connections = new ApiConnections(config.limits(), registry.refusals());
        PeerInterceptor admission =
                new PeerInterceptor(config.api().allowedUids(), config.api().allowedGids());
        if (rings.isPresent()) {
            rings.get()
                    .control(new ControlSockets(
                            registry,
                            connections,
                            admission,
                            logs,
                            telemetry.errors(),
                            version,
                            config.sharedVolume().orElse("")));
        }
        GrpcApiServer server = new GrpcApiServer(
                transports,
                config.api(),
                config.advanced().api().tcp().host(),
                connections,
                ApiServices.all(registry, config, version, health, logs),
                List.of(admission, new CallInterceptor(telemetry)));
        own(server);
        server.start();
        api = server;
        if (management != null && config.statusPage()) {
            management.serve(new SidecarStatus(registry, telemetry.errors(), health, version, collector));
        }
        volume.ifPresent(shared -> OrphanRemoval.schedule(shared, transports.group(), workers));
        identity.map(Identity::first)
                .orElse(CompletableFuture.completedFuture(null))
                .thenRun(this::serve);
        EngineLoops.whyNoEpoll().ifPresent(reason -> LOG.warnf("event=no-native-epoll reason=\"%s\"", reason));
        LOG.infof(
                "event=started version=%s provider=%s socket=%s tcp=%s management=%s loops=%d epoll=%b",
                version,
                provider.name(),
                config.api().socket(),
                tcpPort().isPresent()
                        ? config.advanced().api().tcp().host() + ":" + tcpPort().getAsInt()
                        : "off",
                management == null ? "off" : management.address(),
                loops,
                transports.isEpoll());
    }

    private void begin(Identity identity, Telemetry telemetry) {
        own(identity);
        telemetry.gauge(
                "sidewarp.identity.expiry",
                "Time until this side's certificate expires; negative afterwards, 0 before there is one",
                "s",
                () -> identity.timeLeft().orElse(Duration.ZERO).toSeconds());
        telemetry.gauge(
                "sidewarp.identity.lifetime",
                "Time for which this side's certificate is valid from its beginning, 0 before there is one",
                "s",
                () -> identity.lifetime().orElse(Duration.ZERO).toSeconds());
        health.problem(identity::problem);
        identity.start();
    }

    /** Becomes ready. With an identity, this waits for its first credentials. */
    private synchronized void serve() {
        if (!stopping) {
            health.outbound(true);
            health.ready(true);
        }
    }

    private synchronized void drain() {
        stopping = true;
        health.ready(false);
    }

    private RingServer ringServer(Transports transports) throws IOException {
        RingServer server = own(
                new RingServer(transports, Path.of(config.api().socket()), ConfigValidator.socketMode(config.api())));
        try {
            server.start();
        } catch (IOException e) {
            throw new IOException(
                    "cannot serve the socket of rings, " + server.name() + ", beside that of the API: "
                            + e.getMessage(),
                    e);
        }
        return server;
    }

    /** Returns the port of the API's TCP listener, if there is one. */
    public OptionalInt tcpPort() {
        return api == null ? OptionalInt.empty() : api.tcpPort();
    }

    /** Returns the address of health and metrics, if they are served. */
    public Optional<InetSocketAddress> managementAddress() {
        return management == null ? Optional.empty() : Optional.ofNullable(management.address());
    }

    public HealthState health() {
        return health;
    }

    /** Returns the registry of all sessions. */
    public SessionRegistry sessions() {
        if (sessions == null) {
            throw new IllegalStateException("not started");
        }
        return sessions;
    }

    /** Drains within the configured time, and closes all parts. */
    @Override
    public void close() {
        drain();
        LOG.infof("event=stopping drain-timeout=%dms", config.drainTimeout().toMillis());
        if (sessions != null) {
            new SessionDrain(sessions, config.drainTimeout(), config.advanced().outliveSessions()).run();
        }
        health.outbound(false);
        if (api != null) {
            api.stop(CALLS_MILLIS);
        }
        closeParts();
        LOG.info("event=stopped");
    }

    private <T extends AutoCloseable> T own(T part) {
        parts.push(part);
        return part;
    }

    private void closeParts() {
        while (!parts.isEmpty()) {
            AutoCloseable part = parts.pop();
            try {
                part.close();
            } catch (Exception e) {
                LOG.warnf(e, "event=close-failed part=%s", part.getClass().getSimpleName());
            }
        }
    }

    private Duration busyPoll() {
        OptionalInt micros = config.advanced().busyPollMicros();
        return micros.isPresent() ? Duration.of(micros.getAsInt(), ChronoUnit.MICROS) : NetSettings.defaultBusyPoll();
    }

    private Optional<SharedVolume> sharedVolume() throws IOException {
        Optional<String> setting = config.sharedVolume();
        if (setting.isEmpty()) {
            return Optional.empty();
        }
        Path path = Path.of(setting.get());
        try {
            Files.createDirectories(path);
        } catch (FileAlreadyExistsException e) {
            throw new IOException(
                    e.getFile() + " is no directory for shared regions; remove it, or set sidewarp.shared-volume to"
                            + " another place or to nothing",
                    e);
        } catch (IOException e) {
            throw new IOException(
                    "the directory for shared regions " + path + " is missing and cannot be created ("
                            + FailureText.withFile(e)
                            + "); mount a volume there, or set sidewarp.shared-volume to another one or to nothing",
                    e);
        }
        SharedVolume volume = new SharedVolume(path);
        try {
            if (volume.isReadOnly()) {
                throw new IOException(
                        "the volume for shared regions " + path + " is read-only; mount it for reading and writing, or"
                                + " set sidewarp.shared-volume to another one or to nothing");
            }
            volume.findOrphans()
                    .ifPresent(problem -> LOG.warnf("event=no-record-of-created-files reason=\"%s\"", problem));
        } catch (RegionException e) {
            throw new IOException(
                    e.getMessage() + " (setting sidewarp.shared-volume); the sidecar's user has to be able to open it",
                    e);
        }
        return Optional.of(volume);
    }

    private static long ownUid() throws IOException {
        return Integer.toUnsignedLong((int) Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
    }
}
