// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.ping;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.wire.Channel;
import io.sidewarp.cli.wire.ConnectionFlags;
import io.sidewarp.cli.wire.Hello;
import io.sidewarp.cli.wire.Pattern;
import io.sidewarp.cli.wire.RegionNames;
import io.sidewarp.cli.wire.Service;
import io.sidewarp.client.Access;
import io.sidewarp.client.Connection;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import java.nio.ByteBuffer;
import java.time.Duration;

/** Pings a server of this command. The server checks the data that it reads, and writes other data. */
final class PingClient implements Pinger {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final int octets;
    private final SharedRegion source;
    private final SharedRegion sink;
    private final Channel<PingMessage> channel;

    PingClient(Session session, HostPort peer, int octets, ConnectionFlags flags) {
        this.octets = octets;
        source = session.createSharedRegion(RegionNames.next("ping-source"), octets, Access.REMOTE_READ);
        sink = session.createSharedRegion(RegionNames.next("ping-sink"), octets, Access.REMOTE_WRITE);
        byte[] parameters = ByteBuffer.allocate(Integer.BYTES).putInt(octets).array();
        channel = Channel.connect(session, peer, new Hello(Service.PING, parameters), flags, PingMessage::decode);
    }

    @Override
    public Connection connection() {
        return channel.connection();
    }

    @Override
    public long round(int round) {
        long seed = System.nanoTime() ^ ((long) round << 48);
        Pattern.fill(source.segment(), seed);
        long start = System.nanoTime();
        channel.send(new PingMessage.Advertise(round, octets, seed, source.address(), sink.address()));
        PingMessage.Done done = channel.receive(PATIENCE, PingMessage.Done.class);
        long nanos = System.nanoTime() - start;
        if (done.round() != round) {
            throw new Failure(ExitCode.PROTOCOL, "the peer answered round " + done.round() + " in round " + round);
        }
        check(done.firstDifference(), "read by the peer");
        check(Pattern.firstDifference(sink.segment(), ~seed), "written by the peer");
        return nanos;
    }

    @Override
    public void close() {
        channel.close();
        source.close();
        sink.close();
    }

    private static void check(long firstDifference, String what) {
        if (firstDifference >= 0) {
            throw new Failure(
                    ExitCode.FAILED, "byte " + firstDifference + " of the data " + what + " is wrong: data corruption");
        }
    }
}
