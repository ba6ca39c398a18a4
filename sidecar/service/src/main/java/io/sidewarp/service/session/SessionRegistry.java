// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.session;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.netty.channel.EventLoop;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.sidewarp.common.LogText;
import io.sidewarp.engine.memory.ProcessMemory;
import io.sidewarp.engine.memory.SharedVolume;
import io.sidewarp.engine.net.tls.TlsIdentity;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.service.context.Responses;
import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.log.PeerLogs;
import io.sidewarp.service.peer.Peer;
import io.sidewarp.service.quota.EffectiveLimits;
import io.sidewarp.service.quota.PeerQuotas;
import io.sidewarp.service.quota.QuotaRefusals;
import io.sidewarp.service.quota.RequestLimits;
import io.sidewarp.service.quota.SessionQuotas;
import io.sidewarp.service.quota.SharedQuota;
import io.sidewarp.service.telemetry.Telemetry;
import io.sidewarp.service.transfer.RingServer;
import io.sidewarp.settings.SidewarpConfig;
import io.sidewarp.v1.OpenSessionResponse;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** Registry of all sessions of the sidecar. Thread-safe. */
public final class SessionRegistry {

    private static final int MAX_NAME = 64;
    private static final String SESSIONS = "sidewarp.limits.sessions";
    private static final int TOKEN_LENGTH = 16;
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final AttributeKey<String> SETTING = AttributeKey.stringKey("setting");

    private final Map<String, SidecarSession> sessions = new ConcurrentHashMap<>();
    /** Sessions that have ended but are still releasing their objects. */
    private final Set<CompletableFuture<Void>> releasing = ConcurrentHashMap.newKeySet();

    private final AtomicLong ids = new AtomicLong();
    private final Device device;
    private final TlsIdentity identity;
    private final Executor workers;
    private final Executor lookups;
    private final Optional<SharedVolume> sharedVolume;
    private final Optional<RingServer> ringSockets;
    private final SidewarpConfig config;
    private final EffectiveLimits limits;
    private final QuotaRefusals refusals = new QuotaRefusals();
    private final RequestLimits requests;
    private final SharedQuota<Long> sessionQuota;
    private final SessionQuotas.Pools pools;
    private final PeerQuotas peers;
    private final Telemetry telemetry;
    private final PeerLogs logs;
    private final long ownUid;
    private volatile @Nullable Duration draining;

    /**
     * @param identity source of the identity that the device uses
     * @param workers executor for blocking work of all sessions
     * @param lookups executor for look-ups of all sessions, with a thread for each task; sessions bound the number of
     *     tasks
     * @param ownUid user id of the sidecar, which like root sees all sessions
     */
    public SessionRegistry(
            Device device,
            TlsIdentity identity,
            Executor workers,
            Executor lookups,
            Optional<SharedVolume> sharedVolume,
            Optional<RingServer> ringSockets,
            SidewarpConfig config,
            Telemetry telemetry,
            PeerLogs logs,
            long ownUid) {
        this.device = device;
        this.identity = identity;
        this.workers = workers;
        this.lookups = lookups;
        this.sharedVolume = sharedVolume;
        this.ringSockets = ringSockets;
        this.config = config;
        this.limits = EffectiveLimits.of(config.limits(), device.attributes());
        this.requests = RequestLimits.of(limits, refusals);
        this.sessionQuota = new SharedQuota<>(config.limits().sessions());
        this.pools = SessionQuotas.Pools.of(config.limits());
        this.peers = new PeerQuotas(
                config.limits().peerConnections(), config.limits().peerReadRequests(), refusals);
        this.telemetry = telemetry;
        this.logs = logs;
        this.ownUid = ownUid;
        refusals.expect(SESSIONS);
        // The counts of refusals begin with the value 0, before the first session.
        quotas(ownUid);
        observe();
    }

    public EffectiveLimits limits() {
        return limits;
    }

    /** Returns the counts of refusals. */
    public QuotaRefusals refusals() {
        return refusals;
    }

    /** Returns the page size of the shared volume in bytes; 0 without a volume. */
    public long pageSize() {
        return sharedVolume.map(SharedVolume::pageSize).orElse(0L);
    }

    public Device device() {
        return device;
    }

