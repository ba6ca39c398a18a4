// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import io.sidewarp.engine.testing.SctpEnd;
import io.sidewarp.engine.testing.SctpPipe;
import io.sidewarp.engine.testing.SessionRecorder;
import java.util.Arrays;
import java.util.List;

/**
 * Checks the messages and notifications of an association by RFC 5043 section 6. Sessions have numbers from 0 without
 * gaps. They begin with the right message, end with their last message, and do not overlap on a stream. Each Consumer
 * sees one end.
 */
final class ChunkJudge {

    private static final int SEGMENT = 16;
    private static final int CONTROL = 17;
    private static final int ACCEPT = 2;
    private static final int REJECT = 3;
    private static final int TERMINATE = 4;
    private static final int ENHANCED_ACCEPT = 6;
    private static final int ENHANCED_REJECT = 7;

    private static final List<String> FINAL = List.of("rejected", "refused", "failed", "closed", "broken");

    /** State of a stream: the chunks that it has carried. */
    private static final class Stream {
        private int next;
        private boolean ended = true;
        private SctpPipe.Message answer;
    }

    private final SctpEnd end;
    private final Stream[] streams;
    private int judged;

    ChunkJudge(SctpEnd end) {
        this.end = end;
        this.streams = new Stream[end.association().streams()];
        Arrays.setAll(streams, i -> new Stream());
    }

    /** Judges what was sent since the last time, before anything of it arrives. */
    void judge() {
        List<SctpPipe.Message> log = end.pipe().log();
        for (; judged < log.size(); judged++) {
            judge(log.get(judged));
        }
        Violation.unless(end.association().occupiedStreams() <= streams.length, "too many streams are in use");
        Violation.unless(end.association().earlyOctets() >= 0, "more early octets were given back than taken");
    }

    private void judge(SctpPipe.Message message) {
        Stream stream = streams[message.stream()];
        byte[] octets = message.octets();
        boolean control = message.payloadProtocol() == CONTROL;
        Violation.unless(control || message.payloadProtocol() == SEGMENT, "payload protocol of " + message);
        Violation.unless(octets.length > 2 && (!control || octets.length <= 516), "length of " + message);
        int ssn = (octets[0] & 0xFF) << 8 | octets[1] & 0xFF;
        int code = control ? (octets[2] & 0xFF) << 8 | octets[3] & 0xFF : 0;
        if (control && ssn == 0 && (code != TERMINATE || stream.ended || stream.next != 0)) {
            // The Initiate of this side, or its answer to one.
            Violation.unless(code >= 1 && code <= ENHANCED_REJECT, "function code of " + message);
            Violation.unless(!isInFlight(message, null), message + " begins a session while a former one is in flight");
            stream.answer = code == ACCEPT || code == ENHANCED_ACCEPT ? message : null;
            stream.ended = code == REJECT || code == ENHANCED_REJECT || code == TERMINATE;
            stream.next = 1;
        } else {
            Violation.unless(!stream.ended, message + " belongs to no session");
            Violation.unless(ssn == stream.next, message + " when " + stream.next + " is due");
            stream.next = stream.next + 1 & 0xFFFF;
            if (control) {
                Violation.unless(code == TERMINATE, message + " is no end");
                Violation.unless(
                        stream.answer == null || !isInFlight(message, stream.answer),
                        message + " may overtake the Accept");
                stream.ended = true;
            }
        }
        Violation.unless(
                !control || code != TERMINATE || octets.length == 4, "Private Data in the Terminate " + message);
    }

    /** Returns whether an earlier message of the stream is in flight: the message {@code which}, or any if null. */
    private boolean isInFlight(SctpPipe.Message message, SctpPipe.Message which) {
        return end.pipe().inFlight().stream()
                .anyMatch(other -> other.stream() == message.stream()
                        && other.number() < message.number()
                        && (which == null || other.number() == which.number()));
    }

    /** Checks that a Consumer's events begin with an opening and contain at most one end. */
    static void verify(SessionRecorder recorder) {
        List<String> events = recorder.events();
        for (int i = 0; i < events.size(); i++) {
            boolean last = i == events.size() - 1;
            Violation.unless(last || !FINAL.contains(events.get(i)), "events " + events);
            boolean opening =
                    List.of("established", "rejected", "refused", "failed").contains(events.get(i));
            Violation.unless(opening == (i == 0), "events " + events);
        }
        Violation.unless(!recorder.isGivenUp() || events.isEmpty(), "was given up, but then " + events);
    }

    /** Does the same after the association has gone. */
    static void verifyEnded(SessionRecorder recorder) {
        verify(recorder);
        boolean ended =
                !recorder.events().isEmpty() && FINAL.contains(recorder.events().getLast());
        Violation.unless(ended || recorder.isGivenUp(), "has no end: " + recorder.events());
    }
}
