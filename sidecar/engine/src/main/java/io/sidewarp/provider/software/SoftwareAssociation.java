// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.netty.util.concurrent.ScheduledFuture;
import io.sidewarp.engine.llp.sctp.AssociationCounters;
import io.sidewarp.engine.llp.sctp.AssociationListener;
import io.sidewarp.engine.llp.sctp.DdpAssociation;
import io.sidewarp.engine.llp.sctp.DdpStreamSession;
import io.sidewarp.engine.llp.sctp.SessionStartup;
import io.sidewarp.engine.net.sctp.SctpAssociation;
import io.sidewarp.engine.net.sctp.SctpAssociationFacts;
import io.sidewarp.engine.net.sctp.SctpPathFacts;
import io.sidewarp.engine.verbs.AssociationAttributes;
import io.sidewarp.engine.verbs.AssociationPath;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An SCTP association whose sessions are connections. It ends when its last session has (RFC 5041 section 3 item 10): the
 * side that began it does so at once, the other one after a while, so that the two do not cross a new session's begin. One
 * that never has a session ends too.
 */
final class SoftwareAssociation implements AssociationListener {

    /** Learns what becomes of associations. On their event loop. */
    interface Keeper {

        /** Sessions can begin. */
        void onEstablished(SoftwareAssociation association);

        void onClosed(SoftwareAssociation association, String cause);
    }

    private final SctpNetwork network;
    private final long number;
    private final SctpAssociation transport;
    private final DdpAssociation sessions;
    private final Keeper keeper;
    private final SctpNetwork.@Nullable Door door;
    private boolean ending;
    /** Sessions of the peer that became connections. Others are no reason to keep the association. */
    private long opened;

    /** Running while the peer is to have one opened. */
    private @Nullable ScheduledFuture<?> patienceEnds;
    /** Sessions that had been opened before. */
    private long openedBefore;
    /** The patience ended while a request waited for its answer. */
    private boolean overdue;

    /** @param door where the peer began it; null where this side did, which takes no sessions that the peer begins */
    SoftwareAssociation(
            SctpNetwork network, SctpAssociation transport, SctpNetwork.@Nullable Door door, Keeper keeper) {
        this.network = network;
        this.number = network.nextNumber();
        this.transport = transport;
        this.door = door;
        this.keeper = keeper;
        this.sessions = new DdpAssociation(transport, network.settings(), network.earlyBudget(), door == null, this);
    }

    long number() {
        return number;
    }

    SctpAssociation transport() {
        return transport;
    }

    DdpAssociation sessions() {
        return sessions;
    }

    /** What it is and how it does, while it is up. */
    AssociationAttributes attributes() {
        SctpAssociationFacts facts = transport.facts();
        AssociationCounters counters = sessions.counters();
        return new AssociationAttributes(
                number,
                door == null,
                transport.localAddress(),
                transport.remoteAddress(),
                transport.remoteUdpPort(),
                sessions.streams(),
                sessions.occupiedStreams(),
                counters.chunksSent(),
                counters.chunksReceived(),
                counters.earlyChunks(),
                transport.retransmittedChunks(),
                facts.pendingChunks(),
                facts.unacknowledgedChunks(),
                facts.peerWindow(),
                facts.paths().stream().map(SoftwareAssociation::path).toList());
    }

    private static AssociationPath path(SctpPathFacts path) {
        return new AssociationPath(
                path.remote(),
                path.primary(),
                path.active(),
                path.smoothedRtt(),
                path.rto(),
                path.congestionWindow(),
                path.pathMtu());
    }

    /** Whether a session can begin. */
    boolean hasRoom() {
        return !ending && sessions.hasFreeStream();
    }

    @Override
    public void onEstablished() {
        network.onEstablished(this);
        keeper.onEstablished(this);
    }

    @Override
    public boolean onInitiate(DdpStreamSession session, SessionStartup asked) {
        // Not whoever accepted the association: another one may be there now.
        SoftwareSctpListener listener = door == null ? null : network.listenerAt(door);
        return listener != null && listener.onInitiate(this, session, asked);
    }

    @Override
    public void onIdle() {
        if (door == null) {
            end();
        } else {
            endUnlessUsed(network.settings().lingerTimeout());
        }
    }

    /** A session of the peer has become a connection. */
    void onUsed() {
        opened++;
    }

    /** Ends it if no session that the peer begins is opened in time. */
    void endUnlessUsed(Duration patience) {
        boolean unused = opened == openedBefore;
        if (unused && patienceEnds != null) {
            return;
        }
        if (unused && overdue) {
            end();
            return;
        }
        cancelPatience();
        overdue = false;
        openedBefore = opened;
        patienceEnds = transport.loop().schedule(this::endIfUnused, patience.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void endIfUnused() {
        patienceEnds = null;
        if (opened != openedBefore) {
            return;
        }
        if (sessions.hasRequest()) {
            overdue = true;
        } else {
            end();
        }
    }

    private void cancelPatience() {
        if (patienceEnds != null) {
            patienceEnds.cancel(false);
            patienceEnds = null;
        }
    }

    private void end() {
        if (!ending) {
            ending = true;
            transport.shutdown();
        }
    }

    @Override
    public void onClosed(boolean graceful, String cause) {
        ending = true;
        // Else the loop would keep it until then, and peers could have any number of them kept.
        cancelPatience();
        network.onClosed(this);
        keeper.onClosed(this, cause);
    }
}
