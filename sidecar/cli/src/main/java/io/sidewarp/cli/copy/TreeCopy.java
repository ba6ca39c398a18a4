// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.Failures;
import io.sidewarp.cli.Interruption;
import io.sidewarp.cli.text.Sizes;
import java.io.IOException;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/**
 * Copies a directory with all files and directories below it. A file or directory that fails is told, and the others are
 * copied. Symbolic links and special files are told and left out.
 */
final class TreeCopy {

    private final Tree source;
    private final Tree target;
    private final RemoteTree remote;
    private final FileCopy files;
    private final Output output;
    private final long begin = System.nanoTime();
    private long octets;
    private int copied;
    private int directories;
    private int skipped;
    private int failed;

    /** Copies one file. */
    @FunctionalInterface
    interface FileCopy {

        /**
         * Copies the file with its permissions, less those that the umask takes away.
         *
         * @return its bytes
         */
        long copy(FileName name, DirectoryListing.Entry file) throws IOException;
    }

    /** Takes lines about the work. */
    interface Output {

        void error(String line);

        void notice(String line);

        void result(String line);
    }

    /** Work on one file or directory. */
    @FunctionalInterface
    private interface Work<T> {

        T run() throws IOException;
    }

    /** @param remote the source or the target, whichever is at the server */
    TreeCopy(Tree source, Tree target, RemoteTree remote, FileCopy files, Output output) {
        this.source = source;
        this.target = target;
        this.remote = remote;
        this.files = files;
        this.output = output;
    }

    /**
     * Copies everything.
     *
     * @throws Failure when something was not copied
     */
    void run() throws IOException {
        DirectoryListing content = source.list(FileName.ROOT);
        boolean made = target.makeDirectory(FileName.ROOT, content.mode() | Permissions.OWNER);
        try {
            fill(FileName.ROOT, content, made);
        } finally {
            output.result(summary());
        }
        if (failed > 0) {
            throw new Failure(
                    ExitCode.FAILED,
                    count(failed, "file or directory was", "files or directories were") + " not copied; see above");
        }
    }

    /** Returns one line about the copies so far. */
    private String summary() {
        double seconds = Math.max(System.nanoTime() - begin, 1) / 1e9;
        return String.format(
                Locale.ROOT,
                "%s -> %s: %s and %s in %.2f s (%s, %.2f Gbit/s), SHA-256 of each file verified%s%s",
                source.describe(FileName.ROOT),
                target.describe(FileName.ROOT),
                count(copied, "file", "files"),
                count(directories, "directory", "directories"),
                seconds,
                Sizes.format(octets),
                octets * 8 / seconds / 1e9,
                skipped == 0 ? "" : "; " + skipped + " left out",
                failed == 0 ? "" : "; " + failed + " FAILED");
    }

    private void copyDirectory(FileName directory) {
        attempt(directory, () -> source.list(directory))
                .ifPresent(content -> attempt(
                                directory, () -> target.makeDirectory(directory, content.mode() | Permissions.OWNER))
                        .ifPresent(made -> fill(directory, content, made)));
    }

    private void fill(FileName directory, DirectoryListing content, boolean made) {
        directories++;
        content.entries().stream()
                .sorted(Comparator.comparing(DirectoryListing.Entry::name))
                .forEach(entry -> copy(directory, entry));
        boolean restricted = (content.mode() & Permissions.OWNER) != Permissions.OWNER;
        if (made && restricted) {
            attempt(directory, () -> {
                target.restrict(directory, content.mode());
                return true;
            });
        }
    }

    private void copy(FileName directory, DirectoryListing.Entry entry) {
        Interruption.check();
        FileName name;
        try {
            name = directory.child(entry.name());
        } catch (Failure e) {
            failed++;
            output.error(source.describe(directory) + ": " + e.getMessage());
            return;
        }
        switch (entry.kind()) {
            case DIRECTORY -> copyDirectory(name);
            case FILE ->
                attempt(name, () -> files.copy(name, entry)).ifPresent(copiedOctets -> {
                    octets += copiedOctets;
                    copied++;
                });
            case LINK, OTHER -> {
                skipped++;
                output.notice("left out " + source.describe(name) + ": a " + entry.kind());
            }
        }
    }

    private <T> Optional<T> attempt(FileName name, Work<T> work) {
        // A failure to connect ends all copies, because the next attempt would fail as well.
        remote.connect();
        try {
            return Optional.of(work.run());
        } catch (IOException | RuntimeException e) {
            Failure failure = Failures.of(e);
            if (failure.exitCode() == ExitCode.INTERRUPTED || Interruption.requested()) {
                throw failure;
            }
            failed++;
            output.error(source.describe(name) + ": " + failure.getMessage());
            remote.close();
            return Optional.empty();
        }
    }

    private static String count(int number, String one, String many) {
        return number + " " + (number == 1 ? one : many);
    }
}
