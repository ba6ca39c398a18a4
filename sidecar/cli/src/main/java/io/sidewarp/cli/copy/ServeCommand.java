// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import io.sidewarp.cli.Sidewarp;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.wire.ConnectionFlags;
import io.sidewarp.cli.wire.Server;
import io.sidewarp.cli.wire.Service;
import io.sidewarp.client.Session;
import io.sidewarp.client.SidewarpClient;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

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
public final class ServeCommand implements Callable<Integer> {

    @ParentCommand
    private Sidewarp sidewarp;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ConnectionFlags flags;

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

    @Option(names = "--once", description = "End after the first client.")
    private boolean once;

    @Override
    public Integer call() {
        ServedDirectory served = new ServedDirectory(directory);
        try (SidewarpClient client = sidewarp.client();
                Session session = client.openSession("sidewarp serve")) {
            CopyServer server = new CopyServer(session, served, readOnly, maxSize, flags);
            return Server.greeted(
                            Service.COPY.server(), server, spec.commandLine().getOut(), once)
                    .run(session, listen, flags);
        }
    }
}
