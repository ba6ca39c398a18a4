// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.demo;

import io.sidewarp.cli.SessionCommand;
import io.sidewarp.cli.perf.PerfServer;
import io.sidewarp.cli.perf.ProcessCpu;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.wire.Channel;
import io.sidewarp.cli.wire.Digests;
import io.sidewarp.cli.wire.Message;
import io.sidewarp.cli.wire.RegionNames;
import io.sidewarp.cli.wire.Server;
import io.sidewarp.cli.wire.Service;
import io.sidewarp.client.Access;
import io.sidewarp.client.QueueOptions;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import picocli.CommandLine.Command;

/**
 * Receiving process of {@code sidewarp demo}. The sender writes the file into the memory of this process. This process
 * reads only its own memory.
 */
@Command(name = "demo-receiver", hidden = true)
public final class DemoReceiverCommand extends SessionCommand {

    private static final Duration PATIENCE = Duration.ofMinutes(30);
    private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(10);

    @Override
    public Integer call() throws Exception {
        return inSession(session -> {
            PerfServer perf = new PerfServer(session, flags(), new ProcessCpu(0), QueueOptions.defaults());
            Map<Service, Server.GreetedHandler> handlers = new EnumMap<>(perf.handlers());
            handlers.put(
                    Service.DEMO,
                    (request, _) -> Channel.serve(
                            session,
                            request,
                            Service.DEMO,
                            flags(),
                            DemoMessage::decode,
                            channel -> receive(session, channel)));
            return Server.greeted(Service.DEMO, handlers, out(), false)
                    .run(session, new HostPort("127.0.0.1", 0), flags());
        });
    }

    /** Serves the sender. Returns an empty line, because the report is already on standard output. */
    private String receive(Session session, Channel<DemoMessage> channel) {
        DemoMessage.Want want = channel.receive(PATIENCE, DemoMessage.Want.class);
        try (SharedRegion region = session.createSharedRegion(
                RegionNames.next("demo"), want.length(), Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE)) {
            channel.send(new DemoMessage.Memory(region.address()));
            MessageDigest digest = Digests.sha256();
            while (true) {
                DemoMessage message = channel.receive(PATIENCE);
                switch (message) {
                    case DemoMessage.Written written
                    when written.length() <= region.length() -> {
                        Digests.update(digest, region, written.length());
                        channel.send(new DemoMessage.Digest(Digests.soFar(digest)));
                    }
                    case DemoMessage.Words words ->
                        channel.send(new DemoMessage.Words(
                                "hello, sender; your " + words.text().length() + " characters are here"));
                    case DemoMessage.Flushed _ -> {
                        // The sender's last Flush succeeded. The counters of the connection are complete.
                        ProcessFacts.tellConnection(out(), channel.connection().info());
                        channel.awaitPeerClose(CLOSE_PATIENCE);
                        return "";
                    }
                    default -> throw Message.unexpected(message.type());
                }
            }
        }
    }
}
