// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.Status;
import io.sidewarp.v1.DeregisterRegionRequest;
import io.sidewarp.v1.ManagedBacking;
import io.sidewarp.v1.MemoryServiceGrpc;
import io.sidewarp.v1.RegisterRegionRequest;
import io.sidewarp.v1.SharedBacking;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Registers regions for a session, and finds their files in this process' view of the shared volume. */
final class Regions {

    private static final System.Logger LOG = System.getLogger(Regions.class.getName());

    private final GrpcSession session;
    private final GrpcClient client;
    private volatile long pageSize;

    /** What is mapped in this process, for the end of the session. */
    private final Set<MappedRegion> mapped = ConcurrentHashMap.newKeySet();

    Regions(GrpcSession session, GrpcClient client) {
        this.session = session;
        this.client = client;
    }

    SharedRegion share(String path, long offset, long length, boolean create, RegionOptions options) {
        SharedBacking backing = SharedBacking.newBuilder()
                .setPath(path)
                .setOffset(offset)
                .setLength(length)
                .setCreate(create)
                .build();
        io.sidewarp.v1.Region region = register(request(options).setShared(backing));
        try {
            MappedRegion shared = MappedRegion.map(this, region, offset, locate(path), pageSize());
            mapped.add(shared);
            return shared;
        } catch (IOException | RuntimeException e) {
            SidewarpException failure = e instanceof SidewarpException refused
                    ? refused
                    : new SidewarpException(
                            Status.Code.FAILED_PRECONDITION,
                            "the sidecar registered \"" + path + "\", but this process cannot map it: "
                                    + e.getMessage(),
                            null,
                            e);
            try {
                deregister(region.getId());
            } catch (SidewarpException kept) {
                failure.addSuppressed(kept);
            }
            throw failure;
        }
    }

    /** Octets in a page of the shared volume, which stays the same as long as the session. */
    private long pageSize() {
        if (pageSize == 0) {
            pageSize = Math.max(1, client.device().getPageSize());
        }
        return pageSize;
    }

    ManagedRegion manage(long length, RegionOptions options) {
        return new StoredRegion(
                this,
                register(request(options).setManaged(ManagedBacking.newBuilder().setLength(length))));
    }

    GrpcSession session() {
        return session;
    }

    GrpcClient client() {
        return client;
    }

    void unmapped(MappedRegion region) {
        mapped.remove(region);
    }

    /** Unmaps what nobody closed, but for what I/O uses now. */
    void unmapAll() {
        for (MappedRegion region : mapped) {
            try {
                region.unmap();
            } catch (IllegalStateException e) {
                LOG.log(Level.WARNING, "a session was closed while its memory was in use", e);
            }
        }
    }

    /** Deregisters. Nothing is left to do when the region or its session is gone. */
    void deregister(long id) {
        if (session.isEnded()) {
            return;
        }
        try {
            CallFuture.release(session.start(
                    MemoryServiceGrpc.getDeregisterRegionMethod(),
                    DeregisterRegionRequest.newBuilder()
                            .setSession(session.id())
                            .setRegion(id)
                            .build(),
                    session.timeLimited()));
        } catch (SidewarpException e) {
            if (e.code() != Status.Code.NOT_FOUND && !session.isEnded()) {
                throw e;
            }
        }
    }

    private RegisterRegionRequest.Builder request(RegionOptions options) {
        RegisterRegionRequest.Builder request = RegisterRegionRequest.newBuilder()
                .setSession(session.id())
                .setProtectionDomain(options.protectionDomain())
                .setConnection(options.connection())
                .setBaseTaggedOffset(options.baseTaggedOffset());
        options.access().forEach(access -> request.addAccess(access.toProto()));
        return request;
    }

    private io.sidewarp.v1.Region register(RegisterRegionRequest.Builder request) {
        return CallFuture.await(session.start(
                        MemoryServiceGrpc.getRegisterRegionMethod(), request.build(), session.timeLimited()))
                .getRegion();
    }

    /**
     * The file of a registered region, as this process sees it. Without a configured volume it is looked for at the
     * usual place, then at the sidecar's own path.
     */
    private Path locate(String path) {
        Path volume = client.options().sharedVolume().orElse(Path.of(ClientOptions.DEFAULT_VOLUME));
        if (Files.exists(volume.resolve(path))) {
            return volume.resolve(path);
        }
        String own = client.device().getSharedVolume();
        if (client.options().sharedVolume().isEmpty()
                && !own.isEmpty()
                && Files.exists(Path.of(own).resolve(path))) {
            return Path.of(own).resolve(path);
        }
        List<String> missing = client.options().sharedVolume().isPresent() || own.isEmpty()
                ? List.of(volume.toString())
                : List.of(volume.toString(), own);
        throw new SidewarpException(
                Status.Code.FAILED_PRECONDITION,
                "the sidecar's shared volume is not mounted in this process: there is no file \"" + path + "\" in "
                        + String.join(" or in ", missing) + "; mount the volume that the sidecar mounts at " + own
                        + ", and set SIDEWARP_VOLUME to where",
                null,
                null);
    }
}
