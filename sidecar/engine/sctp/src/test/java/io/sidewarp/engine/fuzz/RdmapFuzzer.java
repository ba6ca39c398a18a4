// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import io.sidewarp.engine.fuzz.GuardedRegions.Kind;
import io.sidewarp.engine.testing.Endpoint;
import io.sidewarp.engine.testing.Link;
import io.sidewarp.engine.testing.Ulpdus;
import io.sidewarp.engine.testing.WireEnd;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Fuzzes the decoders of RDMAP's own headers, Read Request and Terminate: any content in any number of segments. */
final class RdmapFuzzer {

    private static final GuardedRegions REGIONS = new GuardedRegions();
    private static final int READ_REQUEST = 0x41;
    private static final int TERMINATE = 0x47;

    private final FuzzInput in;
    private final WireEnd wire = new WireEnd();
    private final WorkLedger ledger = new WorkLedger();
    private final Application application = new Application(REGIONS, ledger);
    private final OutputJudge judge = new OutputJudge(1024, request -> {});
    private int readRequests;

    private RdmapFuzzer(FuzzInput in) {
        this.in = in;
        Endpoint endpoint = new Endpoint(wire, application.options());
        application.attach(endpoint);
        wire.attach(endpoint.stream());
    }

    static void run(byte[] data) {
        REGIONS.reset();
        RdmapFuzzer fuzzer = new RdmapFuzzer(new FuzzInput(data));
        while (!fuzzer.in.isEmpty()) {
            fuzzer.step();
        }
        fuzzer.wire.over(false, "end of the input");
        fuzzer.ledger.verifyAllCompleted();
    }

    private void step() {
        REGIONS.before();
        ledger.before();
        boolean placing = application.isPlacing();
        switch (in.below(4)) {
            case 0 -> application.act(in);
            case 1 -> message(TERMINATE, 2, 1, in.octets(in.length()));
            case 2 -> message(READ_REQUEST, 1, ++readRequests, readRequest());
            default -> message(READ_REQUEST, 1, ++readRequests, in.octets(in.length()));
        }
        output();
        REGIONS.after(placing, ledger::covers);
        ledger.verifyNotified();
    }

    /** Any 28 octets, except that the source is one of our regions. */
    private byte[] readRequest() {
        byte[] header = Arrays.copyOf(in.octets(28), 28);
        ByteBuffer.wrap(header).putInt(16, REGIONS.get(Kind.of(header[16])).stag());
        return header;
    }

    private void message(int control, int queue, int msn, byte[] content) {
        int segment = 1 + in.below(128);
        int at = 0;
        do {
            int length = Math.min(segment, content.length - at);
            boolean last = at + length == content.length;
            byte[] payload = Arrays.copyOfRange(content, at, at + length);
            input(Ulpdus.untagged(last ? 0x41 : 0x01, control, 0, queue, msn, at, payload));
            at += length;
        } while (at < content.length);
    }

    private void input(byte[] ulpdu) {
        if (!wire.over() && !wire.closing() && !wire.aborted()) {
            wire.input(ulpdu);
        }
    }

    private void output() {
        for (int turns = 0; wire.output(); turns++) {
            Violation.unless(turns < Link.MOST_TURNS, "the stream does not stop asking for output");
        }
        while (wire.pending() > 0) {
            judge.onUlpdu(wire.take().octets());
        }
        if (wire.aborted()) {
            wire.over(false, "aborted by this side");
        }
    }
}
