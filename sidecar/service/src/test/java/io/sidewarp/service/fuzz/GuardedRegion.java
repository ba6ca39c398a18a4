// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.fuzz;

import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.RegisterRegionRequest;
import io.sidewarp.v1.SharedBacking;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** A region in the middle of a file that is filled with a pattern, so that writes beside the region show. */
final class GuardedRegion implements AutoCloseable {

    /** Bytes of the region; the rest of its page is mapped and must not change. */
    static final int LENGTH = 1000;

    private static final int PAGE = 4096;
    private static final byte PATTERN = (byte) 0xA5;

    private final Path path;
    private final Region region;
    private final boolean writable;

    /** @param writable whether work may write into the region */
    GuardedRegion(TestSidecar sidecar, TestSession session, String name, boolean writable, Access... access) {
        this.writable = writable;
        path = sidecar.sharedVolume().resolve(name);
        byte[] content = new byte[3 * PAGE];
        Arrays.fill(content, PATTERN);
        try {
            Files.write(path, content);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        region = session.memory()
                .registerRegion(RegisterRegionRequest.newBuilder()
                        .setSession(session.token())
                        .addAllAccess(List.of(access))
                        .setShared(SharedBacking.newBuilder()
                                .setPath(name)
                                .setOffset(PAGE)
                                .setLength(LENGTH))
                        .build())
                .getRegion();
    }

    Region region() {
        return region;
    }

    void check() {
        byte[] content;
        try {
            content = Files.readAllBytes(path);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        for (int i = 0; i < 3 * PAGE; i++) {
            boolean inside = i >= PAGE && i < PAGE + LENGTH;
            if (content[i] != PATTERN && !(inside && writable)) {
                throw new AssertionError(path.getFileName() + " changed at byte " + (i - PAGE)
                        + (writable ? ", outside of its region" : ", and nothing may write there"));
            }
        }
    }

    @Override
    public void close() {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
