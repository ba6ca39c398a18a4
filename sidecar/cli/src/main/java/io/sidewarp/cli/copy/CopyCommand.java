// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.SessionCommand;
import io.sidewarp.cli.text.ProgressLine;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.wire.Channel;
import io.sidewarp.cli.wire.Hello;
import io.sidewarp.cli.wire.Service;
import io.sidewarp.client.Session;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code sidewarp cp}. */
@Command(
        name = "cp",
        header = "Copy a file to or from a pod where \"sidewarp serve\" runs.",
        description = {
            "Pushes by RDMA Write and pulls by RDMA Read, through a window of shared memory, so that files can be"
                    + " larger than the shared volume. The SHA-256 of the whole file is compared before it gets its"
                    + " name.",
            ""
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  sidewarp cp model.bin peer.example:7472/model.bin",
            "  sidewarp cp peer.example:7472/model.bin /tmp/",
            "",
            "Write ./HOST:PORT/NAME for a local file whose name looks like HOST:PORT/NAME."
        })
public final class CopyCommand extends SessionCommand {

    @Parameters(index = "0", paramLabel = "SOURCE", description = "FILE, or HOST:PORT/NAME.")
    private String source = "";

    @Parameters(
            index = "1",
            paramLabel = "TARGET",
            description = "HOST:PORT/NAME, or FILE. Without a name, or for a directory, the source's name is used.")
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
        String said;
        try (ProgressLine progress = quiet ? ProgressLine.hidden() : ProgressLine.onTerminal()) {
            said = to.isPresent() ? push(readable(Path.of(source)), remote, progress) : pull(remote, progress);
        }
        if (!quiet) {
            out().println(said);
        }
        return ExitCode.OK;
    }

    private String push(Path file, RemoteFile remote, ProgressLine progress) throws Exception {
        String wanted = remote.name();
        String name = FileName.of(wanted.isEmpty() || wanted.endsWith("/") ? wanted + file.getFileName() : wanted)
                .toString();
        return inSession(session -> {
            try (Channel<CopyMessage> channel = connect(session, remote)) {
                String summary = new CopyClient(session, channel, progress, (int) chunk, slots).push(file, name);
                return file + " -> " + new RemoteFile(remote.server(), name) + ": " + summary;
            }
        });
    }

    private String pull(RemoteFile remote, ProgressLine progress) throws Exception {
        FileName name = FileName.of(remote.name());
        Path named = Path.of(target);
        Path file = Files.isDirectory(named) ? named.resolve(name.last()) : named;
        return inSession(session -> {
            try (Channel<CopyMessage> channel = connect(session, remote)) {
                String summary =
                        new CopyClient(session, channel, progress, (int) chunk, slots).pull(name.toString(), file);
                return remote + " -> " + file + ": " + summary;
            }
        });
    }

    private Channel<CopyMessage> connect(Session session, RemoteFile remote) {
        return Channel.connect(session, remote.server(), new Hello(Service.COPY), flags(), CopyMessage::decode);
    }

    private static Path readable(Path file) {
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
