// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.Failures;
import java.io.IOException;
import java.nio.channels.SeekableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Set;

/**
 * The directory that a server offers. Files are opened part by part, relative to an open directory, without following
 * symbolic links. Nothing outside the directory can be reached, even while somebody renames parts of it.
 */
final class ServedDirectory {

    private final Path root;

    /** @throws Failure when the path is not a directory */
    ServedDirectory(Path root) {
        this.root = root;
        if (!Files.isDirectory(root)) {
            throw new Failure(ExitCode.NO_INPUT, "there is no directory " + root);
        }
    }

    /** Returns the bytes that can still be written. */
    long usableSpace() throws IOException {
        return Files.getFileStore(root).getUsableSpace();
    }

    /** Opens a regular file for reading. */
    SeekableByteChannel open(FileName name) throws IOException {
        try (SecureDirectoryStream<Path> directory = descend(name, ExitCode.NO_INPUT)) {
            Path last = Path.of(name.last());
            boolean regular = directory
                    .getFileAttributeView(last, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .readAttributes()
                    .isRegularFile();
            if (!regular) {
                throw new Failure(ExitCode.NO_INPUT, "\"" + name + "\" is not a regular file");
            }
            return directory.newByteChannel(last, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
        } catch (NoSuchFileException e) {
            throw new Failure(ExitCode.NO_INPUT, "there is no file \"" + name + "\"", e);
        }
    }

    /** Begins to write a file. */
    FileTarget create(FileName name) throws IOException {
        SecureDirectoryStream<Path> directory = descend(name, ExitCode.CANNOT_CREATE);
        Path temporary = Path.of(FileTarget.temporaryName(name.last()));
        try {
            requireReplaceable(directory, name);
            SeekableByteChannel channel = directory.newByteChannel(
                    temporary,
                    Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
            return new ServedTarget(directory, temporary, Path.of(name.last()), channel);
        } catch (Failure e) {
            directory.close();
            throw e;
        } catch (FileSystemException e) {
            directory.close();
            throw new Failure(ExitCode.CANNOT_CREATE, "\"" + name + "\" cannot be created: " + Failures.reasonOf(e), e);
        }
    }

    /** Checks that the new file replaces only a file, a link or nothing. */
    private static void requireReplaceable(SecureDirectoryStream<Path> directory, FileName name) throws IOException {
        try {
            BasicFileAttributes existing = directory
                    .getFileAttributeView(Path.of(name.last()), BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .readAttributes();
            if (existing.isDirectory() || existing.isOther()) {
                throw new Failure(
                        ExitCode.CANNOT_CREATE,
                        "\"" + name + (existing.isDirectory() ? "\" is a directory" : "\" is not a regular file"));
            }
        } catch (NoSuchFileException e) {
            // The file will be new.
        }
    }

    /**
     * Opens the directory of a file.
     *
     * @param missing exit code when a directory does not exist
     */
    private SecureDirectoryStream<Path> descend(FileName name, int missing) throws IOException {
        SecureDirectoryStream<Path> current = openRoot();
        for (String part : name.directories()) {
            try (SecureDirectoryStream<Path> parent = current) {
                current = parent.newDirectoryStream(Path.of(part), LinkOption.NOFOLLOW_LINKS);
            } catch (AccessDeniedException e) {
                throw new Failure(
                        ExitCode.NO_PERMISSION,
                        "no permission for the directory \"" + part + "\" of \"" + name + "\"",
                        e);
            } catch (FileSystemException e) {
                throw new Failure(missing, "there is no directory \"" + part + "\" for \"" + name + "\"", e);
            }
        }
        return current;
    }

    @SuppressWarnings("StreamResourceLeak") // The caller closes what it gets.
    private SecureDirectoryStream<Path> openRoot() throws IOException {
        DirectoryStream<Path> stream = Files.newDirectoryStream(root);
        if (stream instanceof SecureDirectoryStream<Path> secure) {
            return secure;
        }
        stream.close();
        throw new Failure(
                ExitCode.CONFIGURATION, "this system cannot open files relative to a directory, so none are served");
    }

    /** A file that is written under a hidden name until it is complete. */
    private record ServedTarget(
            SecureDirectoryStream<Path> directory, Path temporary, Path name, SeekableByteChannel file)
            implements FileTarget {

        @Override
        public WritableByteChannel channel() {
            return file;
        }

        @Override
        public void commit() throws IOException {
            file.close();
            directory.move(temporary, directory, name);
        }

        @Override
        public void close() throws IOException {
            try (directory) {
                file.close();
                directory.deleteFile(temporary);
            } catch (NoSuchFileException e) {
                // The file was committed.
            }
        }
    }
}
