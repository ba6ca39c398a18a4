// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import java.io.IOException;
import java.nio.channels.WritableByteChannel;

/** A file that is written under another name, and gets its own name when it is complete. */
interface Target extends AutoCloseable {

    WritableByteChannel channel();

    /** Gives the file its name, and replaces a file that had this name. */
    void commit() throws IOException;

    /** Closes the file, and removes it unless it was committed. */
    @Override
    void close() throws IOException;
}
