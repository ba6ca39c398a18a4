// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import io.grpc.Status;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.memory.SessionRegion;
import io.sidewarp.service.session.SidecarSession;
import java.lang.foreign.MemorySegment;

/** Checks and copies for Store and Load on a managed region. Runs on the session's thread. */
record ManagedAccess(SessionRegion region) {

    /** Finds the region. Checks that it is managed and that the offset is inside it. */
    static ManagedAccess of(SidecarSession session, long id, long offset) {
        SessionRegion region = session.memory().require(id);
        if (region.region().isOfProcess()) {
            throw ApiError.of(
                    Status.Code.UNIMPLEMENTED,
                    "region " + id + " is memory of a process, which accesses it directly;"
                            + " Store and Load are for managed regions");
        }
        if (!region.managed()) {
            throw ApiError.state(
                    "region " + id + " is the shared file " + region.region().path()
                            + "; map that file and access it directly, Store and Load are for managed regions");
        }
        ManagedAccess access = new ManagedAccess(region);
        access.check(offset, 0);
        return access;
    }

    long length() {
        return region.region().length();
    }

    void store(long offset, MemorySegment data) {
        check(offset, data.byteSize());
        copy(data, 0, region.region().segment(), offset, data.byteSize());
    }

    byte[] load(long offset, int length) {
        check(offset, length);
        byte[] data = new byte[length];
        copy(region.region().segment(), offset, MemorySegment.ofArray(data), 0, length);
        return data;
    }

    /** Checks that a range is inside the region. Both values are unsigned. */
    void check(long offset, long length) {
        long total = length();
        if (Long.compareUnsigned(offset, total) > 0) {
            throw ApiError.of(
                    Status.Code.OUT_OF_RANGE,
                    "offset " + Long.toUnsignedString(offset) + " is outside of region " + region.id() + ", which has "
                            + total + " bytes");
        }
        if (Long.compareUnsigned(length, total - offset) > 0) {
            throw ApiError.of(
                    Status.Code.OUT_OF_RANGE,
                    "offset " + Long.toUnsignedString(offset) + " and length " + Long.toUnsignedString(length)
                            + " are outside of region " + region.id() + ", which has " + total + " bytes");
        }
    }

    private void copy(MemorySegment source, long from, MemorySegment target, long to, long length) {
        try {
            MemorySegment.copy(source, from, target, to, length);
        } catch (IllegalStateException e) {
            throw ApiError.state("region " + region.id()
                    + " was deregistered during the call; register it again, and keep it during Store or Load");
        }
    }
}
