// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.memory;

import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.memory.ProcessMemory;
import io.sidewarp.engine.memory.RegionAttributes;
import io.sidewarp.engine.memory.RegionFileMode;
import io.sidewarp.engine.verbs.SpiffeId;
import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.v1.RegisterRegionRequest;
import io.sidewarp.v1.SharedBacking;
import java.util.EnumSet;
import java.util.Set;

/**
 * Plan of a region registration. The request has passed all checks that need no access to memory.
 *
 * @param queuePair number of the only queue pair that may use the region, or 0 for any
 * @param connection API id of the only connection that may use the region, or 0 for any
 */
public record RegionPlan(Pd domain, RegionAttributes attributes, long queuePair, long connection, Backing backing) {

    /** Source of the memory. */
    public sealed interface Backing {}

    /** File of the shared volume. Length 0 means up to the end of the file. */
    public record Shared(String path, long offset, long length, RegionFileMode mode) implements Backing {}

    /** Memory that the sidecar allocates. */
    public record Managed(long length) implements Backing {}

    /**
     * Memory of another process.
     *
     * @param address virtual address in the process
     */
    public record OfProcess(ProcessMemory memory, long address, long length) implements Backing {}

    /** Checks a request, and returns its plan. */
    public static RegionPlan of(RegisterRegionRequest request, Pd domain, long queuePair, SessionContext context) {
        RegionAttributes attributes = attributes(request);
        Backing backing = switch (request.getBackingCase()) {
            case SHARED -> shared(request, context.sharedVolume().isPresent());
            case MANAGED -> managed(request, context);
            case BACKING_NOT_SET -> throw ApiError.invalid("backing is not set; set shared or managed");
        };
        return new RegionPlan(domain, attributes, queuePair, request.getConnection(), backing);
    }

    /**
     * Checks a request, and returns its plan.
     *
     * @param backing memory of the region, in place of that of the request
     */
    public static RegionPlan of(RegisterRegionRequest request, Pd domain, long queuePair, Backing backing) {
        return new RegionPlan(domain, attributes(request), queuePair, request.getConnection(), backing);
    }

    private static RegionAttributes attributes(RegisterRegionRequest request) {
        Set<AccessRight> rights = EnumSet.noneOf(AccessRight.class);
        for (int i = 0; i < request.getAccessCount(); i++) {
            SessionRegion.addRight(rights, request.getAccess(i), request.getAccessValue(i));
        }
        if (rights.contains(AccessRight.REMOTE_INVALIDATE) && request.getConnection() == 0) {
            throw ApiError.invalid(
                    "access contains ACCESS_REMOTE_INVALIDATE, which requires a region of one connection; "
                            + "set connection, or remove the right");
        }
        String peer = request.getPeerIdentity();
        if (!peer.isEmpty() && SpiffeId.parse(peer).isEmpty()) {
            throw ApiError.invalid("peer_identity", peer, "a SPIFFE ID such as spiffe://example.org/ns/shop/sa/cart");
        }
        return new RegionAttributes(rights, request.getBaseTaggedOffset(), peer);
    }

    private static Backing shared(RegisterRegionRequest request, boolean sharedVolume) {
        if (!sharedVolume) {
            throw ApiError.state("setting sidewarp.shared-volume is empty, which disables shared regions; use managed");
        }
        return new Shared(
                request.getShared().getPath(),
                request.getShared().getOffset(),
                request.getShared().getLength(),
                mode(request.getShared()));
    }

    private static RegionFileMode mode(SharedBacking backing) {
        RegionFileMode mode = switch (backing.getCreateMode()) {
            case CREATE_MODE_UNSPECIFIED -> backing.getCreate() ? RegionFileMode.MUST_BE_NEW : RegionFileMode.NONE;
            case CREATE_MODE_MUST_BE_NEW -> RegionFileMode.MUST_BE_NEW;
            case CREATE_MODE_OPEN_OR_CREATE -> RegionFileMode.OPEN_OR_CREATE;
            case CREATE_MODE_REPLACE -> RegionFileMode.REPLACE;
            case UNRECOGNIZED ->
                throw ApiError.invalid(
                        "shared.create_mode",
                        backing.getCreateModeValue(),
                        "CREATE_MODE_MUST_BE_NEW, _OPEN_OR_CREATE, _REPLACE");
        };
        if (backing.getCreate() && mode != RegionFileMode.MUST_BE_NEW) {
            throw ApiError.invalid("shared.create is set, which contradicts shared.create_mode "
                    + backing.getCreateMode() + "; set one of them");
        }
        return mode;
    }

    private static Backing managed(RegisterRegionRequest request, SessionContext context) {
        long length = request.getManaged().getLength();
        if (length == 0) {
            throw ApiError.invalid(
                    "managed.length", 0, "1 to " + context.config().limits().managedRegionOctets());
        }
        context.requests().managedRegionOctets().check("managed.length", length);
        return new Managed(length);
    }
}
