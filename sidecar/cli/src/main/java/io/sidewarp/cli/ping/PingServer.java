// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.ping;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.wire.Channel;
import io.sidewarp.cli.wire.ConnectionFlags;
import io.sidewarp.cli.wire.Hello;
import io.sidewarp.cli.wire.Message;
import io.sidewarp.cli.wire.Pattern;
import io.sidewarp.cli.wire.RegionNames;
import io.sidewarp.cli.wire.Server;
import io.sidewarp.cli.wire.Service;
import io.sidewarp.client.Access;
import io.sidewarp.client.IncomingConnection;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.WorkRequest;
import java.nio.ByteBuffer;
import java.time.Duration;

/** Answers pings: reads the client's source, checks it, and writes the client's sink. */
final class PingServer implements Server.GreetedHandler {

    static final int MAX_OCTETS = 1 << 26;

    private static final Duration IDLE = Duration.ofHours(1);

    private final Session session;
    private final ConnectionFlags flags;

    PingServer(Session session, ConnectionFlags flags) {
        this.session = session;
        this.flags = flags;
    }

    @Override
    public String serve(IncomingConnection request, Hello hello) throws Exception {
        ByteBuffer parameters = hello.parameters();
        int octets = parameters.remaining() < Integer.BYTES ? 0 : parameters.getInt();
        if (octets < 1 || octets > MAX_OCTETS) {
            Server.reject(request, "a ping has 1 byte to " + Sizes.format(MAX_OCTETS));
            throw new Failure(ExitCode.PROTOCOL, "refused, it asked for " + octets + " bytes");
        }
        try (SharedRegion region =
                session.createSharedRegion(RegionNames.next("ping"), 2L * octets, Access.LOCAL_WRITE)) {
            return Channel.serve(session, request, Service.PING, flags, PingMessage::decode, channel -> {
                int rounds = 0;
                while (serveRound(channel, region, octets)) {
                    rounds++;
                }
                return rounds + " rounds of " + Sizes.format(octets);
            });
        }
    }

    /** Serves one round. Returns false when the client is done. */
    private static boolean serveRound(Channel<PingMessage> channel, SharedRegion region, int octets) {
        PingMessage.Advertise advertise;
        try {
            advertise = channel.receive(IDLE, PingMessage.Advertise.class);
        } catch (Failure end) {
            if (end.exitCode() == ExitCode.FAILED) {
                return false;
            }
            throw end;
        }
        if (advertise.octets() != octets) {
            throw Message.unexpected(advertise.type());
        }
        channel.submit(WorkRequest.read(channel.connection(), advertise.source(), region.slice(0, octets)))
                .join()
                .orThrow();
        long difference = Pattern.firstDifference(region.segment().asSlice(0, octets), advertise.seed());
        Pattern.fill(region.segment().asSlice(octets, octets), ~advertise.seed());
        channel.submit(WorkRequest.write(channel.connection(), advertise.sink(), region.slice(octets, octets)))
                .join()
                .orThrow();
        channel.send(new PingMessage.Done(advertise.round(), difference));
        return true;
    }
}
