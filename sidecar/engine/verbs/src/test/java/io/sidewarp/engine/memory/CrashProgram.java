// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import io.sidewarp.engine.memory.SharedVolume.Holder;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

/**
 * Creates files in a shared volume and dies, so that the files remain. Each file begins with {@value #CONTENT}.
 *
 * <p>Arguments: the volume, then user, path and length of each file.
 */
final class CrashProgram {

    static final byte CONTENT = 42;

    private CrashProgram() {}

    public static void main(String[] arguments) {
        SharedVolume volume = new SharedVolume(Path.of(arguments[0]));
        for (int i = 1; i < arguments.length; i += 3) {
            Holder holder = new Holder(Long.parseLong(arguments[i]), "a region that died");
            volume.open(
                            arguments[i + 1],
                            0,
                            Long.parseLong(arguments[i + 2]),
                            RegionFileMode.MUST_BE_NEW,
                            holder,
                            (length, access) -> {})
                    .segment()
                    .set(ValueLayout.JAVA_BYTE, 0, CONTENT);
        }
        Runtime.getRuntime().halt(0);
    }
}
