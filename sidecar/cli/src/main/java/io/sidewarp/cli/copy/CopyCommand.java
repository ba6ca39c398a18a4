// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.SessionCommand;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.text.Printable;
import io.sidewarp.cli.text.ProgressLine;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.wire.Channel;
import io.sidewarp.cli.wire.Hello;
import io.sidewarp.cli.wire.Service;
import io.sidewarp.client.Session;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code sidewarp cp}. */
@Command(
        name = "cp",
        header = "Copy files to or from a pod where \"sidewarp serve\" runs.",
        description = {
            "Pushes by RDMA Write and pulls by RDMA Read, through a window of shared memory, so that files can be"
                    + " larger than the shared volume. The SHA-256 of the whole file is compared before it gets its"
                    + " name.",
            "",
            "With --recursive, copies a directory with all files, directories and permissions, less those that the umask"
                    + " takes away. Symbolic links and special files are told and left out. Names that begin with a dot"
                    + " are not served: those here fail, and those at the peer do not appear. If a file fails, the others"
                    + " are copied, and the exit code is 1.",
            ""
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  sidewarp cp model.bin peer.example:7472/model.bin",
            "  sidewarp cp peer.example:7472/model.bin /tmp/",
            "  sidewarp cp -r checkpoints peer.example:7472/",
            "",
            "Write ./HOST:PORT/NAME for a local file whose name looks like HOST:PORT/NAME."
        })
public final class CopyCommand extends SessionCommand {

    @Parameters(index = "0", paramLabel = "SOURCE", description = "FILE or DIR, or HOST:PORT/NAME.")
    private String source = "";

    @Parameters(
            index = "1",
            paramLabel = "TARGET",
            description = "HOST:PORT/NAME, or FILE or DIR. Without a name, or for a directory, the source's name is"
                    + " used.")
    private String target = "";

    @Option(
            names = "--chunk",
            paramLabel = "SIZE",
            defaultValue = "1M",
            converter = Sizes.class,
            description = "Bytes of one RDMA operation (default: ${DEFAULT-VALUE}).")
    private long chunk;

    @Option(
            names = "--slots",
            paramLabel = "N",
            defaultValue = "16",
            description = "Chunks in flight. The window has this many chunks (default: ${DEFAULT-VALUE}).")
    private int slots;

    @Option(
            names = {"-r", "--recursive"},
            description = "Copy a directory with all that is below it.")
    private boolean recursive;

    @Option(
            names = {"-q", "--quiet"},
            description = "Print nothing but errors.")
    private boolean quiet;

    @Override
    public Integer call() throws Exception {
        Optional<RemoteFile> from = RemoteFile.parse(source);
        Optional<RemoteFile> to = RemoteFile.parse(target);
        if (from.isPresent() == to.isPresent()) {
            throw wrongArguments("one of the two must be HOST:PORT/NAME, and the other a file");
        }
        if (chunk < Window.MIN_CHUNK || chunk > Window.MAX_CHUNK || slots < 1 || slots > Window.MAX_SLOTS) {
            throw wrongArguments("--chunk must be " + Sizes.format(Window.MIN_CHUNK) + " to "
                    + Sizes.format(Window.MAX_CHUNK) + ", and --slots 1 to " + Window.MAX_SLOTS);
        }
        RemoteFile remote = from.or(() -> to).orElseThrow();
        try (ProgressLine progress = quiet ? ProgressLine.hidden() : ProgressLine.onTerminal()) {
            if (to.isPresent()) {
                push(Path.of(source), remote, progress);
            } else if (recursive) {
                pullTree(remote, Path.of(target), progress);
            } else {
                pull(remote, Path.of(target), progress);
            }
        }
        return ExitCode.OK;
    }

