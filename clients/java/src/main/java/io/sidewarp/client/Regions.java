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
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Registers regions for a session, and finds their files in this process' view of the shared volume. */
final class Regions {

    private static final System.Logger LOG = System.getLogger(Regions.class.getName());

    private final GrpcSession session;
    private final GrpcClient client;
    private volatile @Nullable RdmaDeviceInfo device;

    Regions(GrpcSession session, GrpcClient client) {
        this.session = session;
        this.client = client;
    }

    /**
     * Registers and maps a shared region.
     *
     * @param mode empty if the file must exist
     */
    SharedRegion share(String path, long offset, long length, Optional<CreateMode> mode, RegionOptions options) {
        SharedBacking.Builder backing =
                SharedBacking.newBuilder().setPath(path).setOffset(offset).setLength(length);
        mode.ifPresent(creation -> {
            if (creation == CreateMode.MUST_BE_NEW) {
                backing.setCreate(true);
            } else {
                backing.setCreateModeValue(Protos.number(creation));
            }
        });
        List<MappedRegion> lost = client.lostRegions(path);
        // Pages that this process maps stay charged to the volume, so unused mappings are removed first.
        lost.stream()
                .filter(region -> mode.equals(Optional.of(CreateMode.REPLACE)) || !isAtItsPath(region))
                .forEach(Regions::unmapQuietly);
        RegionInfo region = register(request(options).setShared(backing));
        try {
            MappedRegion shared = new MappedRegion(this, region, mapping(region, offset, locate(path), lost));
            client.mapped(shared);
            lost.forEach(Regions::unmapQuietly);
            return shared;
        } catch (IOException | RuntimeException e) {
            SidewarpException failure =
                    e instanceof SidewarpException refused ? refused : MappedRegion.failure(path, e);
            try {
                deregister(deregistration(region.id()).toBuilder()
                        .setKeepContent(true)
                        .build());
            } catch (SidewarpException kept) {
                failure.addSuppressed(kept);
            }
            throw failure;
        }
    }

    /** Returns the mapping of a lost region with the same part of the same file, or else a new mapping. */
    private Mapping mapping(RegionInfo region, long offset, Path file, List<MappedRegion> lost) throws IOException {
        for (MappedRegion before : lost) {
            Mapping mapping = before.mapping();
            if (mapping.isOf(file) && mapping.share(offset, region.length())) {
                return mapping;
            }
        }
        return Mapping.of(file, offset, region.length(), pageSize());
    }

    private boolean isAtItsPath(MappedRegion region) {
        return directories().stream().anyMatch(volume -> region.mapping().isOf(volume.resolve(region.path())));
    }

    /** Returns the page size of the shared volume in bytes. */
    private long pageSize() {
        return Math.max(1, device().pageSize());
    }

    /** Returns the sidecar's description, which does not change during the session. */
    private RdmaDeviceInfo device() {
        RdmaDeviceInfo known = device;
        if (known == null) {
            known = client.device();
            device = known;
        }
        return known;
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

    /** Unmaps regions that nobody closed, except those that I/O uses now. */
    void unmapAll() {
        client.mappedRegions(this).forEach(Regions::unmapQuietly);
    }

    private static void unmapQuietly(MappedRegion region) {
        try {
            region.unmap();
        } catch (IllegalStateException e) {
            LOG.log(Level.WARNING, "a region ended while its memory was in use", e);
        }
    }

    /** Deregisters a region. Does nothing if the region or its session is gone. */
    void deregister(long id) {
        deregister(deregistration(id));
    }

    private void deregister(DeregisterRegionRequest request) {
        if (session.isEnded()) {
            return;
        }
        try {
            CallFuture.release(
                    session.start(MemoryServiceGrpc.getDeregisterRegionMethod(), request, session.timeLimited()));
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
                .setBaseTaggedOffset(options.baseTaggedOffset())
                .setPeerIdentity(options.peerIdentity());
        options.access().forEach(access -> request.addAccessValue(Protos.number(access)));
        return request;
    }

    private RegionInfo register(RegisterRegionRequest.Builder request) {
        return Creation.create(
                session,
                MemoryServiceGrpc.getRegisterRegionMethod(),
                request.build(),
                "register a region",
                response -> Descriptions.region(response.getRegion()),
                region -> Creation.undo(
                        session,
                        MemoryServiceGrpc.getDeregisterRegionMethod(),
                        deregistration(region.id()).toBuilder()
                                .setKeepContent(true)
                                .build()));
    }

    private DeregisterRegionRequest deregistration(long id) {
        return DeregisterRegionRequest.newBuilder()
                .setSession(session.id())
                .setRegion(id)
                .build();
    }

    /**
     * Returns the file of a registered region in this process. Without a configured volume, the method looks at the
     * usual place, and then at the sidecar's own path.
     */
    Path locate(String path) {
        List<Path> directories = directories();
        return directories.stream()
                .map(volume -> volume.resolve(path))
                .filter(Files::exists)
                .findFirst()
                .orElseThrow(() -> new SidewarpException(
                        Status.Code.FAILED_PRECONDITION,
                        "the sidecar's shared volume is not mounted in this process: there is no file \"" + path
                                + "\" in "
                                + directories.stream().map(Path::toString).collect(Collectors.joining(" or in "))
                                + "; mount the volume that the sidecar mounts at "
                                + device().sharedVolume() + ", and set SIDEWARP_VOLUME to where",
                        null,
                        null));
    }

    /**
     * Checks that this process sees the shared volume.
     *
     * @throws SidewarpException FAILED_PRECONDITION if this process does not see the shared volume
     */
    void checkVolume() {
        List<Path> directories = directories();
        if (directories.stream().noneMatch(Files::isDirectory)) {
            throw RingErrors.noVolume(
                    directories.stream().map(Path::toString).collect(Collectors.joining(" and no ")),
                    device().sharedVolume());
        }
    }

    /** Returns the directories at which the volume may be mounted in this process. */
    private List<Path> directories() {
        if (client.options().sharedVolume().isPresent()) {
            return List.of(client.options().sharedVolume().get());
        }
        Path usual = Path.of(ClientOptions.DEFAULT_VOLUME);
        String own = device().sharedVolume();
        return own.isEmpty() ? List.of(usual) : List.of(usual, Path.of(own));
    }
}
