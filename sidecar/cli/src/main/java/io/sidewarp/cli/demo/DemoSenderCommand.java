// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.demo;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Sidewarp;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.wire.ConnectionFlags;
import io.sidewarp.client.Session;
import io.sidewarp.client.SidewarpClient;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** The sending process of {@code sidewarp demo}. */
@Command(name = "demo-sender", hidden = true)
public final class DemoSenderCommand implements Callable<Integer> {

    @ParentCommand
    private Sidewarp sidewarp;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ConnectionFlags flags;

    @Parameters(paramLabel = "HOST:PORT", converter = HostPort.Converter.class)
    private HostPort receiver = new HostPort("", 0);

    @Option(names = "--file")
    private Optional<Path> file = Optional.empty();

    @Option(names = "--size", defaultValue = "0")
    private long size;

    @Option(names = "--window", required = true)
    private long window;

    @Override
    public Integer call() throws IOException {
        try (SidewarpClient client = sidewarp.client();
                Session session = client.openSession("demo sender");
                Content content = file.isPresent() ? Content.Stored.open(file.get()) : new Content.Generated(size)) {
            DemoSender sender =
                    new DemoSender(session, receiver, flags, spec.commandLine().getOut());
            sender.move(content, window);
            sender.measureLatency();
        }
        return ExitCode.OK;
    }
}