    private void push(Path file, RemoteFile remote, ProgressLine progress) throws Exception {
        boolean tree = recursive && Files.isDirectory(file);
        Path readable = tree ? file : readable(file);
        String wanted = remote.name();
        Path own = readable.toAbsolutePath().normalize().getFileName();
        FileName name = FileName.of(wanted.isEmpty() || wanted.endsWith("/") ? wanted + own : wanted);
        RemoteFile there = new RemoteFile(remote.server(), name.toString());
        if (tree) {
            ServedDirectory here = ServedDirectory.of(readable);
            copyTree(
                    there,
                    progress,
                    at -> new TreeCopy(
                            here, at, at, (below, entry) -> at.push(here, below, entry.mode()), new Lines(progress)));
            return;
        }
        inSession(session -> {
            try (FileChannel channel = FileChannel.open(readable, StandardOpenOption.READ);
                    CopyClient client = connect(session, there.server(), progress)) {
                CopyClient.Copied copied = client.push(channel, String.valueOf(own), there.name(), Permissions.DEFAULT);
                return tell(readable + " -> " + there + ": " + copied.line());
            }
        });
    }

    private void pull(RemoteFile remote, Path named, ProgressLine progress) throws Exception {
        FileName name = FileName.of(remote.name());
        Path file = Files.isDirectory(named) ? named.resolve(name.last()) : named;
        inSession(session -> {
            try (CopyClient client = connect(session, remote.server(), progress);
                    FileTarget created = new LocalTarget(file)) {
                CopyClient.Copied copied = client.pull(name.toString(), Long.MAX_VALUE, created);
                return tell(remote + " -> " + file + ": " + copied.line());
            }
        });
    }

    private void pullTree(RemoteFile remote, Path named, ProgressLine progress) throws Exception {
        String wanted = remote.name();
        FileName name = FileName.ofDirectory(wanted.endsWith("/") ? wanted.substring(0, wanted.length() - 1) : wanted);
        boolean inside = Files.isDirectory(named) && !name.equals(FileName.ROOT);
        ServedDirectory here = ServedDirectory.toMake(inside ? named.resolve(name.last()) : named);
        copyTree(
                new RemoteFile(remote.server(), name.toString()),
                progress,
                tree -> new TreeCopy(
                        tree,
                        here,
                        tree,
                        (below, entry) -> tree.pull(below, entry.size(), here, entry.mode()),
                        new Lines(progress)));
    }

    private void copyTree(RemoteFile remote, ProgressLine progress, Function<RemoteTree, TreeCopy> copy)
            throws Exception {
        inSession(session -> {
            try (RemoteTree tree = new RemoteTree(remote, () -> connect(session, remote.server(), progress))) {
                copy.apply(tree).run();
                return true;
            }
        });
    }

    private CopyClient connect(Session session, HostPort server, ProgressLine progress) {
        Channel<CopyMessage> channel =
                Channel.connect(session, server, new Hello(Service.COPY), flags(), CopyMessage::decode);
        return new CopyClient(session, channel, progress, (int) chunk, slots);
    }

    private boolean tell(String line) {
        if (!quiet) {
            out().println(line);
        }
        return true;
    }

    /** Lines about a directory. Errors and notices go to standard error. */
    private final class Lines implements TreeCopy.Output {

        private final ProgressLine progress;

        private Lines(ProgressLine progress) {
            this.progress = progress;
        }

        @Override
        public void error(String line) {
            progress.clear();
            err().println("sidewarp: " + Printable.of(line));
        }

        @Override
        public void notice(String line) {
            if (!quiet) {
                error(line);
            }
        }

        @Override
        public void result(String line) {
            progress.clear();
            tell(line);
        }
    }

    private static Path readable(Path file) {
        if (Files.isDirectory(file)) {
            throw new Failure(ExitCode.NO_INPUT, file + " is a directory; copy it with --recursive");
        }
        if (!Files.isRegularFile(file)) {
            throw new Failure(
                    ExitCode.NO_INPUT,
                    Files.exists(file) ? file + " is not a regular file" : "there is no file " + file);
        }
        if (!Files.isReadable(file)) {
            throw new Failure(ExitCode.NO_PERMISSION, "no permission to read " + file);
        }
        return file;
    }
}
