// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import io.sidewarp.engine.testing.Link.Side;
import io.sidewarp.engine.testing.SctpEnd;
import io.sidewarp.engine.testing.SctpPipe;
import io.sidewarp.engine.testing.SessionRecorder;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Two ends of an association whose sessions begin and end. The SCTP between them delivers in any order. */
final class AssociatedPair {

    /** Actions of a Consumer on a session. */
    enum Deed {
        ACCEPT,
        REJECT,
        WITHDRAW,
        CLOSE_OUTPUT,
        CLOSE,
        ABORT
    }

    private static final int STREAMS = 3;
    private static final int PENDING = 2;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final SctpEnd left = SctpEnd.pair(STREAMS);
    private final ChunkJudge leftJudge = new ChunkJudge(left);
    private final ChunkJudge rightJudge = new ChunkJudge(left.peer());
    private final List<SessionRecorder> begun = new ArrayList<>();
    private final List<SessionRecorder> all = new ArrayList<>();
    private boolean lost;
    private boolean hasty;

    AssociatedPair() {
        for (Side side : Side.values()) {
            SctpEnd end = end(side);
            end.onInitiate(recorder -> {
                all.add(recorder);
                return end.asked().stream().filter(SessionRecorder::isUndecided).count() <= PENDING
                        || recorder.refuse();
            });
        }
    }

    private SctpEnd end(Side side) {
        return side == Side.LEFT ? left : left.peer();
    }

    /** A side begins a session if there is a stream for it; its Private Data says which one it is. */
    void initiate(Side side) {
        if (end(side).association().hasFreeStream()) {
            SessionRecorder recorder = end(side)
                    .initiate(ByteBuffer.allocate(4).putInt(begun.size()).array());
            begun.add(recorder);
            all.add(recorder);
        }
    }

    /** The Consumer of one of the sessions does something that it may do at that time. */
    void act(int which, Deed deed) {
        if (all.isEmpty()) {
            return;
        }
        SessionRecorder recorder = all.get(which % all.size());
        switch (deed) {
            case ACCEPT -> {
                if (recorder.isUndecided()) {
                    recorder.accept();
                }
            }
            case REJECT -> {
                if (recorder.isUndecided()) {
                    recorder.reject(SctpEnd.options());
                }
            }
            case WITHDRAW -> recorder.withdraw();
            default -> {
                if (recorder.isEstablished()) {
                    end(recorder, deed);
                }
            }
        }
    }

    private void end(SessionRecorder recorder, Deed deed) {
        hasty |= deed != Deed.CLOSE_OUTPUT;
        switch (deed) {
            case CLOSE_OUTPUT -> recorder.session().lowerLayer().closeOutput();
            case CLOSE -> recorder.session().close();
            default -> recorder.session().abort();
        }
    }

    /** A Consumer sends segments, each with its own content. */
    void send(int which, int count, int length) {
        if (all.isEmpty()) {
            return;
        }
        SessionRecorder recorder = all.get(which % all.size());
        for (int i = 0; i < count; i++) {
            int number = recorder.committed().size() + recorder.unsent();
            recorder.send(ByteBuffer.allocate(4 + length).putInt(number).array());
        }
    }

    /** SCTP takes what a side has to send. */
    void output(Side side) {
        end(side).pipe().output();
    }

    /** Delivers one of the messages in flight to a side. */
    void deliver(Side side, int which) {
        SctpPipe from = end(side.other()).pipe();
        if (!end(side).pipe().isOver() && !from.inFlight().isEmpty()) {
            end(side).pipe().deliver(which % from.inFlight().size());
        }
    }

    /** Acknowledgements, time-outs and whatever else is due. */
    void turn(Side side) {
        end(side).pipe().turn();
    }

    void holdAcknowledgements(Side side, boolean hold) {
        end(side).pipe().holdAcknowledgements(hold);
    }

    /** So many messages are on their way at a time. */
    void window(Side side, int messages) {
        end(side).pipe().window(messages);
        end(side).pipe().requestOutput();
    }

    void advance(int millis) {
        for (Side side : Side.values()) {
            end(side).pipe().advance(millis * NANOS_PER_MILLI);
        }
        hasty = true;
    }

    void lose() {
        lost = true;
        for (Side side : Side.values()) {
            end(side).pipe().lose("lost");
        }
    }

    /** Nothing is sent against the rules, and everything arrives as it was sent. */
    void verify() {
        leftJudge.judge();
        rightJudge.judge();
        all.forEach(ChunkJudge::verify);
        for (Side side : Side.values()) {
            Violation.unless(
                    end(side).association().counters().violations() == 0,
                    side + " accuses a peer that keeps to the rules");
            for (SessionRecorder passive : end(side).asked()) {
                SessionRecorder active = counterpart(passive);
                verifyPrefix(active, passive);
                verifyPrefix(passive, active);
            }
        }
    }

    private SessionRecorder counterpart(SessionRecorder passive) {
        return begun.get(ByteBuffer.wrap(passive.asked().privateData()).getInt());
    }

    private static void verifyPrefix(SessionRecorder from, SessionRecorder to) {
        List<String> sent = from.committed();
        List<String> received = to.segments();
        Violation.unless(
                received.size() <= sent.size() && received.equals(sent.subList(0, received.size())),
                "sent " + sent + ", and received " + received);
    }

    /** Ends all sessions in order unless the association is lost; then nothing may be left of them. */
    void finish() {
        for (Side side : Side.values()) {
            holdAcknowledgements(side, false);
            window(side, 64);
        }
        left.rest();
        verify();
        for (int i = 0; i < all.size(); i++) {
            act(i, Deed.ACCEPT);
        }
        left.rest();
        verify();
        for (SessionRecorder recorder : all) {
            if (recorder.isEstablished()) {
                recorder.session().lowerLayer().closeOutput();
            }
        }
        left.rest();
        verify();
        verifyNothingIsLeft();
        lose();
        all.forEach(ChunkJudge::verifyEnded);
    }

    private void verifyNothingIsLeft() {
        for (Side side : Side.values()) {
            Violation.unless(end(side).association().earlyOctets() == 0, side + " holds early chunks");
            Violation.unless(end(side).association().occupiedStreams() == 0, side + " holds streams");
            Violation.unless(
                    begun.isEmpty()
                            || lost
                            || end(side).asked().isEmpty()
                            || end(side).events().contains("idle"),
                    side + " is not idle");
        }
        if (lost || hasty) {
            return;
        }
        for (Side side : Side.values()) {
            for (SessionRecorder passive : end(side).asked()) {
                SessionRecorder active = counterpart(passive);
                boolean whole = active.isGivenUp()
                        || passive.isGivenUp()
                        || active.committed().equals(passive.segments())
                                && passive.committed().equals(active.segments());
                Violation.unless(whole, "a session that was ended in order lost something");
            }
        }
    }
}
