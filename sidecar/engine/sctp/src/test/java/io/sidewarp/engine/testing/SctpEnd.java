// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import io.sidewarp.engine.llp.Negotiation;
import io.sidewarp.engine.llp.sctp.AdaptationSettings;
import io.sidewarp.engine.llp.sctp.AssociationListener;
import io.sidewarp.engine.llp.sctp.DdpAssociation;
import io.sidewarp.engine.llp.sctp.DdpStreamSession;
import io.sidewarp.engine.llp.sctp.EarlyBudget;
import io.sidewarp.engine.llp.sctp.SessionOptions;
import io.sidewarp.engine.llp.sctp.SessionStartup;
import io.sidewarp.engine.verbs.RtrKind;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Predicate;

/**
 * One end of an association in memory, and its owner, which accepts all sessions by default. The test plays the peer of
 * a lone end: the end receives injected messages, and acknowledgements when the test says so.
 */
public final class SctpEnd implements AssociationListener {

    /** Turns after which an end is taken for one that never rests. */
    private static final int MOST_TURNS = 1_000_000;

    private final SctpPipe pipe = new SctpPipe();
    private final DdpAssociation association;
    private final List<SessionRecorder> asked = new ArrayList<>();
    private final List<String> events = new ArrayList<>();
    private Predicate<SessionRecorder> onInitiate = recorder -> {
        recorder.accept();
        return true;
    };
    private SctpEnd peer;

    private SctpEnd(AdaptationSettings settings, EarlyBudget budget, boolean initiator) {
        association = new DdpAssociation(pipe, settings, budget, initiator, this);
        pipe.bind(association);
    }

    /** Two ends of an association that is up; this is the one that sent the INIT. */
    public static SctpEnd pair(int streams) {
        return pair(AdaptationSettings.defaults(), streams);
    }

    /** Two ends of an association that is up; this is the one that sent the INIT. */
    public static SctpEnd pair(AdaptationSettings settings, int streams) {
        SctpEnd left = new SctpEnd(settings, EarlyBudget.ofDevice(settings), true);
        left.peer = new SctpEnd(settings, EarlyBudget.ofDevice(settings), false);
        left.peer.peer = left;
        SctpPipe.connect(left.pipe, left.peer.pipe);
        left.peer.up(streams);
        left.up(streams);
        return left;
    }

    /** An end of an association that is up, and whose peer is the test. */
    public static SctpEnd alone(int streams) {
        return alone(AdaptationSettings.defaults(), streams);
    }

    /** An end of an association that is up, and whose peer is the test. */
    public static SctpEnd alone(AdaptationSettings settings, int streams) {
        return alone(settings, EarlyBudget.ofDevice(settings), streams);
    }

    /** An end of an association that is up, and whose peer is the test; one of those that share a budget. */
    public static SctpEnd alone(AdaptationSettings settings, EarlyBudget budget, int streams) {
        SctpEnd end = down(settings, budget);
        end.up(streams);
        return end;
    }

    /** An end of an association that is not up yet, and whose peer is the test. */
    public static SctpEnd down(AdaptationSettings settings) {
        return down(settings, EarlyBudget.ofDevice(settings));
    }

    private static SctpEnd down(AdaptationSettings settings, EarlyBudget budget) {
        SctpEnd end = new SctpEnd(settings, budget, true);
        SctpPipe.connect(end.pipe, new SctpPipe());
        return end;
    }

    /** Returns the options of a Consumer without special wishes. */
    public static SessionOptions options(byte... privateData) {
        return new SessionOptions(privateData, false, terms());
    }

    /** Returns the options of a Consumer that negotiates. */
    public static SessionOptions enhanced(Negotiation.Terms terms, byte... privateData) {
        return new SessionOptions(privateData, true, terms);
    }

    /** 16 reads in either direction, client and server. */
    public static Negotiation.Terms terms() {
        return new Negotiation.Terms(16, 16, true, false, List.of(RtrKind.values()));
    }

    private void up(int streams) {
        association.onEstablished(streams, streams, OptionalInt.of(DdpAssociation.ADAPTATION_INDICATION));
    }

    public SctpEnd peer() {
        return peer;
    }

    public SctpPipe pipe() {
        return pipe;
    }

    public DdpAssociation association() {
        return association;
    }

    /** Returns the recorders of the sessions that the peer requested, in order. */
    public List<SessionRecorder> asked() {
        return asked;
    }

    /** Returns the events of the association: established, idle, closed, broken. */
    public List<String> events() {
        return events;
    }

    /**
     * Sets the decision about each Initiate from now on. Its result is the result of {@link
     * AssociationListener#onInitiate}.
     */
    public void onInitiate(Predicate<SessionRecorder> decision) {
        onInitiate = decision;
    }

    /** A session of this end that the test, as its peer, has accepted. */
    public SessionRecorder establish() {
        SessionRecorder active = initiate();
        rest();
        inject(0, 17, "0000 0002");
        return active;
    }

    public SessionRecorder initiate(byte... privateData) {
        return initiate(options(privateData));
    }

    public SessionRecorder initiate(SessionOptions options) {
        SessionRecorder recorder = new SessionRecorder();
        recorder.bind(association.initiate(options, recorder));
        return recorder;
    }

    /** A message that the peer is to have sent. */
    public void inject(int stream, int payloadProtocol, String... octets) {
        pipe.inject(stream, payloadProtocol, Octets.hex(octets));
    }

    /** The peer's SCTP acknowledges everything. */
    public void acknowledge() {
        pipe.acknowledge();
        rest();
    }

    /** Lets time pass. */
    public void advance(long nanos) {
        pipe.advance(nanos);
        rest();
    }

    /** Messages that were sent, as in {@code 0:17 00 00 00 01}. */
    public List<String> sent() {
        return pipe.log().stream().map(SctpPipe.Message::toString).toList();
    }

    /** Messages that were sent on a stream. */
    public List<String> sent(int stream) {
        return pipe.log().stream()
                .filter(message -> message.stream() == stream)
                .map(SctpPipe.Message::toString)
                .toList();
    }

    /** Takes turns until this end rests, and its peer if that is none but an end. */
    public void rest() {
        for (int i = 0; i < MOST_TURNS; i++) {
            boolean busy = pipe.turn();
            busy |= peer != null && peer.pipe.turn();
            if (!busy) {
                return;
            }
        }
        throw new AssertionError("the association does not come to rest");
    }

    @Override
    public void onEstablished() {
        events.add("established");
    }

    @Override
    public boolean onInitiate(DdpStreamSession session, SessionStartup startup) {
        SessionRecorder recorder = new SessionRecorder();
        recorder.bind(session);
        recorder.onAsked(startup);
        session.listen(recorder);
        asked.add(recorder);
        return onInitiate.test(recorder);
    }

    @Override
    public void onIdle() {
        events.add("idle");
    }

    @Override
    public void onClosed(boolean graceful, String cause) {
        events.add(graceful ? "closed" : "broken");
    }
}
