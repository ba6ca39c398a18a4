// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.status;

import io.sidewarp.common.status.StatusDocument;
import io.sidewarp.common.status.StatusDocument.Kind;
import io.sidewarp.common.status.StatusDocument.State;
import io.sidewarp.common.status.StatusDocument.Tone;
import io.sidewarp.engine.verbs.DeviceAttributes;
import io.sidewarp.service.health.HealthState;
import io.sidewarp.service.session.SessionRegistry;
import io.sidewarp.service.telemetry.RecentErrors;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionCounters;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.RegionState;
import io.sidewarp.v1.SessionInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * The state of the sidecar for its status page. Leaves out what gives access to memory or belongs to applications:
 * STags, tagged offsets, tokens of sessions, private data and payload. Thread-safe.
 */
public final class SidecarStatus {

    private static final Duration PERIOD = Duration.ofSeconds(1);

    private final SessionRegistry sessions;
    private final RecentErrors errors;
    private final HealthState health;
    private final String version;
    private final Executor executor;
    private final Instant start = Instant.now();
    private CompletableFuture<byte[]> data = CompletableFuture.completedFuture(new byte[0]);

    /** @param executor builds the JSON, preferably for one request at a time */
    public SidecarStatus(
            SessionRegistry sessions, RecentErrors errors, HealthState health, String version, Executor executor) {
        this.sessions = sessions;
        this.errors = errors;
        this.health = health;
        this.version = version;
        this.executor = executor;
    }

    /** Returns the state as JSON. Requests that come while one is answered get the same answer. */
    public synchronized CompletableFuture<byte[]> data() {
        if (data.isDone()) {
            data = sessions.collectAll(SessionStatus::of).thenApplyAsync(this::json, executor);
        }
        return data;
    }

    private byte[] json(List<SessionStatus> all) {
        StatusDocument document = new StatusDocument("Sidewarp sidecar", PERIOD);
        facts(document, all);
        connections(document, all);
        holds(document, all);
        errors(document);
        regions(document, all);
        sessions(document, all);
        return document.toJson();
    }

    private void facts(StatusDocument document, List<SessionStatus> all) {
        DeviceAttributes device = sessions.device().attributes();
        String transports = device.llps().stream().map(Enum::name).sorted().collect(Collectors.joining(", "));
        document.fact("State", Kind.STATE, health())
                .fact("Running for", Kind.AGE, start.toEpochMilli())
                .fact("Sessions", Kind.NUMBER, all.size())
                .fact("Connections", Kind.NUMBER, sum(all, SessionInfo::getConnections))
                .fact("Regions", Kind.NUMBER, sum(all, SessionInfo::getRegions))
                .fact("Registered memory", Kind.BYTES, sum(all, SessionInfo::getRegisteredOctets))
                .fact("Provider", Kind.TEXT, device.provider() + " (" + transports + ")")
                .fact("Version", Kind.TEXT, version);
    }

    private State health() {
        if (health.isReady()) {
            return new State("ready", Tone.GOOD);
        }
        return new State(health.problem().orElse("stopping"), Tone.WAIT);
    }

    private static long sum(List<SessionStatus> all, ToLongFunction<SessionInfo> value) {
        return all.stream().map(SessionStatus::info).mapToLong(value).sum();
    }

    private static void connections(StatusDocument document, List<SessionStatus> all) {
        StatusDocument.Table table = document.table(
                        "Connections", "Rates are of payload, without headers.", "No connection is open.")
                .column("Connection", Kind.TEXT)
                .column("Session", Kind.TEXT)
                .column("State", Kind.STATE)
                .column("Peer", Kind.TEXT)
                .column("Security", Kind.TEXT)
                .column("Sent", Kind.BYTE_RATE)
                .column("Received", Kind.BYTE_RATE)
                .column("Messages", Kind.RATE);
        all.stream()
                .flatMap(session -> session.connections().stream())
                .sorted(Comparator.comparingLong(Connection::getId))
                .forEach(connection -> {
                    ConnectionCounters counters = connection.getCounters();
                    table.row(
                            Long.toString(connection.getId()),
                            connection.getSessionName(),
                            state(connection.getState()),
                            peer(connection),
                            security(connection),
                            counters.getOctetsSent(),
                            counters.getOctetsReceived(),
                            messages(counters));
                });
    }

    private static State state(ConnectionState state) {
        return new State(
                words("CONNECTION_STATE_", state),
                switch (state) {
                    case CONNECTION_STATE_ESTABLISHED -> Tone.GOOD;
                    case CONNECTION_STATE_CONNECTING, CONNECTION_STATE_CLOSING, CONNECTION_STATE_WAITING_FOR_PEER ->
                        Tone.WAIT;
                    case CONNECTION_STATE_TERMINATED -> Tone.BAD;
                    case CONNECTION_STATE_IDLE, CONNECTION_STATE_CLOSED, CONNECTION_STATE_UNSPECIFIED, UNRECOGNIZED ->
                        Tone.PLAIN;
                });
    }

