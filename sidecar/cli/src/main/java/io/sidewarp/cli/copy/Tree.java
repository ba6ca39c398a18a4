// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import java.io.IOException;

/** A directory and all that is below it, here or at a server. Names are relative to this directory. */
interface Tree {

    /** Returns the content of a directory, without following symbolic links. */
    DirectoryListing list(FileName directory) throws IOException;

    /**
     * Makes a directory, unless it is there.
     *
     * @param mode permissions of a new directory, less those that the umask takes away
     * @return whether the directory is new
     */
    boolean makeDirectory(FileName directory, int mode) throws IOException;

    /** Takes all permissions from a directory that the mode does not have. */
    void restrict(FileName directory, int mode) throws IOException;

    /** Returns the place of a file or directory, for people. */
    String describe(FileName name);
}
