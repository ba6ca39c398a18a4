// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.demo;

import io.sidewarp.cli.Sidewarp;
import io.sidewarp.cli.perf.PerfServer;
import io.sidewarp.cli.perf.ProcessCpu;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.wire.ConnectionFlags;
import io.sidewarp.cli.wire.Server;
import io.sidewarp.cli.wire.Service;
import io.sidewarp.client.QueueOptions;
import io.sidewarp.client.Session;
import io.sidewarp.client.SidewarpClient;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** The receiving process of {@code sidewarp demo}. */
@Command(name = "demo-receiver", hidden = true)
public final class DemoReceiverCommand implements Callable<Integer> {

    @ParentCommand
    private Sidewarp sidewarp;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ConnectionFlags flags;

    @Option(names = "--sidecar-pid", defaultValue = "0")
    private long sidecarPid;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        try (SidewarpClient client = sidewarp.client();
                Session session = client.openSession("demo receiver")) {
            PerfServer perf = new PerfServer(session, flags, new ProcessCpu(sidecarPid), QueueOptions.defaults());
            DemoReceiver receiver = new DemoReceiver(session, flags, perf, out);
            return Server.greeted(Service.DEMO.server(), receiver, out, false)
                    .run(session, new HostPort("127.0.0.1", 0), flags);
        }
    }
}
