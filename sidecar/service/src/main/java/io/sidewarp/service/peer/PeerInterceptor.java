// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.sidewarp.service.error.ApiError;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/** Admits allowed peers. Puts the peer and its event loop into the context of the call. */
public final class PeerInterceptor implements ServerInterceptor {

    private final boolean restricted;
    private final Set<Long> allowedUids;
    private final Set<Long> allowedGids;

    /**
     * Creates an interceptor. Without both lists every user that can open the socket is admitted. Else a user must be
     * in the first list or its group in the second.
     */
    public PeerInterceptor(Optional<List<Long>> allowedUids, Optional<List<Long>> allowedGids) {
        this.restricted = allowedUids.isPresent() || allowedGids.isPresent();
        this.allowedUids = Set.copyOf(allowedUids.orElse(List.of()));
        this.allowedGids = Set.copyOf(allowedGids.orElse(List.of()));
    }

    /**
     * Checks that the peer may use the sidecar.
     *
     * @throws StatusRuntimeException PERMISSION_DENIED if it may not
     */
    public void require(Peer peer) {
        if (restricted && !allowedUids.contains(peer.uid()) && !allowedGids.contains(peer.gid())) {
            throw ApiError.of(
                    Status.Code.PERMISSION_DENIED,
                    "user " + peer.uid() + ", group " + peer.gid()
                            + " may not use this sidecar; add it to sidewarp.api.allowed-uids or -gids");
        }
    }

    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
        ApiConnection connection = Objects.requireNonNull(call.getAttributes().get(ApiConnection.ATTRIBUTE));
        Peer peer = connection.peer();
        try {
            require(peer);
        } catch (StatusRuntimeException e) {
            call.close(e.getStatus(), ApiError.trailers(e.getStatus()));
            return new ServerCall.Listener<>() {};
        }
        Context context =
                Context.current().withValue(Peer.CONTEXT, peer).withValue(Peer.LOOP_CONTEXT, connection.loop());
        return Contexts.interceptCall(context, call, headers, next);
    }
}