    /**
     * Opens a session on the thread of its client's transport. The caller calls {@link #left} when the client has left.
     *
     * @param responses takes the first response now, and then the events of the session
     */
    public SidecarSession open(String name, Peer peer, EventLoop loop, Responses<OpenSessionResponse> responses) {
        if (draining != null) {
            throw ApiError.draining();
        }
        int characters = name.codePointCount(0, name.length());
        if (characters > MAX_NAME) {
            throw ApiError.invalid("name", characters + " characters", "at most " + MAX_NAME + " characters");
        }
        takeSession(peer.uid());
        try {
            EventStream events =
                    new EventStream(responses, dropped -> logs.session().warn(() -> "session=" + LogText.quoted(name)));
            SidecarSession session = new SidecarSession(newToken(), context(name, peer, loop, events), events);
            sessions.put(session.token(), session);
            session.opened();
            Duration grace = draining;
            if (grace != null) {
                session.drain(grace);
            }
            return session;
        } catch (RuntimeException | Error e) {
            sessionQuota.give(peer.uid(), 1);
            throw e;
        }
    }

    /** Ends a session because its client has left. */
    public void left(SidecarSession session) {
        session.context().run(() -> end(session, null));
    }

    /** Returns 128 random bits in hexadecimal digits. A token is the right to use its session. */
    private static String newToken() {
        byte[] token = new byte[TOKEN_LENGTH];
        RANDOM.nextBytes(token);
        return HexFormat.of().formatHex(token);
    }

    private void takeSession(long user) {
        if (!sessionQuota.take(user, 1)) {
            refusals.add(SESSIONS);
            throw ApiError.of(
                    Status.Code.RESOURCE_EXHAUSTED,
                    "sessions: the fair share of this user is exceeded; the limit is " + sessionQuota.limit()
                            + " (setting " + SESSIONS + "), this user has " + sessionQuota.used(user)
                            + "; end some, or raise the setting");
        }
    }

    private SessionContext context(String name, Peer peer, EventLoop loop, EventStream events) {
        return new SessionContext(
                name,
                peer,
                loop,
                workers,
                lookups,
                device,
                identity,
                sharedVolume,
                ringSockets,
                config,
                limits,
                requests,
                quotas(peer.uid()),
                peers,
                ids,
                events::event,
                telemetry,
                telemetry.work().meter(),
                logs);
    }

    private SessionQuotas quotas(long user) {
        return SessionQuotas.of(config.limits(), pools, user, refusals);
    }

    /** Returns the session of a token. The peer must have the same user as the one that opened the session. */
    public SidecarSession require(String token, Peer peer) {
        if (token.isEmpty()) {
            throw ApiError.invalid(
                    "session is empty; open one with DeviceService.OpenSession and name it in each call");
        }
        SidecarSession session = sessions.get(token);
        if (session == null || !session.peer().isSameUser(peer)) {
            throw unknown();
        }
        return session;
    }

    /** Returns the status for an unknown session. The status is the same for another user's session. */
    static StatusRuntimeException unknown() {
        return ApiError.of(
                Status.Code.UNAUTHENTICATED,
                "the session is not known, or has ended; keep its OpenSession call open, or open a new one");
    }

    /** Refuses new calls while the sidecar is stopping. */
    public void checkNotDraining() {
        if (draining != null) {
            throw ApiError.draining();
        }
    }

    /** Asks all sessions that the peer may see, each on its own thread. */
    public <T> CompletableFuture<List<T>> collect(Peer peer, Function<SidecarSession, T> question) {
        return collect(session -> seesAll(peer) || session.peer().isSameUser(peer), question);
    }

    /** Returns whether the peer sees objects of all users. */
    public boolean seesAll(Peer peer) {
        return peer.isPrivileged(ownUid);
    }

    /** Asks all sessions, each on its own thread. */
    public <T> CompletableFuture<List<T>> collectAll(Function<SidecarSession, T> question) {
        return collect(every -> true, question);
    }

    private <T> CompletableFuture<List<T>> collect(
            Predicate<SidecarSession> which, Function<SidecarSession, T> question) {
        List<CompletableFuture<T>> answers = sessions.values().stream()
                .filter(which)
                .map(session -> CompletableFuture.supplyAsync(() -> question.apply(session), session.context()::run))
                .toList();
        return CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
                .thenApply(
                        ignored -> answers.stream().map(CompletableFuture::join).toList());
    }

