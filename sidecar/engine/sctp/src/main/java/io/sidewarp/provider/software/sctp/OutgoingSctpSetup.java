// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software.sctp;

import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.llp.sctp.DdpSessionListener;
import io.sidewarp.engine.llp.sctp.DdpStreamSession;
import io.sidewarp.engine.llp.sctp.SessionOptions;
import io.sidewarp.engine.llp.sctp.SessionStartup;
import io.sidewarp.engine.net.sctp.AbortCause;
import io.sidewarp.engine.net.sctp.SctpConnectException;
import io.sidewarp.engine.net.sctp.SctpUnavailableException;
import io.sidewarp.engine.rdmap.RdmapStream;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionFailedException.Kind;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.provider.software.OutgoingSetup;
import io.sidewarp.provider.software.SoftwareDevice;
import io.sidewarp.provider.software.SoftwareQueuePair;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** Sets up a connection from this side: a DDP stream session on an SCTP association, the active role of RFC 5043. */
final class OutgoingSctpSetup extends OutgoingSetup implements DdpSessionListener, SctpNetwork.Seeker {

    private static final int MAX_PORT = 65_535;

    private final SctpNetwork network;
    private Runnable stopSeeking = () -> {};
    private @Nullable MpaOptions options;
    private @Nullable SoftwareAssociation association;
    private @Nullable DdpStreamSession session;

    OutgoingSctpSetup(
            SoftwareDevice device,
            SctpNetwork network,
            SoftwareQueuePair queuePair,
            List<InetSocketAddress> remotes,
            ConnectionParameters parameters) {
        super(device, queuePair, remotes, parameters);
        this.network = network;
    }

    @Override
    protected void connect(MpaOptions chosen) {
        options = chosen;
        int udpPort = parameters().udpPort();
        if (remotes().size() > 1) {
            failInvalid("over SCTP this connects to one address at a time, not to " + remotes());
        } else if (remote().isUnresolved() || udpPort < 1 || udpPort > MAX_PORT) {
            failInvalid("SCTP in UDP needs an IP address and a UDP port from 1 to " + MAX_PORT + ", not " + remote()
                    + " and " + udpPort);
        } else if (remote().getAddress().isAnyLocalAddress()) {
            failInvalid("cannot connect over SCTP to " + remote()
                    + ": a wildcard address belongs to no host; use the peer's own address");
        } else {
            stopSeeking = network.seek(remote(), udpPort, parameters().timeout(), this);
        }
    }

    private void failInvalid(String message) {
        fail(new ConnectionFailedException(Kind.INVALID_PARAMETERS, message));
    }

    @Override
    public void onAssociation(SoftwareAssociation found) {
        MpaOptions chosen = options;
        if (!isOver() && chosen != null) {
            association = found;
            reached(remote());
            boolean enhanced = chosen.requestRevision() > 1;
            session =
                    found.sessions().initiate(new SessionOptions(chosen.privateData(), enhanced, chosen.terms()), this);
        }
    }

    @Override
    public void onUnreachable(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        fail(describe(cause));
    }

    private ConnectionFailedException describe(Throwable cause) {
        Kind kind = kindOf(cause);
        boolean fault = kind == Kind.INTERNAL && !(cause instanceof IOException);
        return new ConnectionFailedException(
                kind,
                "no SCTP association with " + remote() + " (UDP port "
                        + parameters().udpPort() + " where it is in UDP): "
                        + (fault ? "this side failed: " + cause : cause.getMessage())
                        + (kind.isUnreached() ? advice(cause) : ""),
                cause);
    }

    private static String advice(Throwable cause) {
        return AbortCause.NO_ROOM.equals(cause.getMessage())
                ? "; try again later, or raise sidewarp.sctp.associations at the peer's sidecar"
                : "; check the address, the ports, and that the peer listens on SCTP";
    }

    private static Kind kindOf(Throwable cause) {
        return switch (cause) {
            case SctpConnectException ended ->
                switch (ended.reason()) {
                    case NO_ANSWER -> Kind.NO_ANSWER;
                    case REFUSED -> Kind.REFUSED;
                    case ABORTED -> Kind.INTERNAL;
                    case LIMIT -> Kind.LIMIT;
                };
            case IOException unreachable -> Kind.UNREACHABLE;
            case SctpUnavailableException missing -> Kind.INVALID_PARAMETERS;
            case IllegalArgumentException impossible -> Kind.INVALID_PARAMETERS;
            default -> Kind.INTERNAL;
        };
    }

    @Override
    protected void lapse() {
        giveUp();
    }

    @Override
    protected void giveUp() {
        stopSeeking.run();
        if (session != null) {
            session.withdraw();
            session.abort();
        }
    }

    @Override
    public void onEstablished(SessionStartup agreed) {
        DdpStreamSession open = session;
        SoftwareAssociation below = association;
        if (open == null || below == null || isOver()) {
            return;
        }
        try {
            RdmapStream stream = attachStream(queuePair(), open.lowerLayer(), agreed.ird(), agreed.ord(), open::attach);
            established(
                    stream,
                    agreed.error(),
                    agreed.peer(),
                    agreed.rtr(),
                    below.attributes(open, agreed, depths(agreed.peer()), stream));
        } catch (RuntimeException | Error e) {
            failHere(e);
        }
    }

    @Override
    public void onRejected(SessionStartup reply) {
        rejected(reply.privateData(), reply.peer());
    }

    @Override
    public void onFailed(boolean refused, String message) {
        MpaOptions chosen = options;
        boolean again = refused
                && chosen != null
                && chosen.requestRevision() > 1
                && chosen.policy().revisions().contains(1);
        if (again && !isOver()) {
            // Asks again without RFC 6581, which the peer may not know (RFC 6581 section 10). TCP does the same.
            session = null;
            connect(options(parameters()).with(policy -> policy.withRequestRevision(1)));
        } else {
            failed(message);
        }
    }
}
