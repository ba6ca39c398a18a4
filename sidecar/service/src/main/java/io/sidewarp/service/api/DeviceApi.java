// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoop;
import io.sidewarp.engine.verbs.DeviceAttributes;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.peer.Peer;
import io.sidewarp.service.session.SidecarSession;
import io.sidewarp.settings.SidewarpConfig;
import io.sidewarp.v1.Capability;
import io.sidewarp.v1.CloseSessionRequest;
import io.sidewarp.v1.CloseSessionResponse;
import io.sidewarp.v1.DeviceInfo;
import io.sidewarp.v1.DeviceServiceGrpc;
import io.sidewarp.v1.GetDeviceRequest;
import io.sidewarp.v1.GetDeviceResponse;
import io.sidewarp.v1.ListSessionsRequest;
import io.sidewarp.v1.ListSessionsResponse;
import io.sidewarp.v1.Llp;
import io.sidewarp.v1.OpenSessionRequest;
import io.sidewarp.v1.OpenSessionResponse;
import java.time.Duration;
import java.util.Objects;

/** Implements DeviceService. */
final class DeviceApi extends DeviceServiceGrpc.DeviceServiceImplBase {

    private static final Duration DEFAULT_GRACE = Duration.ofSeconds(10);
    /** Maximum grace time, equal to the longest set-up time. */
    private static final long MAX_GRACE_SECONDS = 3600;

    private static final int MAX_NANOS = 999_999_999;

    private final Calls calls;
    private final DeviceInfo info;

    DeviceApi(Calls calls, SidewarpConfig config, String version) {
        this.calls = calls;
        DeviceAttributes device = calls.registry().device().attributes();
        DeviceInfo.Builder builder = DeviceInfo.newBuilder()
                .setProvider(device.provider())
                .setVersion(version)
                .setSharedVolume(config.sharedVolume().orElse(""))
                .setLimits(calls.registry().limits().toProto())
                .setPageSize(calls.registry().pageSize());
        for (io.sidewarp.engine.verbs.Llp llp : io.sidewarp.engine.verbs.Llp.values()) {
            if (device.llps().contains(llp)) {
                builder.addLlps(llp == io.sidewarp.engine.verbs.Llp.TCP ? Llp.LLP_TCP : Llp.LLP_SCTP);
            }
        }
        if (device.extensions()) {
            builder.addCapabilities(Capability.CAPABILITY_IMMEDIATE_DATA)
                    .addCapabilities(Capability.CAPABILITY_ATOMIC_OPERATIONS);
        }
        this.info = builder.build();
    }

    @Override
    public void getDevice(GetDeviceRequest request, StreamObserver<GetDeviceResponse> observer) {
        observer.onNext(GetDeviceResponse.newBuilder().setDevice(info).build());
        observer.onCompleted();
    }

    @Override
    public void openSession(OpenSessionRequest request, StreamObserver<OpenSessionResponse> observer) {
        try {
            EventLoop loop = Objects.requireNonNull(Peer.LOOP_CONTEXT.get(), "the transport has no event loop");
            ServerCallStreamObserver<OpenSessionResponse> call =
                    (ServerCallStreamObserver<OpenSessionResponse>) observer;
            SidecarSession session =
                    calls.registry().open(request.getName(), Peer.CONTEXT.get(), loop, new GrpcResponses<>(call));
            call.setOnCancelHandler(() -> calls.registry().left(session));
            call.setOnReadyHandler(session::flush);
        } catch (RuntimeException e) {
            calls.fail(observer, e);
        }
    }

    @Override
    public void closeSession(CloseSessionRequest request, StreamObserver<CloseSessionResponse> observer) {
        calls.unary(
                request.getSession(),
                observer,
                session -> calls.registry()
                        .close(session, request.hasGrace() ? grace(request.getGrace()) : DEFAULT_GRACE)
                        .thenApply(ignored -> CloseSessionResponse.getDefaultInstance()));
    }

    private static Duration grace(com.google.protobuf.Duration wanted) {
        if (wanted.getSeconds() < 0
                || wanted.getSeconds() > MAX_GRACE_SECONDS
                || wanted.getNanos() < 0
                || wanted.getNanos() > MAX_NANOS) {
            throw ApiError.invalid(
                    "grace",
                    wanted.getSeconds() + " s and " + wanted.getNanos() + " ns",
                    "0 s to " + MAX_GRACE_SECONDS + " s, with nanos 0 to 999999999");
        }
        return Duration.ofSeconds(wanted.getSeconds(), wanted.getNanos());
    }

    @Override
    public void listSessions(ListSessionsRequest request, StreamObserver<ListSessionsResponse> observer) {
        calls.answer(
                observer,
                calls.registry()
                        .collect(Peer.CONTEXT.get(), SidecarSession::info)
                        .thenApply(sessions -> ListSessionsResponse.newBuilder()
                                .addAllSessions(sessions)
                                .build()));
    }
}
