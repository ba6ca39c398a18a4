// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.session;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.netty.channel.EventLoop;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.sidewarp.common.LogText;
import io.sidewarp.engine.memory.SharedVolume;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.service.config.SidewarpConfig;
import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.log.PeerLogs;
import io.sidewarp.service.peer.Peer;
import io.sidewarp.service.quota.EffectiveLimits;
import io.sidewarp.service.quota.PeerQuotas;
import io.sidewarp.service.quota.QuotaRefusals;
import io.sidewarp.service.quota.RequestLimits;
import io.sidewarp.service.quota.SessionQuotas;
import io.sidewarp.service.quota.SessionShare;
import io.sidewarp.service.quota.SharedQuota;
import io.sidewarp.service.telemetry.Telemetry;
import io.sidewarp.service.transfer.QueueSessions;
import io.sidewarp.service.transfer.RingSockets;
import io.sidewarp.service.transfer.SessionTransfers;
import io.sidewarp.v1.OpenSessionResponse;
import java.time.Duration;
import java.util.ArrayList;
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
import org.jspecify.annotations.Nullable;

/** Registry of all sessions of the sidecar. Thread-safe. */
public final class SessionRegistry implements QueueSessions {

    private static final int MAX_NAME = 64;
    private static final String SESSIONS = "sidewarp.limits.sessions";
    private static final AttributeKey<String> SETTING = AttributeKey.stringKey("setting");

    private final Map<String, Session> sessions = new ConcurrentHashMap<>();
    /** Sessions that have ended but are still releasing their objects. */
    private final Set<CompletableFuture<Void>> releasing = ConcurrentHashMap.newKeySet();

    private final AtomicLong ids = new AtomicLong();
    private final Device device;
    private final Executor workers;
    private final Executor lookups;
    private final Optional<SharedVolume> sharedVolume;
    private final Optional<RingSockets> ringSockets;
    private final SidewarpConfig config;
    private final EffectiveLimits limits;
    private final QuotaRefusals refusals = new QuotaRefusals();
    private final RequestLimits requests;
    private final SharedQuota<Long> sessionQuota;
    private final SessionShare.Shared totalRegions;
    private final SessionShare.Shared managedOctets;
    private final SessionShare.Shared workEntries;
    private final PeerQuotas peers;
    private final Telemetry telemetry;
    private final PeerLogs logs;
    private final long ownUid;
    private volatile @Nullable Duration draining;

