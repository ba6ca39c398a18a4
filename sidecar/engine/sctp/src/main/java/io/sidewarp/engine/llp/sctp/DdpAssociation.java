// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import io.sidewarp.engine.memory.WireBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * The DDP adaptation over one SCTP association (RFC 5043): up to one DDP stream session on each pair of SCTP streams.
 * The class is a state machine without I/O, threads or timers. Everything runs on the event loop that owns the
 * association.
 *
 * <p>Sessions with output take turns. A message that SCTP does not take at once waits here, one at a time. No further
 * message is produced until then, so back-pressure reaches the work queues.
 */
public final class DdpAssociation implements SctpUser {

    /** Adaptation Layer Indication of DDP (RFC 5043 section 5.1). */
    public static final int ADAPTATION_INDICATION = 0x0000_0001;

    /** Smallest value of the maximum DDP Segment, in bytes (section 9). */
    public static final int MIN_SEGMENT = 516;

    /** Largest user message that is produced, in bytes, which is more than a packet holds. */
    private static final int MAX_MESSAGE = 65_536;

    /** Bytes that a session may send in one turn. */
    private static final int TURN_OCTETS = 256 * 1024;

    /** Turns in one call of {@link #produce}. The event loop then continues with other work. */
    private static final int TURNS = 16;

    /**
     * Maximum number of sessions at a time in which the peer broke the rules. Later chunks of such a session cannot be
     * recognised. Its stream is therefore not free any more, unless the peer begins another session there.
     */
    private static final int MOST_BROKEN = 64;

    private final SctpTransport transport;
    private final AdaptationSettings settings;
    private final AssociationListener listener;
    private final boolean initiator;
    private final EarlyBudget budget;
    private final AssociationCounters counters = new AssociationCounters();
    private final WireBuffer staging = WireBuffer.allocate(MAX_MESSAGE);

    private final ArrayDeque<DdpStreamSession> ready = new ArrayDeque<>();
    /** At most one entry for each stream. The entry stands for the session that the stream has at its turn. */
    private final ArrayDeque<DdpStreamSession> waiting = new ArrayDeque<>();

    private final ArrayDeque<DdpStreamSession> touched = new ArrayDeque<>();
    private @Nullable DdpStreamSession[] sessions = new DdpStreamSession[0];
    /** True for each stream that has an entry in {@link #waiting}. */
    private boolean[] waitingStreams = new boolean[0];

    private int occupied;
    private int live;
    private int early;
    private int broken;
    private boolean established;
    private boolean idle = true;
    private boolean aborted;
    private boolean closed;

    private @Nullable DdpStreamSession stagedBy;
    private int stagedProtocol;
    private int stagedLength;
    private int turnOctets;
    private boolean refused;
    private long submitted;
    private long acknowledged;
    private long nextWake = Long.MAX_VALUE;

    /**
     * @param budget budget of all associations of the device
     * @param initiator whether this side sent the INIT; the two sides take stream identifiers from opposite ends
     */
    public DdpAssociation(
            SctpTransport transport,
            AdaptationSettings settings,
            EarlyBudget budget,
            boolean initiator,
            AssociationListener listener) {
        this.transport = transport;
        this.settings = settings;
        this.initiator = initiator;
        this.listener = listener;
        this.budget = budget.ofAssociation(settings);
    }

    /** Returns the counters of this association. */
    public AssociationCounters counters() {
        return counters;
    }

    /** Pairs of streams, each for one session at a time. The number is 0 before the association is up. */
    public int streams() {
        return sessions.length;
    }

    /** Pairs of streams that have a session, or that still have chunks of an earlier session in flight. */
    public int occupiedStreams() {
        return occupied;
    }

    /** Bytes of the budget that early chunks hold at present. */
    public int earlyOctets() {
        return budget.held();
    }

    /** Sessions that get a turn when the peer has acknowledged a message. */
    int waitingSessions() {
        return waiting.size();
    }

    /** Returns whether a session can be begun. */
    public boolean hasFreeStream() {
        return isUsable() && occupied < sessions.length;
    }

    /** Returns whether a session of the peer waits for its Consumer, or for SCTP to take the answer. */
    public boolean hasRequest() {
        for (DdpStreamSession session : sessions) {
            if (session != null && session.isRequest()) {
                return true;
            }
        }
        return false;
    }

    private boolean isUsable() {
        return established && !aborted && !closed;
    }

    /**
     * Begins a session as the active side: sends an Initiate on a free stream (section 6.2).
     *
     * @throws IllegalStateException when no stream is free, see {@link #hasFreeStream}
     */
    public DdpStreamSession initiate(SessionOptions options, DdpSessionListener sessionListener) {
        if (!hasFreeStream()) {
            throw new IllegalStateException(
                    isUsable() ? "all " + sessions.length + " streams are in use" : "the association is not up");
        }
        int stream = initiator ? 0 : sessions.length - 1;
        while (sessions[stream] != null) {
            stream += initiator ? 1 : -1;
        }
        DdpStreamSession session = occupy(stream, null);
        session.initiate(options, sessionListener);
        return session;
    }

