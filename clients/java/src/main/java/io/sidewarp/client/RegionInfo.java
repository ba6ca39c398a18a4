// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.List;

/**
 * A memory region as the sidecar described it at one time.
 *
 * @param id {@link Region#id()}
 * @param sessionName name of the session that owns the region
 * @param stag steering tag at that time
 * @param baseTaggedOffset tagged offset of the first byte; unsigned
 * @param length bytes
 * @param access access rights
 * @param protectionDomain the sidecar's number of the protection domain
 * @param connection {@link Connection#id()} of the only connection that may use the region; 0 for all connections of
 *     the protection domain
 * @param peerIdentity SPIFFE ID that the peer of a connection must have to use the region; empty for every peer
 * @param path path in the shared volume; empty for a managed region and for memory of a process
 * @param fileExisted whether the shared file existed before the registration and therefore has content
 * @param processMemory whether the region is memory that a process already had
 * @param state state at that time
 */
public record RegionInfo(
        long id,
        String sessionName,
        int stag,
        long baseTaggedOffset,
        long length,
        List<Access> access,
        long protectionDomain,
        long connection,
        String peerIdentity,
        String path,
        boolean fileExisted,
        boolean processMemory,
        State state) {

    /** State of a region. */
    public enum State {
        VALID,
        /**
         * STag is invalid, because of a Send with Invalidate of the peer or of {@link WorkRequest#invalidate}.
         * {@link WorkRequest#enable} makes the region valid again.
         */
        INVALIDATED,
        /** Backing failed, for example because the shared file was truncated. */
        FAULTED,
        /** State that a newer sidecar knows and this client does not. */
        UNKNOWN
    }
}
