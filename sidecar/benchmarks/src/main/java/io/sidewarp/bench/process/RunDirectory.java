// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Directory for logs and other files of a run. It is deleted at the end of this process, even if the process is
 * interrupted.
 */
public final class RunDirectory {

    private final Path path;

    private RunDirectory(Path path) {
        this.path = path;
    }

    /** Makes a directory. */
    public static RunDirectory create() throws IOException {
        Path path = Files.createTempDirectory("sidewarp-bench-");
        Children.adopt(path, () -> Trees.delete(path));
        return new RunDirectory(path);
    }

    public Path path() {
        return path;
    }

    /** Returns whether a signal told this process to end. Later failures are then consequences of the signal. */
    public static boolean isRunEnding() {
        return Children.areEnding();
    }

    /** Keeps the directory after a failure, since its logs explain the failure. */
    public void keep() {
        Children.forget(path);
    }
}