    private DdpStreamSession occupy(int stream, @Nullable DdpStreamSession former) {
        DdpStreamSession session = new DdpStreamSession(this, stream, budget, former);
        sessions[stream] = session;
        occupied++;
        live++;
        idle = false;
        return session;
    }

    /** Ends the association with all its sessions. No session sends a message of its own (section 11.3). */
    public void abort(String reason) {
        if (!closed && !aborted) {
            aborted = true;
            transport.abort(reason);
        }
    }

    // ---- Events of SCTP

    @Override
    public void onEstablished(int inboundStreams, int outboundStreams, OptionalInt adaptation) {
        if (adaptation.isEmpty() || adaptation.getAsInt() != ADAPTATION_INDICATION) {
            abort("no DDP adaptation (RFC 5043 section 11.1): "
                    + (adaptation.isEmpty()
                            ? "the peer indicates no adaptation layer"
                            : "the peer indicates adaptation layer 0x" + Integer.toHexString(adaptation.getAsInt())));
            return;
        }
        sessions = new DdpStreamSession[Math.min(inboundStreams, outboundStreams)];
        waitingStreams = new boolean[sessions.length];
        established = true;
        listener.onEstablished();
    }

    @Override
    public void onMessage(int stream, int payloadProtocol, WireBuffer buffer, int offset, int length) {
        if (!isUsable() || stream < 0 || stream >= sessions.length) {
            return;
        }
        counters.chunksReceived++;
        DdpStreamSession session = sessions[stream];
        if (session == null) {
            if (ChunkFlyweight.isTerminate(payloadProtocol, buffer, offset, length)) {
                // A Terminate never overtakes its Initiate (section 6.6). This one belongs to a session that is already
                // forgotten.
                return;
            }
            session = expect(stream, null);
        } else if (ChunkFlyweight.isInitiate(payloadProtocol, buffer, offset, length)) {
            session = successor(session);
        }
        if (!session.touched) {
            session.touched = true;
            touched.add(session);
        }
        session.onChunk(payloadProtocol, buffer, offset, length);
        if (session.isExpected()) {
            if (early > settings.earlySessions()) {
                session.breakOff("more than " + settings.earlySessions() + " sessions without an Initiate");
            } else {
                session.linger.beginOnce();
            }
        }
    }

    private DdpStreamSession expect(int stream, @Nullable DdpStreamSession former) {
        DdpStreamSession session = occupy(stream, former);
        early++;
        return session;
    }

    /** Returns the session of an Initiate. It is a new session if the peer considers the present session over. */
    private DdpStreamSession successor(DdpStreamSession present) {
        boolean ended = present.isEnded();
        if (!ended && !present.isUnsaid()) {
            return present;
        }
        occupied--;
        present.onReleased();
        DdpStreamSession next = expect(present.stream(), present);
        if (ended) {
            present.supersede();
        } else {
            present.yieldStream();
        }
        return next;
    }

    @Override
    public void onInputDone() {
        if (closed) {
            return;
        }
        for (DdpStreamSession session = touched.poll(); session != null; session = touched.poll()) {
            session.onInputDone();
        }
    }

    @Override
    public void onAcknowledged() {
        if (closed) {
            return;
        }
        for (int i = waiting.size(); i > 0; i--) {
            int stream = waiting.remove().stream();
            waitingStreams[stream] = false;
            DdpStreamSession session = sessions[stream];
            if (session != null) {
                enqueue(session);
            }
        }
        transport.requestOutput();
    }

    @Override
    public void onWake() {
        nextWake = Long.MAX_VALUE;
        if (closed) {
            return;
        }
        long now = transport.nanoTime();
        for (DdpStreamSession session : sessions) {
            if (session != null) {
                session.onTime(now);
            }
        }
        settleIdle();
    }

    @Override
    public void onClosed(boolean graceful, String cause) {
        if (closed) {
            return;
        }
        closed = true;
        for (DdpStreamSession session : sessions) {
            if (session != null) {
                session.onAssociationClosed(graceful, cause);
            }
        }
        Arrays.fill(sessions, null);
        occupied = 0;
        ready.clear();
        waiting.clear();
        touched.clear();
        listener.onClosed(graceful, cause);
    }

    // ---- Output

    @Override
    public void produce() {
        if (!isUsable() || !flush()) {
            return;
        }
        refused = false;
        for (int turns = TURNS; turns > 0 && !refused; turns--) {
            DdpStreamSession session = ready.poll();
            if (session == null) {
                break;
            }
            turnOctets = 0;
            session.produce();
        }
        if (!refused && !ready.isEmpty()) {
            transport.requestOutput();
        }
        settleIdle();
    }

