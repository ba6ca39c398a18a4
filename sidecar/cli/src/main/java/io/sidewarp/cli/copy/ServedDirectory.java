// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.common.FailureText;
import java.io.IOException;
import java.nio.channels.SeekableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
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
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The directory that a server offers. Files are opened part by part, relative to an open directory, without following
 * symbolic links. Nothing outside the directory can be reached, even while somebody renames parts of it.
 */
final class ServedDirectory implements Tree {

    private final Path root;

    private ServedDirectory(Path root) {
        this.root = root;
    }

    /** @throws Failure when the path is not a directory */
    static ServedDirectory of(Path root) {
        if (!Files.isDirectory(root)) {
            throw new Failure(ExitCode.NO_INPUT, "there is no directory " + root);
        }
        return new ServedDirectory(root);
    }

    /** Returns a directory that may be missing until {@link #makeDirectory} makes it. */
    static ServedDirectory toMake(Path root) {
        return new ServedDirectory(root);
    }

    /** Returns the bytes that can still be written. */
    long usableSpace() throws IOException {
        return Files.getFileStore(root).getUsableSpace();
    }

    /** Opens a regular file for reading. */
    SeekableByteChannel open(FileName name) throws IOException {
        try (SecureDirectoryStream<Path> directory = descend(name, name.directories(), ExitCode.NO_INPUT)) {
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

    /**
     * Begins to write a file.
     *
     * @param mode its permissions, less those that the umask takes away
     */
    FileTarget create(FileName name, int mode) throws IOException {
        SecureDirectoryStream<Path> directory = descend(name, name.directories(), ExitCode.CANNOT_CREATE);
        Path temporary = Path.of(FileTarget.temporaryName(name.last()));
        try {
            requireReplaceable(directory, name);
            SeekableByteChannel channel = directory.newByteChannel(
                    temporary,
                    Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
                    Permissions.attributes(mode));
            return new ServedTarget(root, directory, temporary, Path.of(name.last()), channel);
        } catch (Failure e) {
            directory.close();
            throw e;
        } catch (FileSystemException e) {
            directory.close();
            throw cannotCreate(name, e);
        }
    }

    @Override
    public DirectoryListing list(FileName name) throws IOException {
        try (SecureDirectoryStream<Path> directory = descend(name, name.parts(), ExitCode.NO_INPUT)) {
            int mode = Permissions.mode(directory
                    .getFileAttributeView(PosixFileAttributeView.class)
                    .readAttributes()
                    .permissions());
            List<DirectoryListing.Entry> entries = new ArrayList<>();
            for (Path path : directory) {
                if (entries.size() == DirectoryListing.MAX_ENTRIES) {
                    throw new Failure(
                            ExitCode.NO_RESOURCES,
                            "the directory \"" + name + "\" has more than " + DirectoryListing.MAX_ENTRIES
                                    + " entries; divide it");
                }
                entry(directory, path.getFileName()).ifPresent(entries::add);
            }
            return new DirectoryListing(mode, entries);
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
    }

    private static Optional<DirectoryListing.Entry> entry(SecureDirectoryStream<Path> directory, Path name)
            throws IOException {
        try {
            PosixFileAttributes attributes = attributes(directory, name).readAttributes();
            DirectoryListing.Kind kind = attributes.isRegularFile()
                    ? DirectoryListing.Kind.FILE
                    : attributes.isDirectory()
                            ? DirectoryListing.Kind.DIRECTORY
                            : attributes.isSymbolicLink() ? DirectoryListing.Kind.LINK : DirectoryListing.Kind.OTHER;
            int mode = Permissions.mode(attributes.permissions());
            return Optional.of(new DirectoryListing.Entry(kind, mode, attributes.size(), name.toString()));
        } catch (NoSuchFileException e) {
            // Somebody has removed the file.
            return Optional.empty();
        }
    }

    /**
     * {@inheritDoc}
     *
     * <p>Java cannot make a directory relative to an open one. The directory is therefore made directly below the root,
     * under a hidden name, where no link can lead elsewhere. After that, it is moved into the open directory.
     */
    @Override
    public boolean makeDirectory(FileName name, int mode) throws IOException {
        if (name.equals(FileName.ROOT)) {
            return makeRoot(mode);
        }
        try (SecureDirectoryStream<Path> parent = descend(name, name.directories(), ExitCode.CANNOT_CREATE);
                SecureDirectoryStream<Path> top = openRoot()) {
            Path last = Path.of(name.last());
            if (isDirectory(parent, last, name)) {
                return false;
            }
            Path temporary = Path.of(FileTarget.temporaryName(name.last()));
            Files.createDirectory(root.resolve(temporary), Permissions.attributes(mode));
            try {
                top.move(temporary, parent, last);
            } catch (IOException e) {
                top.deleteDirectory(temporary);
                throw e;
            }
            return true;
        } catch (FileSystemException e) {
            throw cannotCreate(name, e);
        }
    }

    private boolean makeRoot(int mode) throws IOException {
        if (Files.isDirectory(root)) {
            return false;
        }
        try {
            Files.createDirectory(root, Permissions.attributes(mode));
            return true;
        } catch (FileSystemException e) {
            throw new Failure(
                    ExitCode.CANNOT_CREATE, "cannot create the directory " + root + ": " + FailureText.reason(e), e);
        }
    }

    /** Returns whether there is a directory. Nothing else may be in its place. */
    private static boolean isDirectory(SecureDirectoryStream<Path> parent, Path last, FileName name)
            throws IOException {
        try {
            if (attributes(parent, last).readAttributes().isDirectory()) {
                return true;
            }
            throw new Failure(ExitCode.CANNOT_CREATE, "\"" + name + "\" is there, and is not a directory");
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    @Override
    public void restrict(FileName name, int mode) throws IOException {
        try (SecureDirectoryStream<Path> directory = descend(name, name.parts(), ExitCode.NO_INPUT)) {
            PosixFileAttributeView view = directory.getFileAttributeView(PosixFileAttributeView.class);
            Set<PosixFilePermission> permissions = view.readAttributes().permissions();
            permissions.retainAll(Permissions.of(mode));
            view.setPermissions(permissions);
        }
    }

    @Override
    public String describe(FileName name) {
        return root.resolve(name.toString()).toString();
    }

    private static PosixFileAttributeView attributes(SecureDirectoryStream<Path> directory, Path name) {
        return directory.getFileAttributeView(name, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
    }

    private static Failure cannotCreate(FileName name, FileSystemException e) {
        return new Failure(ExitCode.CANNOT_CREATE, "\"" + name + "\" cannot be created: " + FailureText.reason(e), e);
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
     * Opens a directory.
     *
     * @param name for messages
     * @param directories from the root to the directory
     * @param missing exit code when a directory does not exist
     */
    private SecureDirectoryStream<Path> descend(FileName name, List<String> directories, int missing)
            throws IOException {
        SecureDirectoryStream<Path> current = openRoot();
        for (String part : directories) {
            try (SecureDirectoryStream<Path> parent = current) {
                current = parent.newDirectoryStream(Path.of(part), LinkOption.NOFOLLOW_LINKS);
            } catch (AccessDeniedException e) {
                throw new Failure(
                        ExitCode.NO_PERMISSION,
                        "no permission for the directory \"" + part + "\" of \"" + name + "\"",
                        e);
            } catch (FileSystemException e) {
                String of = name.parts().equals(List.of(part)) ? "" : " for \"" + name + "\"";
                throw new Failure(missing, "there is no directory \"" + part + "\"" + of, e);
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
            Path root, SecureDirectoryStream<Path> directory, Path temporary, Path name, SeekableByteChannel file)
            implements FileTarget {

        @Override
        public void expect(long size) {
            FileTarget.checkSpace(root, size);
        }

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
