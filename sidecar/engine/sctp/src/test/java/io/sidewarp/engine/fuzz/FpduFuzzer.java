// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import static io.sidewarp.engine.testing.MpaPolicies.bits;

import io.sidewarp.engine.llp.UpperLayer;
import io.sidewarp.engine.llp.mpa.MpaConnection;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.llp.mpa.MpaRole;
import io.sidewarp.engine.llp.mpa.MpaStartup;
import io.sidewarp.engine.llp.mpa.MpaStartupListener;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.testing.Octets;
import io.sidewarp.engine.verbs.LlpError;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Fuzzes the decoder of FPDUs, with and without Markers and CRC. The result must not depend on how the stream is cut,
 * and must equal the result of a second, simpler decoder.
 */
final class FpduFuzzer {

    private static final WireBuffer OUTPUT = WireBuffer.allocate(MpaConnection.MAX_FPDU_LENGTH + 1024);
    private static final byte[] REPLY_KEY = "MPA ID Rep Frame".getBytes(StandardCharsets.US_ASCII);

    private FpduFuzzer() {}

    static void run(byte[] data) {
        FuzzInput in = new FuzzInput(data);
        boolean crc = in.yes();
        boolean markers = in.yes();
        int piece = 1 + in.octet();
        byte[] stream = stream(in, crc, markers);
        Execution whole = new Execution(crc, markers);
        Execution pieces = new Execution(crc, markers);
        whole.run(stream, 0);
        pieces.run(stream, piece);
        Violation.unless(whole.outcome().equals(pieces.outcome()), "the outcome depends on how the stream is cut");
        if (!markers) {
            Violation.unless(whole.outcome().equals(reference(stream, crc)), "another decoder finds something else");
        }
    }

    /** Right and damaged FPDUs and anything else, one behind the other. */
    private static byte[] stream(FuzzInput in, boolean crc, boolean markers) {
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        FpduEncoder encoder = new FpduEncoder(crc, markers);
        while (!in.isEmpty()) {
            int kind = in.below(8);
            int length = in.length();
            if (kind == 0) {
                stream.writeBytes(in.octets(length));
            } else {
                byte[] ulpdu = Arrays.copyOf(in.octets(Math.min(length, 8)), length);
                FpduEncoder.Damage[] damages = FpduEncoder.Damage.values();
                stream.writeBytes(
                        encoder.encode(ulpdu, kind < 6 ? FpduEncoder.Damage.NONE : damages[in.below(damages.length)]));
            }
        }
        return stream.toByteArray();
    }

    private static String reference(byte[] stream, boolean crc) {
        List<String> events = new ArrayList<>();
        FpduDecoder decoder = new FpduDecoder(crc, false, crc, ulpdu -> events.add(describe(ulpdu)));
        try {
            decoder.receive(stream);
        } catch (Violation wrong) {
            events.add(LlpError.CRC_MISMATCH.toString());
        }
        return events.toString();
    }

    private static String describe(byte[] ulpdu) {
        return ulpdu.length + ":" + Arrays.hashCode(ulpdu);
    }

    /** A connection in full operation, and the layer above it. */
    private static final class Execution implements MpaStartupListener, UpperLayer {

        private final AccountingTransport transport = new AccountingTransport();
        private final List<String> events = new ArrayList<>();
        private final MpaConnection mpa;
        private boolean failed;
        private boolean closed;

        Execution(boolean crc, boolean markers) {
            MpaOptions options = MpaOptions.defaults().with(bits(markers, crc));
            mpa = new MpaConnection(MpaRole.INITIATOR, options, transport, this);
            mpa.start();
            mpa.transferred(mpa.produce(OUTPUT, 0, OUTPUT.capacity()));
            byte[] reply = Octets.join(REPLY_KEY, new byte[] {0, 1, 0, 0});
            InputWire.deliver(reply, 0, (offset, length) -> mpa.receive(InputWire.buffer(), offset, length));
        }

        void run(byte[] stream, int piece) {
            InputWire.deliver(stream, piece, (offset, length) -> mpa.receive(InputWire.buffer(), offset, length));
            mpa.receiveDone();
            mpa.receiveLost("end of the input");
            Violation.unless(closed, "the layer above was not told of the end");
            transport.verifyReturned();
        }

        String outcome() {
            return events.toString();
        }

        @Override
        public void onUlpdu(WireBuffer buffer, int offset, int length) {
            Violation.unless(!failed && !closed, "a ULPDU behind the end");
            events.add(describe(Octets.of(buffer, offset, length)));
        }

        @Override
        public void onError(LlpError error) {
            Violation.unless(!failed && !closed, "a second error");
            failed = true;
            events.add(error.toString());
        }

        @Override
        public void onClosed(boolean graceful, String cause) {
            Violation.unless(!closed, "closed twice");
            closed = true;
        }

        @Override
        public void onInputDone() {}

        @Override
        public void produce() {}

        @Override
        public void onTransferred() {}

        @Override
        public void onPeerClosed() {}

        @Override
        public void onRequest(MpaStartup request) {}

        @Override
        public void onEstablished(MpaStartup agreed) {
            mpa.attach(this);
        }

        @Override
        public void onRejected(MpaStartup reply) {}

        @Override
        public void onUnenhancedPeer(String message) {}

        @Override
        public void onStartupFailed(LlpError reason, String message) {
            throw new AssertionError(message);
        }
    }
}