    /** Queues a session for a turn. */
    void enqueue(DdpStreamSession session) {
        if (isUsable() && !session.queued) {
            session.queued = true;
            ready.add(session);
            transport.requestOutput();
        }
    }

    /** Returns whether a session may stage a message now. If not, the session is queued for a later turn. */
    boolean mayStage(DdpStreamSession session) {
        if (stagedBy != null || turnOctets >= TURN_OCTETS) {
            enqueue(session);
            return false;
        }
        if (!hasWindow()) {
            awaitAcknowledgement(session);
            return false;
        }
        return true;
    }

    /** Returns whether the window of unacknowledged chunks has room for one more (section 10). */
    private boolean hasWindow() {
        if (submitted - acknowledged >= settings.unacknowledged()) {
            acknowledged = transport.acknowledged();
        }
        return submitted - acknowledged < settings.unacknowledged();
    }

    /** Returns the buffer for the message of a session, which begins at its first byte. */
    WireBuffer staging() {
        return staging;
    }

    /** Sends the staged message, at once or as soon as SCTP takes it. */
    void submit(DdpStreamSession session, int payloadProtocol, int length) {
        stagedBy = session;
        stagedProtocol = payloadProtocol;
        stagedLength = length;
        turnOctets += length;
        flush();
    }

    private boolean flush() {
        DdpStreamSession session = stagedBy;
        if (session == null) {
            return true;
        }
        if (!transport.send(session.stream(), stagedProtocol, staging, 0, stagedLength)) {
            refused = true;
            return false;
        }
        submitted++;
        counters.chunksSent++;
        stagedBy = null;
        session.onSubmitted(stagedLength, submitted);
        return true;
    }

    /** Size in bytes of the largest DDP Segment (section 9). */
    int maxSegment() {
        int message = Math.min(transport.maxMessage(), MAX_MESSAGE);
        return Math.max(MIN_SEGMENT, message - ChunkFlyweight.SSN_LENGTH);
    }

    /**
     * Returns whether the peer acknowledged a message. If not, the session gets a turn after the next acknowledgement.
     */
    boolean isAcknowledged(long position, DdpStreamSession session) {
        if (position > acknowledged) {
            acknowledged = transport.acknowledged();
        }
        if (position <= acknowledged) {
            return true;
        }
        awaitAcknowledgement(session);
        return false;
    }

    private void awaitAcknowledgement(DdpStreamSession session) {
        if (!waitingStreams[session.stream()]) {
            waitingStreams[session.stream()] = true;
            waiting.add(session);
        }
        transport.requestAcknowledged();
    }

    // ---- Sessions

    AdaptationSettings settings() {
        return settings;
    }

    long nanoTime() {
        return transport.nanoTime();
    }

    void wakeAt(long deadline) {
        if (deadline - nextWake < 0 || nextWake == Long.MAX_VALUE) {
            nextWake = deadline;
            transport.wakeAt(deadline);
        }
    }

    /** Reports the Initiate of a session; see {@link AssociationListener#onInitiate}. */
    boolean onInitiate(DdpStreamSession session, SessionStartup asked) {
        return listener.onInitiate(session, asked);
    }

    /** Reports that an expected session got its Initiate, or ended without it. */
    void onNoLongerEarly() {
        early--;
    }

    /** Reports the end of a session of the peer that did not open. Returns whether the session was counted. */
    boolean onUnopened() {
        boolean counted = budget.takeUnopened();
        if (!counted) {
            abort("too many sessions did not open, and their end is not acknowledged");
        }
        return counted;
    }

    /** Reports that the stream of a session that did not open is free or gone. */
    void onUnopenedGone() {
        budget.giveBackUnopened();
    }

    /** Reports the first time that the peer broke the rules in a session. */
    void onBroken() {
        broken++;
        if (broken > MOST_BROKEN) {
            abort("the peer broke RFC 5043 in more than " + MOST_BROKEN + " sessions");
        }
    }

    /** Reports that the stream of a session with broken rules has another session, or is gone. */
    void onBrokenGone() {
        broken--;
    }

    /** Reports that a session expects no more, though its stream may not be free. */
    void onOver() {
        live--;
    }

    /** Releases the stream of a session for another session. */
    void release(DdpStreamSession session) {
        if (sessions[session.stream()] == session) {
            sessions[session.stream()] = null;
            occupied--;
            session.onReleased();
        }
    }

    private void settleIdle() {
        if (isUsable() && !idle && live == 0 && stagedBy == null && ready.isEmpty()) {
            idle = true;
            listener.onIdle();
        }
    }
}
