// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.ping;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.wire.ConnectionFlags;
import io.sidewarp.cli.wire.Mailbox;
import io.sidewarp.cli.wire.RegionNames;
import io.sidewarp.client.Access;
import io.sidewarp.client.Connection;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Pings an {@code rping -s}. The server reads the source and writes the same data to the sink, up to the first zero
 * byte.
 */
final class RpingClient implements Pinger {

    private static final int LETTERS = 'z' - 'a' + 1;

    private final SharedRegion source;
    private final SharedRegion sink;
    private final Mailbox mailbox;

    RpingClient(Session session, HostPort peer, int octets, ConnectionFlags flags) {
        source = session.createSharedRegion(RegionNames.next("rping-source"), octets, Access.REMOTE_READ);
        sink = session.createSharedRegion(RegionNames.next("rping-sink"), octets, Access.REMOTE_WRITE);
        mailbox = Mailbox.connect(session, peer, "rping -s", flags);
    }

    @Override
    public Connection connection() {
        return mailbox.connection();
    }

    @Override
    public long round(int round) {
        fill(source.segment(), round);
        sink.segment().fill((byte) 0);
        long start = System.nanoTime();
        offer(source);
        offer(sink);
        long nanos = System.nanoTime() - start;
        long difference = source.segment().mismatch(sink.segment());
        if (difference >= 0) {
            throw new Failure(ExitCode.FAILED, "byte " + difference + " of the echoed data is wrong: data corruption");
        }
        return nanos;
    }

    @Override
    public void close() {
        mailbox.close();
        source.close();
        sink.close();
    }

    /** Offers memory. Returns when the server has used it. */
    private void offer(SharedRegion region) {
        mailbox.send(new RpingMessage(region.address(), (int) region.length()).encode());
        RpingMessage.decode(mailbox.receive());
    }

    /** Fills memory with letters that differ from round to round, and a zero byte at the end. */
    private static void fill(MemorySegment target, int round) {
        long last = target.byteSize() - 1;
        for (long i = 0; i < last; i++) {
            target.set(ValueLayout.JAVA_BYTE, i, (byte) ('a' + (i + round) % LETTERS));
        }
        target.set(ValueLayout.JAVA_BYTE, last, (byte) 0);
    }
}