    /**
     * @param workers executor for blocking work of all sessions
     * @param lookups executor for look-ups of all sessions, with a thread for each task; sessions bound the number of
     *     tasks
     * @param ownUid user id of the sidecar, which like root sees all sessions
     */
    public SessionRegistry(
            Device device,
            Executor workers,
            Executor lookups,
            Optional<SharedVolume> sharedVolume,
            Optional<RingSockets> ringSockets,
            SidewarpConfig config,
            Telemetry telemetry,
            PeerLogs logs,
            long ownUid) {
        this.device = device;
        this.workers = workers;
        this.lookups = lookups;
        this.sharedVolume = sharedVolume;
        this.ringSockets = ringSockets;
        this.config = config;
        this.limits = EffectiveLimits.of(config.limits(), device.attributes());
        this.requests = RequestLimits.of(limits, refusals);
        this.sessionQuota = new SharedQuota<>(limits.sessions());
        this.totalRegions = SessionShare.Shared.totalRegions(limits.totalRegions());
        this.managedOctets = SessionShare.Shared.managedOctets(limits.managedOctets());
        this.workEntries = SessionShare.Shared.workEntries(limits.workEntries());
        this.peers = new PeerQuotas(limits.peerConnections(), limits.peerReadRequests(), refusals);
        this.telemetry = telemetry;
        this.logs = logs;
        this.ownUid = ownUid;
        refusals.expect(SESSIONS);
        SessionQuotas.expect(
                limits,
                new SessionShare(totalRegions, ownUid, refusals),
                new SessionShare(managedOctets, ownUid, refusals),
                new SessionShare(workEntries, ownUid, refusals),
                refusals);
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

    /** Opens a session for a call, on the thread of the call's transport. The session ends with the call. */
    public void open(String name, Peer peer, EventLoop loop, ServerCallStreamObserver<OpenSessionResponse> observer) {
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
                    new EventStream(observer, dropped -> logs.session().warn(() -> "session=" + LogText.quoted(name)));
            Session session = new Session(SessionToken.next(), context(name, peer, loop, events), events);
            observer.setOnCancelHandler(() -> session.context().run(() -> end(session, null)));
            observer.setOnReadyHandler(() -> session.context().run(session::onReady));
            sessions.put(session.token(), session);
            session.opened();
            Duration grace = draining;
            if (grace != null) {
                session.drain(grace);
            }
        } catch (RuntimeException | Error e) {
            sessionQuota.give(peer.uid(), 1);
            throw e;
        }
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
                sharedVolume,
                ringSockets,
                config,
                limits,
                requests,
                SessionQuotas.of(
                        limits,
                        new SessionShare(totalRegions, peer.uid(), refusals),
                        new SessionShare(managedOctets, peer.uid(), refusals),
                        new SessionShare(workEntries, peer.uid(), refusals),
                        refusals),
                peers,
                ids,
                events,
                telemetry,
                telemetry.work().meter(),
                logs);
    }

    /** Returns the session of a token. The peer must have the same user as the one that opened the session. */
    public Session require(String token, Peer peer) {
        if (token.isEmpty()) {
            throw ApiError.invalid(
                    "session is empty; open one with DeviceService.OpenSession and name it in each call");
        }
        Session session = sessions.get(token);
        if (session == null || !session.peer().isSameUser(peer)) {
            throw unknown();
        }
        return session;
    }

    @Override
    public SessionTransfers find(String token, Peer peer) {
        return require(token, peer).transfers();
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
    public <T> CompletableFuture<List<T>> collect(Peer peer, Function<Session, T> question) {
        return collect(session -> seesAll(peer) || session.peer().isSameUser(peer), question);
    }

    /** Returns whether the peer sees objects of all users. */
    public boolean seesAll(Peer peer) {
        return peer.isPrivileged(ownUid);
    }

    private <T> CompletableFuture<List<T>> collect(Predicate<Session> which, Function<Session, T> question) {
        List<CompletableFuture<T>> answers = new ArrayList<>();
        for (Session session : sessions.values()) {
            if (which.test(session)) {
                answers.add(ask(session, question));
            }
        }
        return CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
                .thenApply(ignored -> {
                    List<T> all = new ArrayList<>(answers.size());
                    answers.forEach(answer -> all.add(answer.join()));
                    return all;
                });
    }

    private static <T> CompletableFuture<T> ask(Session session, Function<Session, T> question) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        session.context().run(() -> {
            try {
                answer.complete(question.apply(session));
            } catch (RuntimeException e) {
                answer.completeExceptionally(e);
            }
        });
        return answer;
    }

    /** Returns the number of open sessions. */
    public int count() {
        return sessions.size();
    }

    /** Stops opening sessions, and notifies the open ones. */
    public void drain(Duration grace) {
        draining = grace;
        for (Session session : sessions.values()) {
            session.context().run(() -> session.drain(grace));
        }
    }

    /** Returns the current activity of all sessions. */
    public CompletableFuture<Activity> activity() {
        return collect(
                        every -> true,
                        session -> new Activity(
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
        return collect(every -> true, session -> session.connections().disconnectAll())
                .thenCompose(all -> CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)));
    }

    /** Ends all sessions. The result is complete when nothing is left. */
    public CompletableFuture<Void> endAll() {
        return collect(every -> true, session -> end(session, ApiError.draining()))
                .thenCompose(all -> CompletableFuture.allOf(releasing.toArray(CompletableFuture[]::new)));
    }

    /**
     * Ends a session at its client's request. Runs on the session's thread.
     *
     * @param grace time for its connections to close
     * @return future that completes when nothing is left; fails if earlier data may not have arrived
     */
    public CompletableFuture<Void> close(Session session, Duration grace) {
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

    private CompletableFuture<Void> end(Session session, @Nullable StatusRuntimeException status) {
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
        telemetry
                .meter()
                .gaugeBuilder("sidewarp.sessions")
                .ofLongs()
                .setDescription("Sessions that are open")
                .setUnit("{session}")
                .buildWithCallback(measurement -> measurement.record(sessions.size()));
        telemetry
                .meter()
                .gaugeBuilder("sidewarp.regions")
                .ofLongs()
                .setDescription("Memory regions that are registered")
                .setUnit("{region}")
                .buildWithCallback(measurement -> measurement.record(sessions.values().stream()
                        .mapToLong(
                                session -> session.context().quotas().regions().used())
                        .sum()));
        telemetry
                .meter()
                .gaugeBuilder("sidewarp.registered")
                .ofLongs()
                .setDescription("Octets of registered memory")
                .setUnit("By")
                .buildWithCallback(measurement -> measurement.record(sessions.values().stream()
                        .mapToLong(session ->
                                session.context().quotas().registeredOctets().used())
                        .sum()));
        telemetry
                .meter()
                .counterBuilder("sidewarp.quota.refusals")
                .setDescription("What quotas refused, by the setting of the limit")
                .setUnit("{refusal}")
                .buildWithCallback(measurement -> refusals.forEach(
                        (setting, count) -> measurement.record(count, Attributes.of(SETTING, setting))));
        telemetry
                .meter()
                .gaugeBuilder("sidewarp.peers")
                .ofLongs()
                .setDescription("Remote addresses that there are connections with")
                .setUnit("{peer}")
                .buildWithCallback(measurement -> measurement.record(peers.count()));
        telemetry
                .meter()
                .counterBuilder("sidewarp.log.suppressed")
                .setDescription("Log messages about peers and callers that were left out")
                .setUnit("{message}")
                .buildWithCallback(measurement -> measurement.record(logs.suppressed()));
    }
}
