// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import static io.sidewarp.engine.testing.MpaPolicies.bits;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.sidewarp.engine.llp.UpperLayer;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.verbs.LlpError;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that Full Operation allocates nothing once warm. */
class MpaAllocationTest {

    private static final int PIECE = 1460;
    private static final int WARM_UP = 20_000;
    private static final int MEASURED = 20_000;

    /** Far below one octet per FPDU, and room for what the JVM itself does on this thread now and then. */
    private static final long TOLERATED = MEASURED / 4;

    private final WireBuffer wire = WireBuffer.allocate(128 * 1024);

    @ParameterizedTest(name = "CRC {0}, Markers {1}")
    @CsvSource({"true, true", "true, false", "false, false"})
    void aUlpduCostsNoAllocationFromClaimToDelivery(boolean crc, boolean markers) {
        MpaOptions options = MpaOptions.defaults().with(bits(markers, crc));
        Counter sink = new Counter(null);
        Side responder = new Side(MpaRole.RESPONDER, options, sink);
        Side initiator = new Side(MpaRole.INITIATOR, options, null);
        Counter source = new Counter(initiator.mpa);
        initiator.upper = source;
        carry(initiator.mpa, responder.mpa);
        carry(responder.mpa, initiator.mpa);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

        run(initiator, responder, source, WARM_UP);
        long before = threads.getCurrentThreadAllocatedBytes();
        run(initiator, responder, source, MEASURED);
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;

        assertThat(sink.received).isEqualTo(WARM_UP + MEASURED);
        assertThat(allocated).isLessThan(TOLERATED);
    }

    private void run(Side initiator, Side responder, Counter source, int ulpdus) {
        for (int i = 0; i < ulpdus; i += 40) {
            source.toSend = 40;
            carry(initiator.mpa, responder.mpa);
        }
    }

    /** One round of output, in pieces as of TCP segments, so that FPDUs are whole in some and cut in others. */
    private void carry(MpaConnection from, MpaConnection to) {
        int length = from.produce(wire, 0, wire.capacity());
        from.transferred(length);
        for (int at = 0; at < length; at += PIECE) {
            to.receive(wire, at, Math.min(PIECE, length - at));
        }
        to.receiveDone();
    }

    private static final class Side implements MpaTransport, MpaStartupListener {

        private final WireBuffer reassembly = WireBuffer.allocate(128 * 1024);
        private final MpaOptions options;
        private final MpaConnection mpa;
        private UpperLayer upper;

        Side(MpaRole role, MpaOptions options, UpperLayer upper) {
            this.options = options;
            this.upper = upper;
            this.mpa = new MpaConnection(role, options, this, this);
        }

        @Override
        public void onRequest(MpaStartup request) {
            mpa.accept(options);
        }

        @Override
        public void onEstablished(MpaStartup agreed) {
            mpa.attach(upper);
        }

        @Override
        public void onRejected(MpaStartup reply) {}

        @Override
        public void onUnenhancedPeer(String message) {}

        @Override
        public void onStartupFailed(LlpError reason, String message) {
            throw new AssertionError(message);
        }

        @Override
        public void requestOutput() {}

        @Override
        public void shutdownOutput() {}

        @Override
        public void close() {}

        @Override
        public void abort() {}

        @Override
        public int emss() {
            return 1448;
        }

        @Override
        public WireBuffer acquireReassembly(int capacity) {
            return reassembly;
        }

        @Override
        public void releaseReassembly(WireBuffer buffer) {}
    }

    /** Sends ULPDUs of changing size, and counts received ULPDUs. */
    private static final class Counter implements UpperLayer {

        private final MpaConnection mpa;
        private int toSend;
        private int received;
        private int size;

        Counter(MpaConnection mpa) {
            this.mpa = mpa;
        }

        @Override
        public void produce() {
            while (toSend > 0) {
                size = (size + 37) % 1400;
                if (!mpa.claim(size + 18)) {
                    return;
                }
                mpa.buffer().putInt(mpa.offset(), toSend);
                mpa.commit();
                toSend--;
            }
        }

        @Override
        public void onUlpdu(WireBuffer buffer, int offset, int length) {
            received++;
        }

        @Override
        public void onInputDone() {}

        @Override
        public void onTransferred() {}

        @Override
        public void onError(LlpError error) {
            throw new AssertionError(error);
        }

        @Override
        public void onPeerClosed() {}

        @Override
        public void onClosed(boolean graceful, String cause) {}
    }
}
