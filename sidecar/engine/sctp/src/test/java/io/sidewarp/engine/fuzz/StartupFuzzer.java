// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import static io.sidewarp.engine.testing.MpaPolicies.bits;

import io.sidewarp.engine.llp.mpa.MpaConnection;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.llp.mpa.MpaRole;
import io.sidewarp.engine.llp.mpa.MpaStartup;
import io.sidewarp.engine.llp.mpa.MpaStartupListener;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.testing.Octets;
import io.sidewarp.engine.verbs.DepthNegotiation;
import io.sidewarp.engine.verbs.LlpError;
import java.util.Arrays;

/**
 * Fuzzes the decoder of start-up frames, the first bytes of any stream. The result must not depend on how they are cut.
 */
final class StartupFuzzer {

    private static final WireBuffer OUTPUT = WireBuffer.allocate(2048);

    private StartupFuzzer() {}

    static void run(MpaRole role, byte[] data) {
        FuzzInput in = new FuzzInput(data);
        int flags = in.octet();
        int piece = 1 + in.below(64);
        MpaOptions options = MpaOptions.defaults()
                .with(bits((flags & 2) != 0, (flags & 1) != 0))
                .with(policy -> policy.withRequestRevision((flags & 4) != 0 ? 2 : 1)
                        .withPeerToPeer((flags & 0x10) != 0)
                        .withDepths(DepthNegotiation.values()[(flags >> 5 & 3) % 3]))
                .withMaxPrivateData((flags & 8) != 0 ? 16 : 512);
        byte[] octets = in.rest();
        String whole = new Execution(role, options).run(octets, 0);
        String pieces = new Execution(role, options).run(octets, piece);
        Violation.unless(whole.equals(pieces), "at once: " + whole + "; in pieces: " + pieces);
    }

    /** One start-up, with its outcome as text. */
    private static final class Execution implements MpaStartupListener {

        private final AccountingTransport transport = new AccountingTransport();
        private final StringBuilder outcome = new StringBuilder();
        private final MpaOptions options;
        private final MpaConnection mpa;
        private int outcomes;

        Execution(MpaRole role, MpaOptions options) {
            this.options = options;
            mpa = new MpaConnection(role, options, transport, this);
        }

        String run(byte[] octets, int piece) {
            mpa.start();
            output();
            InputWire.deliver(octets, piece, (offset, length) -> {
                int taken = mpa.receive(InputWire.buffer(), offset, length);
                output();
                return taken;
            });
            output();
            mpa.receiveLost("end of the input");
            transport.verifyReturned();
            Violation.unless(outcomes == 1, "start-up had " + outcomes + " outcomes");
            return outcome.toString();
        }

        private void output() {
            while (transport.takeOutputWanted()) {
                int length = mpa.produce(OUTPUT, 0, OUTPUT.capacity());
                outcome.append(" sent ").append(Octets.show(Octets.of(OUTPUT, 0, length)));
                mpa.transferred(length);
            }
        }

        private void outcome(String what) {
            outcomes++;
            outcome.append(what);
        }

        /** A frame is complete with its last octet, so that octets behind it may come before the answer or not. */
        @Override
        public void onRequest(MpaStartup request) {
            mpa.accept(options);
        }

        @Override
        public void onEstablished(MpaStartup agreed) {
            outcome("established, revision " + agreed.revision() + ", CRC " + agreed.crc() + ", Markers "
                    + agreed.sendMarkers() + agreed.receiveMarkers() + ", enhanced " + agreed.peer()
                    + ", IRD " + agreed.ird() + ", ORD " + agreed.ord() + agreed.rtr() + agreed.error()
                    + Arrays.toString(agreed.privateData()));
            mpa.abort();
        }

        @Override
        public void onRejected(MpaStartup reply) {
            outcome("rejected " + reply.peer() + Arrays.toString(reply.privateData()));
        }

        @Override
        public void onUnenhancedPeer(String message) {
            outcome("unenhanced");
        }

        @Override
        public void onStartupFailed(LlpError reason, String message) {
            outcome("failed " + reason);
        }
    }
}