    /** Returns the number of open sessions. */
    public int count() {
        return sessions.size();
    }

    /** Stops opening sessions, and notifies the open ones. */
    public void drain(Duration grace) {
        draining = grace;
        for (SidecarSession session : sessions.values()) {
            session.context().run(() -> session.drain(grace));
        }
    }

    /** Returns the current activity of all sessions. */
    public CompletableFuture<Activity> activity() {
        return collectAll(session -> new Activity(
                        session.connections().workUnderWay(),
                        session.connections().octetsMoved()))
                .thenApply(all -> all.stream()
                        .reduce(new Activity(0, 0), (a, b) -> new Activity(a.work + b.work, a.octets + b.octets)));
    }

    /**
     * Activity of sessions.
     *
     * @param work number of work requests in progress
     * @param octets bytes of payload that moved so far on the open connections
     */
    public record Activity(long work, long octets) {}

    /** Closes all connections gracefully. */
    public CompletableFuture<Void> disconnectAll() {
        return collectAll(session -> session.connections().disconnectAll())
                .thenCompose(all -> CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)));
    }

    /** Ends all sessions. The result is complete when nothing is left. */
    public CompletableFuture<Void> endAll() {
        return collectAll(session -> end(session, ApiError.draining()))
                .thenCompose(all -> CompletableFuture.allOf(releasing.toArray(CompletableFuture[]::new)));
    }

    /**
     * Ends a session at its client's request. Runs on the session's thread.
     *
     * @param grace time for its connections to close
     * @return future that completes when nothing is left; fails if earlier data may not have arrived
     */
    public CompletableFuture<Void> close(SidecarSession session, Duration grace) {
        return session.closeConnections(grace)
                .handleAsync(
                        (ignored, loss) -> {
                            session.complete();
                            return end(session, null)
                                    .thenCompose(released -> loss == null
                                            ? CompletableFuture.<Void>completedFuture(null)
                                            : CompletableFuture.<Void>failedFuture(loss));
                        },
                        session.context().loop())
                .thenCompose(Function.identity());
    }

    private CompletableFuture<Void> end(SidecarSession session, @Nullable StatusRuntimeException status) {
        CompletableFuture<Void> released = session.release(status);
        if (sessions.remove(session.token()) != null) {
            releasing.add(released);
            // The quota also covers sessions that are still being released, and their look-up threads. A client that
            // reconnects in a loop cannot accumulate them.
            released.whenComplete((ignored, failure) -> {
                releasing.removeIf(CompletableFuture::isDone);
                session.connections()
                        .lookupsSettled()
                        .thenRun(() -> sessionQuota.give(session.peer().uid(), 1));
            });
        }
        return released;
    }

    private void observe() {
        telemetry.gauge("sidewarp.sessions", "Sessions that are open", "{session}", sessions::size);
        telemetry.gauge(
                "sidewarp.regions",
                "Memory regions that are registered",
                "{region}",
                () -> sum(session -> session.context().quotas().regions().used()));
        telemetry.gauge(
                "sidewarp.registered",
                "Octets of registered memory",
                "By",
                () -> sum(
                        session -> session.context().quotas().registeredOctets().used()));
        telemetry
                .meter()
                .counterBuilder("sidewarp.quota.refusals")
                .setDescription("What quotas refused, by the setting of the limit")
                .setUnit("{refusal}")
                .buildWithCallback(measurement -> refusals.forEach(
                        (setting, count) -> measurement.record(count, Attributes.of(SETTING, setting))));
        telemetry
                .meter()
                .counterBuilder("sidewarp.memory.stalls")
                .setDescription("Copies to or from memory of a process that took longer than 10 ms")
                .setUnit("{copy}")
                .buildWithCallback(measurement -> measurement.record(ProcessMemory.stalls()));
        telemetry.gauge("sidewarp.peers", "Remote addresses that there are connections with", "{peer}", peers::count);
        telemetry
                .meter()
                .counterBuilder("sidewarp.log.suppressed")
                .setDescription("Log messages about peers and callers that were left out")
                .setUnit("{message}")
                .buildWithCallback(
                        measurement -> measurement.record(logs.suppressed().get()));
    }

    private long sum(ToLongFunction<SidecarSession> value) {
        return sessions.values().stream().mapToLong(value).sum();
    }
}
