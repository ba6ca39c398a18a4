// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import io.sidewarp.engine.llp.Negotiation;
import io.sidewarp.engine.llp.sctp.AdaptationSettings;
import io.sidewarp.engine.testing.Octets;
import io.sidewarp.engine.testing.SctpEnd;
import io.sidewarp.engine.testing.SessionRecorder;
import io.sidewarp.engine.verbs.RtrKind;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Fuzzes one end of an SCTP association, whose peer sends any messages on any streams. Work of Consumers,
 * acknowledgements, time and a full SCTP come in between.
 */
final class AssociationFuzzer {

    private static final int STREAMS = 4;
    private static final int PENDING = 3;
    private static final int MOST_STEPS = 300;
    /** Small, so that the limits are reached. */
    private static final AdaptationSettings SETTINGS =
            new AdaptationSettings(8192, 10_000, 4096, 40, 2, 20, Duration.ofMillis(100));

    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final int SEGMENT = 16;
    private static final int CONTROL = 17;

    private final FuzzInput in;
    private final SctpEnd end = SctpEnd.alone(SETTINGS, STREAMS);
    private final ChunkJudge judge = new ChunkJudge(end);
    private final List<SessionRecorder> sessions = new ArrayList<>();
    private final int[] nextSsn = new int[STREAMS];

    private AssociationFuzzer(FuzzInput in) {
        this.in = in;
        end.onInitiate(recorder -> {
            sessions.add(recorder);
            return end.asked().stream().filter(SessionRecorder::isUndecided).count() <= PENDING || recorder.refuse();
        });
    }

    static void run(byte[] data) {
        AssociationFuzzer fuzzer = new AssociationFuzzer(new FuzzInput(data));
        for (int steps = 0; steps < MOST_STEPS && !fuzzer.in.isEmpty(); steps++) {
            fuzzer.step();
            fuzzer.verify();
        }
        fuzzer.finish();
    }

    private void step() {
        switch (in.below(16)) {
            case 0, 1, 2 -> control(1 + in.below(4));
            case 3, 4 -> chunk(SEGMENT, in.octets(1 + in.below(8)));
            case 5 -> control(5 + in.below(3));
            case 6 -> end.pipe().inject(in.below(STREAMS + 1), in.octet() & 0x1F, in.octets(in.length()));
            case 7 -> begin();
            case 8, 9 -> act();
            case 10 -> send();
            case 11 -> end.pipe().acknowledge();
            case 12 -> end.pipe().window(in.below(3) * 30);
            case 13 -> end.pipe().maxMessage(in.below(8) * 256);
            case 14 -> end.pipe().advance(in.octet() * NANOS_PER_MILLI);
            default -> end.pipe().holdAcknowledgements(in.yes());
        }
        if (in.below(4) != 0) {
            end.rest();
        }
    }

    private void control(int code) {
        byte[] privateData = in.octets(in.below(3) * 4);
        chunk(CONTROL, Octets.join(new byte[] {0, (byte) code}, code == 4 ? new byte[0] : privateData));
    }

    /** Mostly with the number that is due, at times ahead or behind, or as the first of another session. */
    private void chunk(int payloadProtocol, byte[] content) {
        int how = in.octet();
        int stream = how % STREAMS;
        int kind = how >> 4;
        if (kind >= 2 && kind <= 4) {
            nextSsn[stream] = 0;
        } else if (kind == 5) {
            nextSsn[stream]++;
        }
        int ssn = switch (kind) {
            case 0 -> nextSsn[stream] + in.below(64) - 4;
            case 1 -> nextSsn[stream] + in.word();
            default -> nextSsn[stream];
        };
        nextSsn[stream]++;
        byte[] number = ByteBuffer.allocate(2).putShort((short) ssn).array();
        end.pipe().inject(stream, payloadProtocol, Octets.join(number, content));
    }

    private void begin() {
        boolean enhanced = in.yes();
        if (end.association().hasFreeStream()) {
            Negotiation.Terms terms = new Negotiation.Terms(4, 4, true, in.yes(), List.of(RtrKind.READ));
            SessionRecorder recorder = end.initiate(enhanced ? SctpEnd.enhanced(terms) : SctpEnd.options(in.octets(4)));
            sessions.add(recorder);
            nextSsn[recorder.session().stream()] = 0;
        }
    }

    private void act() {
        int which = in.octet();
        int deed = in.below(6);
        if (sessions.isEmpty()) {
            return;
        }
        SessionRecorder recorder = sessions.get(which % sessions.size());
        if (deed == 0) {
            recorder.withdraw();
        } else if (recorder.isUndecided()) {
            if (deed == 1) {
                recorder.reject(SctpEnd.options());
            } else {
                recorder.accept();
            }
        } else if (recorder.isEstablished()) {
            switch (deed) {
                case 1, 2 -> recorder.session().lowerLayer().closeOutput();
                case 3 -> recorder.session().close();
                default -> recorder.session().abort();
            }
        }
    }

    private void send() {
        int which = in.octet();
        int count = 1 + in.below(30);
        if (!sessions.isEmpty()) {
            for (int i = 0; i < count; i++) {
                sessions.get(which % sessions.size()).send(new byte[1 + i]);
            }
        }
    }

    private void verify() {
        judge.judge();
        sessions.forEach(ChunkJudge::verify);
        Violation.unless(
                end.association().earlyOctets() <= SETTINGS.reorderOctets() + SETTINGS.strangersOctets(),
                "too many early chunks are held");
        Violation.unless(
                end.pipe().inFlight().size() <= SETTINGS.unacknowledged(), "too many chunks are unacknowledged");
    }

    private void finish() {
        end.pipe().lose("end of the input");
        sessions.forEach(ChunkJudge::verifyEnded);
        Violation.unless(end.association().earlyOctets() == 0, "early chunks are held");
        Violation.unless(end.association().occupiedStreams() == 0, "streams are held");
    }
}
