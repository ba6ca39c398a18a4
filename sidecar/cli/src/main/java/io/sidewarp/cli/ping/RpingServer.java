// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.ping;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.wire.ConnectionFlags;
import io.sidewarp.cli.wire.Mailbox;
import io.sidewarp.cli.wire.RegionNames;
import io.sidewarp.cli.wire.Server;
import io.sidewarp.client.Access;
import io.sidewarp.client.IncomingConnection;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.WorkRequest;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;

/** Answers {@code rping -c}: reads the client's source, and writes the same data to the client's sink. */
final class RpingServer implements Server.Handler {

    /** Bytes of the largest buffer of rping. */
    static final int MAX_OCTETS = (1 << 16) - 1;

    private static final Duration IDLE = Duration.ofHours(1);

    private final Session session;
    private final ConnectionFlags flags;

    RpingServer(Session session, ConnectionFlags flags) {
        this.session = session;
        this.flags = flags;
    }

    @Override
    public String serve(IncomingConnection request) {
        int rounds = 0;
        int octets = 0;
        try (SharedRegion region =
                        session.createSharedRegion(RegionNames.next("rping"), MAX_OCTETS, Access.LOCAL_WRITE);
                Mailbox mailbox = Mailbox.accept(session, request, flags)) {
            Optional<ByteBuffer> offer = mailbox.receive(IDLE);
            while (offer.isPresent()) {
                octets = serveRound(mailbox, region, RpingMessage.decode(offer.get()));
                rounds++;
                offer = mailbox.receive(IDLE);
            }
        }
        return rounds + " rounds of " + Sizes.format(octets);
    }

    private static int serveRound(Mailbox mailbox, SharedRegion region, RpingMessage source) {
        int octets = checked(source).octets();
        mailbox.carryOut(WorkRequest.read(mailbox.connection(), source.address(), region.slice(0, octets)));
        mailbox.send(RpingMessage.GO_AHEAD.encode());
        RpingMessage sink = checked(RpingMessage.decode(mailbox.receive()));
        int written = Math.min(octets, sink.octets());
        mailbox.carryOut(WorkRequest.write(mailbox.connection(), sink.address(), region.slice(0, written)));
        mailbox.send(RpingMessage.GO_AHEAD.encode());
        return octets;
    }

    private static RpingMessage checked(RpingMessage offer) {
        if (offer.octets() < 1 || offer.octets() > MAX_OCTETS) {
            throw new Failure(ExitCode.PROTOCOL, "the peer offers " + offer.octets() + " bytes; is it rping?");
        }
        return offer;
    }
}
