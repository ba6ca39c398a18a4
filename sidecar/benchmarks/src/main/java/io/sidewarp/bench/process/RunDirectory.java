// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Where the logs and other files of a run are. It goes with this process, also when that is interrupted. */
public final class RunDirectory {

    private final Path path;

    private RunDirectory(Path path) {
        this.path = path;
    }

    /** Makes one. */
    public static RunDirectory create() throws IOException {
        Path path = Files.createTempDirectory("sidewarp-bench-");
        Children.adopt(path, () -> Trees.delete(path));
        return new RunDirectory(path);
    }

    public Path path() {
        return path;
    }

    /** Whether this process was told to end by a signal: what fails then has no other cause. */
    public static boolean isRunEnding() {
        return Children.areEnding();
    }

    /** Something failed, and logs tell what: it stays. */
    public void keep() {
        Children.forget(path);
    }
}
