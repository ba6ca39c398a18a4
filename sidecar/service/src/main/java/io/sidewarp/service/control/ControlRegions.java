// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.control;

import io.grpc.Status;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.ring.ControlRecord.RegionFields;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.memory.RegionPlan;
import io.sidewarp.service.session.SidecarSession;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.RegisterRegionRequest;
import io.sidewarp.v1.SharedBacking;
import java.util.concurrent.CompletableFuture;

/** Registers memory for a control socket. Confined to the session's thread. */
final class ControlRegions {

    private static final Access[] ACCESS = {
        Access.ACCESS_LOCAL_WRITE,
        Access.ACCESS_REMOTE_READ,
        Access.ACCESS_REMOTE_WRITE,
        Access.ACCESS_REMOTE_INVALIDATE,
        Access.ACCESS_REMOTE_ATOMIC
    };

    private final ControlHandler handler;
    private final SidecarSession session;

    ControlRegions(ControlHandler handler, SidecarSession session) {
        this.handler = handler;
        this.session = session;
    }

    /** Returns whether this sidecar takes memory of its clients' processes. */
    boolean takesProcessMemory() {
        return false;
    }

    /** Answers MEMORY, and waits for the descriptor. */
    void awaitDescriptor(long value) {
        throw ApiError.of(
                Status.Code.UNIMPLEMENTED, "this sidecar takes no memory of processes; register files of the volume");
    }

    /** Registers memory. */
    CompletableFuture<Region> register(RecordReader record) {
        RegisterRegionRequest request = request(record);
        Pd domain = session.memory().domain(request.getProtectionDomain());
        RegionPlan plan = RegionPlan.of(
                request, domain, session.connections().queuePair(request.getConnection(), domain), session.context());
        return session.memory()
                .register(plan, () -> !handler.isEnded())
                .thenApply(region -> region.toProto(session.context().name()));
    }

    private static RegisterRegionRequest request(RecordReader record) {
        RegisterRegionRequest.Builder request = RegisterRegionRequest.newBuilder()
                .setProtectionDomain(record.getLong(RegionFields.DOMAIN_OFFSET))
                .setBaseTaggedOffset(record.getLong(RegionFields.BASE_OFFSET))
                .setConnection(record.getLong(RegionFields.CONNECTION_OFFSET));
        int access = record.getInt(RegionFields.ACCESS_OFFSET);
        if (access >>> ACCESS.length != 0) {
            throw ApiError.invalid(
                    "access", Integer.toUnsignedString(access), "a sum of 1, 2, 4, 8 and 16, each at most once");
        }
        for (int bit = 0; bit < ACCESS.length; bit++) {
            if ((access & 1 << bit) != 0) {
                request.addAccess(ACCESS[bit]);
            }
        }
        int backing = record.getInt(RegionFields.BACKING_OFFSET);
        String path = record.getString("path", RegionFields.PATH_OFFSET, RegionFields.PATH_LENGTH);
        if (backing != RegionFields.BACKING_FILE) {
            throw ApiError.invalid("backing", Integer.toUnsignedString(backing), "2");
        }
        return request.setShared(SharedBacking.newBuilder()
                        .setPath(path)
                        .setOffset(record.getLong(RegionFields.START_OFFSET))
                        .setLength(record.getLong(RegionFields.LENGTH_OFFSET)))
                .build();
    }
}
