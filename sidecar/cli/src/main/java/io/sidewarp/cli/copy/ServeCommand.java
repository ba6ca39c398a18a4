// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import io.sidewarp.cli.SessionCommand;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.wire.Server;
import io.sidewarp.cli.wire.Service;
import java.nio.file.Path;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code sidewarp serve}. */
@Command(
        name = "serve",
        header = "Serve files of a directory to \"sidewarp cp\".",
        description = {
            "Everybody who can connect to the port can fetch and store files below the directory: there is no"
                    + " authentication. Names stay below the directory, follow no symbolic links, and have no part that"
                    + " begins with a dot. A stored file appears under its name when its SHA-256 is right.",
            ""
        },
        footerHeading = "%nExamples:%n",
        footer = {"  sidewarp serve --dir /var/lib/models --read-only 7472"})
public final class ServeCommand extends SessionCommand {

    @Parameters(
            paramLabel = "[HOST:]PORT",
            converter = HostPort.ListenConverter.class,
            description = "Where to listen. Port 0 takes any free port.")
    private HostPort listen = new HostPort("", 0);

    @Option(names = "--dir", required = true, paramLabel = "DIR", description = "The directory.")
    private Path directory = Path.of("");

    @Option(names = "--read-only", description = "Store nothing.")
    private boolean readOnly;

    @Option(
            names = "--max-size",
            paramLabel = "SIZE",
            defaultValue = "1T",
            converter = Sizes.class,
            description = "Largest file that is stored (default: ${DEFAULT-VALUE}).")
    private long maxSize;

    @Option(
            names = "--max-window",
            paramLabel = "SIZE",
            defaultValue = "64M",
            converter = Sizes.class,
            description = "Most shared memory of one transfer, at least 64K. A client that asks for more gets this much"
                    + " (default: ${DEFAULT-VALUE}).")
    private long maxWindow;

    @Option(names = "--once", description = "End after the first client.")
    private boolean once;

    @Override
    public Integer call() throws Exception {
        if (maxWindow < Window.MIN_CHUNK) {
            throw wrongArguments("--max-window is " + Sizes.format(maxWindow) + "; it must be at least "
                    + Sizes.format(Window.MIN_CHUNK));
        }
        ServedDirectory served = ServedDirectory.of(directory);
        return inSession(session -> {
            CopyServer server = new CopyServer(session, served, readOnly, maxSize, maxWindow, flags());
            return Server.greeted(Service.COPY, Map.of(Service.COPY, server), out(), once)
                    .run(session, listen, flags());
        });
    }
}
