// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthGrpc;
import io.sidewarp.v1.ConnectionServiceGrpc;
import io.sidewarp.v1.DeviceServiceGrpc;
import io.sidewarp.v1.GetDeviceRequest;
import io.sidewarp.v1.ListAssociationsRequest;
import io.sidewarp.v1.ListConnectionsRequest;
import io.sidewarp.v1.ListRegionsRequest;
import io.sidewarp.v1.ListSessionsRequest;
import io.sidewarp.v1.MemoryServiceGrpc;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** A client over gRPC. */
final class GrpcClient implements SidewarpClient {

    private static final long HEALTH_CALL_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final long SHORTEST_PAUSE_MILLIS = 20;
    private static final long LONGEST_PAUSE_MILLIS = 250;

    private final ClientOptions options;
    private final Transport transport;
    private final Set<GrpcSession> sessions = ConcurrentHashMap.newKeySet();

    /** Shared regions of all sessions, including lost sessions, until they are unmapped. */
    private final Set<MappedRegion> mapped = ConcurrentHashMap.newKeySet();

    GrpcClient(ClientOptions options) {
        this.options = options;
        transport = new Transport(Target.parse(options.target()));
    }

    ClientOptions options() {
        return options;
    }

    Transport transport() {
        return transport;
    }

    void mapped(MappedRegion region) {
        mapped.add(region);
    }

    void unmapped(MappedRegion region) {
        mapped.remove(region);
    }

    /** Returns the regions that are mapped for a session. */
    List<MappedRegion> mappedRegions(Regions regions) {
        return mapped.stream().filter(region -> region.regions() == regions).toList();
    }

    /** Returns the regions of a path that are still mapped for lost sessions. */
    List<MappedRegion> lostRegions(String path) {
        return mapped.stream()
                .filter(region -> region.path().equals(path))
                .filter(region -> region.regions().session().isEnded())
                .toList();
    }

    @Override
    public String target() {
        return options.target();
    }

    @Override
    public RdmaDeviceInfo device() {
        return Descriptions.device(call(DeviceServiceGrpc.getGetDeviceMethod(), GetDeviceRequest.getDefaultInstance())
                .getDevice());
    }

    @Override
    public List<OpenSessionInfo> listSessions() {
        return call(DeviceServiceGrpc.getListSessionsMethod(), ListSessionsRequest.getDefaultInstance())
                .getSessionsList()
                .stream()
                .map(Descriptions::session)
                .toList();
    }

    @Override
    public List<ConnectionInfo> listConnections() {
        return call(ConnectionServiceGrpc.getListConnectionsMethod(), ListConnectionsRequest.getDefaultInstance())
                .getConnectionsList()
                .stream()
                .map(Descriptions::connection)
                .toList();
    }

    @Override
    public List<AssociationInfo> listAssociations() {
        return call(ConnectionServiceGrpc.getListAssociationsMethod(), ListAssociationsRequest.getDefaultInstance())
                .getAssociationsList()
                .stream()
                .map(Descriptions::association)
                .toList();
    }

    @Override
    public List<RegionInfo> listRegions() {
        return call(MemoryServiceGrpc.getListRegionsMethod(), ListRegionsRequest.getDefaultInstance())
                .getRegionsList()
                .stream()
                .map(Descriptions::region)
                .toList();
    }

    @Override
    public Session openSession(String name) {
        transport.connectNow();
        GrpcSession session = new GrpcSession(this, name, sessions::remove);
        sessions.add(session);
        try {
            session.open();
        } catch (RuntimeException e) {
            sessions.remove(session);
            throw e;
        }
        return session;
    }

    @Override
    public void awaitReady(Duration timeout) {
        Transport.checkMayBlock();
        long deadline = System.nanoTime() + Durations.nanos(timeout);
        long pause = SHORTEST_PAUSE_MILLIS;
        String seen = "no answer";
        while (true) {
            seen = health(deadline, seen);
            if (seen.isEmpty()) {
                return;
            }
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (left <= 0) {
                throw new SidewarpException(
                        Status.Code.DEADLINE_EXCEEDED,
                        "the sidecar was not ready within " + Durations.text(timeout) + ": " + seen);
            }
            sleep(Math.min(pause, left));
            pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
        }
    }

    @Override
    public void close() {
        SidewarpException loss = null;
        for (GrpcSession session : sessions) {
            try {
                session.close();
            } catch (SidewarpException e) {
                if (loss == null) {
                    loss = e;
                } else {
                    loss.addSuppressed(e);
                }
            }
        }
        transport.close();
        if (loss != null) {
            throw loss;
        }
    }

    /**
     * Returns the reason why the sidecar does not serve; empty if it serves.
     *
     * @param before previous reason, which is still the best one if there is no answer in time
     */
    private String health(long deadline, String before) {
        transport.connectNow();
        long patience = Math.clamp(deadline - System.nanoTime(), 1, HEALTH_CALL_NANOS);
        try {
            HealthCheckResponse response = CallFuture.await(CallFuture.start(
                    transport,
                    target(),
                    HealthGrpc.getCheckMethod(),
                    HealthCheckRequest.getDefaultInstance(),
                    CallOptions.DEFAULT.withDeadlineAfter(patience, TimeUnit.NANOSECONDS)));
            return response.getStatus() == HealthCheckResponse.ServingStatus.SERVING
                    ? ""
                    : "its health is " + response.getStatus();
        } catch (SidewarpException e) {
            return switch (e.code()) {
                case UNAVAILABLE -> e.getMessage();
                case DEADLINE_EXCEEDED -> before;
                default -> throw e;
            };
        }
    }

    private <Q, R> R call(MethodDescriptor<Q, R> method, Q request) {
        transport.connectNow();
        return CallFuture.await(CallFuture.start(transport, target(), method, request, timeLimited(options)));
    }

    /** Returns the options of calls that do not wait for a peer. */
    static CallOptions timeLimited(ClientOptions options) {
        return CallOptions.DEFAULT.withDeadlineAfter(Durations.nanos(options.callTimeout()), TimeUnit.NANOSECONDS);
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw Errors.interrupted(e);
        }
    }
}
