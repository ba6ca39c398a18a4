// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.memory;

import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.RegionState;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.quota.Grant;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.Region;
import java.util.Set;

/**
 * Region of a session.
 *
 * @param id unique id within the sidecar
 * @param connection the only connection that may use the region, or 0 for any
 * @param managed true if the memory belongs to the sidecar
 * @param existed true for a shared file that existed before
 * @param grant quotas that the region holds
 */
public record SessionRegion(
        long id, MemoryRegion region, long connection, boolean managed, boolean existed, Grant grant) {

    /** Converts the region to the form of the API. */
    public Region toProto(String sessionName) {
        Region.Builder builder = Region.newBuilder()
                .setId(id)
                .setStag(region.stag())
                .setBaseTaggedOffset(region.baseTaggedOffset())
                .setLength(region.length())
                .setProtectionDomain(region.protectionDomain().id())
                .setConnection(connection)
                .setPath(region.path())
                .setState(state(region.state()))
                .setSessionName(sessionName)
                .setFileExisted(existed)
                .setProcessMemory(region.isOfProcess())
                .setPeerIdentity(region.peer());
        for (AccessRight right : AccessRight.values()) {
            if (region.access().contains(right)) {
                builder.addAccess(access(right));
            }
        }
        return builder.build();
    }

    /**
     * Adds the engine's right for a right of the API.
     *
     * @param value numeric value of {@code access}, for the message about an unknown one
     */
    static void addRight(Set<AccessRight> rights, Access access, int value) {
        switch (access) {
            case ACCESS_LOCAL_WRITE -> rights.add(AccessRight.LOCAL_WRITE);
            case ACCESS_REMOTE_READ -> rights.add(AccessRight.REMOTE_READ);
            case ACCESS_REMOTE_WRITE -> rights.add(AccessRight.REMOTE_WRITE);
            case ACCESS_REMOTE_INVALIDATE -> rights.add(AccessRight.REMOTE_INVALIDATE);
            case ACCESS_REMOTE_ATOMIC -> rights.add(AccessRight.REMOTE_ATOMIC);
            case ACCESS_UNSPECIFIED, UNRECOGNIZED ->
                throw ApiError.invalid(
                        "access",
                        value,
                        "ACCESS_LOCAL_WRITE, _REMOTE_READ, _REMOTE_WRITE, _REMOTE_INVALIDATE, _REMOTE_ATOMIC");
        }
    }

    private static Access access(AccessRight right) {
        return switch (right) {
            case LOCAL_WRITE -> Access.ACCESS_LOCAL_WRITE;
            case REMOTE_READ -> Access.ACCESS_REMOTE_READ;
            case REMOTE_WRITE -> Access.ACCESS_REMOTE_WRITE;
            case REMOTE_INVALIDATE -> Access.ACCESS_REMOTE_INVALIDATE;
            case REMOTE_ATOMIC -> Access.ACCESS_REMOTE_ATOMIC;
        };
    }

    private static io.sidewarp.v1.RegionState state(RegionState state) {
        return switch (state) {
            case VALID -> io.sidewarp.v1.RegionState.REGION_STATE_VALID;
            case INVALIDATED -> io.sidewarp.v1.RegionState.REGION_STATE_INVALIDATED;
            case FAULTED, DEREGISTERED -> io.sidewarp.v1.RegionState.REGION_STATE_FAULTED;
        };
    }
}
