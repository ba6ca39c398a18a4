// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import io.sidewarp.engine.memory.SharedVolume.Admission;
import io.sidewarp.engine.memory.SharedVolume.Holder;

/** Opens or creates files of a shared volume for an unknown user. */
final class TestVolume {

    private static final Holder NOBODY = new Holder(-1, "a region");

    private TestVolume() {}

    static SharedBacking open(SharedVolume volume, String path, long offset, long length, boolean create) {
        return open(volume, path, offset, length, create, (octets, access) -> {});
    }

    static SharedBacking open(
            SharedVolume volume, String path, long offset, long length, boolean create, Admission admission) {
        RegionFileMode mode = create ? RegionFileMode.MUST_BE_NEW : RegionFileMode.NONE;
        return volume.open(path, offset, length, mode, NOBODY, admission);
    }
}
