// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.demo;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.Failures;
import io.sidewarp.cli.perf.PerfServer;
import io.sidewarp.cli.wire.Channel;
import io.sidewarp.cli.wire.ConnectionFlags;
import io.sidewarp.cli.wire.Frame;
import io.sidewarp.cli.wire.Hello;
import io.sidewarp.cli.wire.RegionNames;
import io.sidewarp.cli.wire.Server;
import io.sidewarp.cli.wire.Service;
import io.sidewarp.client.Access;
import io.sidewarp.client.IncomingConnection;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import java.io.PrintWriter;
import java.security.MessageDigest;
import java.time.Duration;

/** The process to whose memory the file is written. Reads only its own memory. */
final class DemoReceiver implements Server.GreetedHandler {

    private static final Duration PATIENCE = Duration.ofMinutes(30);
    private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(10);

    private final Session session;
    private final ConnectionFlags flags;
    private final PerfServer perf;
    private final PrintWriter out;

    DemoReceiver(Session session, ConnectionFlags flags, PerfServer perf, PrintWriter out) {
        this.session = session;
        this.flags = flags;
        this.perf = perf;
        this.out = out;
    }

    @Override
    public String serve(IncomingConnection request, Hello hello) {
        if (hello.service() == Service.PERF || hello.service() == Service.PERF_DATA) {
            return perf.serve(request, hello);
        }
        if (hello.service() != Service.DEMO) {
            Server.reject(request, "this is \"" + Service.DEMO.server() + "\"");
            throw new Failure(ExitCode.PROTOCOL, "refused, it asked for another service");
        }
        try (Channel channel = Channel.accept(session, request, new Hello(Service.DEMO), flags)) {
            try {
                receive(channel);
            } catch (RuntimeException e) {
                channel.sendError(Failures.of(e));
                throw e;
            }
        }
        return "";
    }

    private void receive(Channel channel) {
        DemoMessage.Want want = channel.receive(PATIENCE).expect(DemoMessage.Want.TYPE, DemoMessage.Want::decode);
        try (SharedRegion region = session.createSharedRegion(
                RegionNames.next("demo"), want.length(), Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE)) {
            channel.send(new DemoMessage.Memory(region.address()));
            MessageDigest digest = Digests.sha256();
            while (true) {
                Frame frame = channel.receive(PATIENCE);
                switch (frame.type()) {
                    case DemoMessage.Written.TYPE -> {
                        long length = frame.read(DemoMessage.Written::decode).length();
                        if (length > region.length()) {
                            throw frame.unexpected();
                        }
                        Digests.update(digest, region, length);
                        channel.send(new DemoMessage.Digest(Digests.soFar(digest)));
                    }
                    case DemoMessage.Words.TYPE -> {
                        String words = frame.read(DemoMessage.Words::decode).text();
                        channel.send(new DemoMessage.Words(
                                "hello, sender; your " + words.length() + " characters are here"));
                    }
                    case DemoMessage.Flushed.TYPE -> {
                        // The peer answered the sender's last request, so the counters are complete.
                        ProcessFacts.tellConnection(out, channel.connection().info());
                        channel.awaitPeerClose(CLOSE_PATIENCE);
                        return;
                    }
                    default -> throw frame.unexpected();
                }
            }
        }
    }
}
