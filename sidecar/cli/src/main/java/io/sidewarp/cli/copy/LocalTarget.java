// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.common.FailureText;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** A file of this user, to be written. */
final class LocalTarget implements FileTarget {

    private final Path file;
    private final Path temporary;
    private final FileChannel channel;

    /** @throws Failure when the file cannot be created */
    LocalTarget(Path named) throws IOException {
        file = replaceable(named);
        temporary =
                file.resolveSibling(FileTarget.temporaryName(file.getFileName().toString()));
        try {
            channel = FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        } catch (FileSystemException e) {
            throw new Failure(
                    ExitCode.CANNOT_CREATE,
                    "cannot create " + file + ": " + FailureText.reason(e)
                            + "; does the directory exist, and may you write there?",
                    e);
        }
    }

    /**
     * Returns the file to replace. For a link, this is the file that the link names. Directories and devices are never
     * replaced.
     */
    private static Path replaceable(Path named) {
        if (!Files.exists(named)) {
            return named;
        }
        if (!Files.isRegularFile(named)) {
            throw new Failure(
                    ExitCode.CANNOT_CREATE,
                    named + (Files.isDirectory(named) ? " is a directory" : " is not a regular file"));
        }
        try {
            return named.toRealPath();
        } catch (IOException e) {
            throw new Failure(ExitCode.CANNOT_CREATE, "cannot find what " + named + " links to", e);
        }
    }

    @Override
    public WritableByteChannel channel() {
        return channel;
    }

    @Override
    public void expect(long size) {
        Path directory = file.toAbsolutePath().getParent();
        if (directory != null) {
            FileTarget.checkSpace(directory, size);
        }
    }

    @Override
    public void commit() throws IOException {
        channel.close();
        Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    @Override
    public void close() throws IOException {
        channel.close();
        Files.deleteIfExists(temporary);
    }
}
