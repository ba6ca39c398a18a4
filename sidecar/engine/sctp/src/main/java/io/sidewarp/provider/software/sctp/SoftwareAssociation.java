// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software.sctp;

import io.netty.util.concurrent.ScheduledFuture;
import io.sidewarp.engine.llp.sctp.AssociationCounters;
import io.sidewarp.engine.llp.sctp.AssociationListener;
import io.sidewarp.engine.llp.sctp.DdpAssociation;
import io.sidewarp.engine.llp.sctp.DdpStreamSession;
import io.sidewarp.engine.llp.sctp.SessionStartup;
import io.sidewarp.engine.net.sctp.SctpAssociation;
import io.sidewarp.engine.net.sctp.SctpAssociationFacts;
import io.sidewarp.engine.rdmap.RdmapStream;
import io.sidewarp.engine.verbs.AssociationAttributes;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.ReadDepths;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An SCTP association whose sessions are connections. It ends when its last session has ended (RFC 5041 section 3 item
 * 10). The side that began the association ends it at once. The other side ends it after a delay, so that the end does
 * not cross the begin of a new session. An association without a session ends too.
 */
final class SoftwareAssociation implements AssociationListener {

    /** Receives the events of associations, on their event loop. */
    interface Keeper {

        /** Handles an association on which sessions can begin. */
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
    /** Number of the peer's sessions that became connections. Other sessions do not keep the association open. */
    private long opened;

    /** Timer that runs while the peer is to have a session opened. */
    private @Nullable ScheduledFuture<?> patienceEnds;
    /** Value of {@link #opened} at the start of the timer. */
    private long openedBefore;
    /** True if the timer ended while a request waited for its answer. */
    private boolean overdue;

    /**
     * @param door where the peer began the association; null if this side began it, and then takes no sessions of the
     *     peer
     */
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

    /** Returns the attributes and counters of the association, while it is up. */
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
                facts.paths());
    }

    /**
     * Returns the attributes of a connection. A CRC32c is always used, whatever was requested, and there is no MPA.
     */
    ConnectionAttributes attributes(
            DdpStreamSession session, SessionStartup agreed, ReadDepths peerDepths, RdmapStream stream) {
        return new ConnectionAttributes(
                Llp.SCTP,
                door == null,
                transport.localAddress(),
                transport.remoteAddress(),
                agreed.privateData(),
                agreed.ird(),
                agreed.ord(),
                peerDepths,
                agreed.peerToPeer(),
                true,
                false,
                false,
                0,
                1,
                stream.mulpdu(),
                number,
                session.stream());
    }

    /** Returns whether a session can begin. */
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
        // Asks the current listener, which may not be the one that accepted the association.
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

    /** Records that a session of the peer has become a connection. */
    void onUsed() {
        opened++;
    }

    /** Ends the association if the peer has no session opened in time. */
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
        // A running timer would keep this object on the loop. Peers could fill the memory with such objects.
        cancelPatience();
        network.onClosed(this);
        keeper.onClosed(this, cause);
    }
}
