// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Permissions of files as the nine bits of a mode, {@code rwxrwxrwx}. The sticky and set-id bits are never copied. */
final class Permissions {

    /** Stands for the permissions that new files have. */
    static final int DEFAULT = 0xFFFF;

    /** All permissions of the owner, which are needed to fill a directory. */
    static final int OWNER = 0700;

    static final int ALL = 0777;

    private static final int LAST_BIT = 8;

    private Permissions() {}

    static int mode(Set<PosixFilePermission> permissions) {
        return permissions.stream().mapToInt(Permissions::bit).sum();
    }

    static Set<PosixFilePermission> of(int mode) {
        return Stream.of(PosixFilePermission.values())
                .filter(permission -> (mode & bit(permission)) != 0)
                .collect(Collectors.toSet());
    }

    /** Returns what creates a file or directory with these permissions, less those that the umask takes away. */
    static FileAttribute<?>[] attributes(int mode) {
        return mode == DEFAULT
                ? new FileAttribute<?>[0]
                : new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(of(mode))};
    }

    private static int bit(PosixFilePermission permission) {
        return 1 << LAST_BIT - permission.ordinal();
    }
}