    private static String peer(Connection connection) {
        String address = connection.getRemoteAddress();
        if (address.isEmpty()) {
            return "none yet";
        }
        return (address.contains(":") ? "[" + address + "]" : address) + ":" + connection.getRemotePort() + " ("
                + words("LLP_", connection.getLlp()).toUpperCase(Locale.ROOT) + ")";
    }

    private static String security(Connection connection) {
        return switch (connection.getSecurity()) {
            case SECURITY_IN_USE_TLS -> "TLS, " + connection.getPeerIdentity();
            case SECURITY_IN_USE_PLAIN -> "plain";
            case SECURITY_IN_USE_UNSPECIFIED, UNRECOGNIZED -> "none yet";
        };
    }

    private static long messages(ConnectionCounters counters) {
        return counters.getWritesSent()
                + counters.getWritesReceived()
                + counters.getReadsSent()
                + counters.getReadsServed()
                + counters.getSendsSent()
                + counters.getSendsReceived()
                + counters.getAtomicsSent()
                + counters.getAtomicsServed();
    }

    private static void holds(StatusDocument document, List<SessionStatus> all) {
        StatusDocument.Table table = document.table(
                        "Held back now",
                        "Work that waits, and quotas of which at least 90 % are used. Under load, a full send queue is"
                                + " normal.",
                        "Nothing waits, and no quota is nearly used up.")
                .column("What", Kind.TEXT)
                .column("Session", Kind.TEXT)
                .column("Cause", Kind.TEXT)
                .column("What to do", Kind.TEXT);
        for (SessionStatus session : all) {
            session.holds()
                    .forEach(hold -> table.row(hold.what(), session.info().getName(), hold.cause(), hold.remedy()));
        }
    }

    private void errors(StatusDocument document) {
        StatusDocument.Table table = document.table(
                        "Errors of the last 15 minutes",
                        "Failed calls, refused work, and errors that ended connections. Equal errors are counted.",
                        "There was no error.")
                .column("Where", Kind.TEXT)
                .column("Last", Kind.AGE)
                .column("Number", Kind.NUMBER)
                .column("Session", Kind.TEXT)
                .column("Status", Kind.STATE)
                .column("What happened", Kind.TEXT)
                .column("Advice", Kind.TEXT);
        errors.list().forEach(entry -> {
            RecentErrors.Failure failure = entry.event();
            table.row(
                    failure.where(),
                    entry.last().toEpochMilli(),
                    entry.count(),
                    failure.session(),
                    new State(failure.status().name(), Tone.BAD),
                    failure.message(),
                    failure.advice());
        });
    }

    private static void regions(StatusDocument document, List<SessionStatus> all) {
        StatusDocument.Table table = document.table("Regions", "", "No region is registered.")
                .column("Region", Kind.TEXT)
                .column("Session", Kind.TEXT)
                .column("State", Kind.STATE)
                .column("Backing", Kind.TEXT)
                .column("Length", Kind.BYTES)
                .column("Access", Kind.TEXT);
        all.stream()
                .flatMap(session -> session.regions().stream())
                .sorted(Comparator.comparingLong(Region::getId))
                .forEach(region -> table.row(
                        Long.toString(region.getId()),
                        region.getSessionName(),
                        state(region.getState()),
                        backing(region),
                        region.getLength(),
                        region.getAccessList().stream()
                                .map(access -> words("ACCESS_", access))
                                .collect(Collectors.joining(", "))));
    }

    private static String backing(Region region) {
        if (region.getProcessMemory()) {
            return "memory of a process";
        }
        return region.getPath().isEmpty() ? "managed by the sidecar" : "shared file " + region.getPath();
    }

    private static State state(RegionState state) {
        return new State(
                words("REGION_STATE_", state),
                switch (state) {
                    case REGION_STATE_VALID -> Tone.GOOD;
                    case REGION_STATE_INVALIDATED -> Tone.WAIT;
                    case REGION_STATE_FAULTED -> Tone.BAD;
                    case REGION_STATE_UNSPECIFIED, UNRECOGNIZED -> Tone.PLAIN;
                });
    }

    private static void sessions(StatusDocument document, List<SessionStatus> all) {
        StatusDocument.Table table = document.table("Sessions", "", "No session is open.")
                .column("Session", Kind.TEXT)
                .column("User", Kind.TEXT)
                .column("Connections", Kind.NUMBER)
                .column("Listeners", Kind.NUMBER)
                .column("Regions", Kind.NUMBER)
                .column("Shared receive queues", Kind.NUMBER)
                .column("Registered memory", Kind.BYTES);
        for (SessionStatus session : all) {
            SessionInfo info = session.info();
            table.row(
                    info.getName(),
                    info.getUid() < 0 ? "unknown" : Long.toString(info.getUid()),
                    info.getConnections(),
                    info.getListeners(),
                    info.getRegions(),
                    info.getSharedReceiveQueues(),
                    info.getRegisteredOctets());
        }
    }

    /** Returns a constant of the API in plain words, without its prefix. */
    private static String words(String prefix, Enum<?> constant) {
        return constant.name().replaceFirst(prefix, "").toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
