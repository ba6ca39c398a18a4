// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.sidewarp.engine.llp.UpperLayer;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.testing.SctpEnd;
import io.sidewarp.engine.verbs.LlpError;
import java.lang.management.ManagementFactory;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** Tests that segments in order cause no allocation once warm. */
class SctpAllocationTest {

    private static final int SESSIONS = 4;
    private static final int BATCH = 10;
    private static final int ROUNDS = 1_000;
    private static final int SEGMENTS = ROUNDS * SESSIONS * BATCH;

    /** Far below one octet per segment, and room for what the JVM itself does on this thread now and then. */
    private static final long TOLERATED = SEGMENTS / 4;

    @Test
    void aSegmentCostsNoAllocationFromClaimToDelivery() {
        Side left = new Side(true);
        Side right = new Side(false);
        OptionalInt ddp = OptionalInt.of(DdpAssociation.ADAPTATION_INDICATION);
        right.association.onEstablished(SESSIONS, SESSIONS, ddp);
        left.association.onEstablished(SESSIONS, SESSIONS, ddp);
        for (int i = 0; i < SESSIONS; i++) {
            Counter counter = new Counter();
            left.counters[i] = counter;
            counter.session = left.association.initiate(SctpEnd.options(), counter);
        }
        exchange(left, right);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

        run(left, right);
        long before = threads.getCurrentThreadAllocatedBytes();
        run(left, right);
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;

        assertThat(left.received()).isEqualTo(2 * SEGMENTS);
        assertThat(right.received()).isEqualTo(2 * SEGMENTS);
        assertThat(allocated).isLessThan(TOLERATED);
    }

    private static void run(Side left, Side right) {
        for (int i = 0; i < ROUNDS; i++) {
            left.begin();
            right.begin();
            exchange(left, right);
        }
    }

    private static void exchange(Side left, Side right) {
        for (int i = 0; i < 3; i++) {
            left.association.produce();
            left.deliver(right.association);
            right.association.produce();
            right.deliver(left.association);
        }
    }

    /** An association over a transport that keeps messages in place. */
    private static final class Side implements SctpTransport, AssociationListener {

        private static final int SLOTS = 256;
        private static final int MESSAGE = 1450;
        private static final AdaptationSettings SETTINGS = AdaptationSettings.defaults();

        private final DdpAssociation association;
        private final Counter[] counters = new Counter[SESSIONS];
        private final WireBuffer wire = WireBuffer.allocate(SLOTS * MESSAGE);
        private final int[] streams = new int[SLOTS];
        private final int[] protocols = new int[SLOTS];
        private final int[] lengths = new int[SLOTS];
        private int waiting;
        private long submitted;

        Side(boolean initiator) {
            association = new DdpAssociation(this, SETTINGS, EarlyBudget.ofDevice(SETTINGS), initiator, this);
        }

        void begin() {
            for (Counter counter : counters) {
                counter.toSend = BATCH;
                counter.session.lowerLayer().requestOutput();
            }
        }

        int received() {
            int sum = 0;
            for (Counter counter : counters) {
                sum += counter.received;
            }
            return sum;
        }

        void deliver(DdpAssociation peer) {
            for (int i = 0; i < waiting; i++) {
                peer.onMessage(streams[i], protocols[i], wire, i * MESSAGE, lengths[i]);
            }
            waiting = 0;
            peer.onInputDone();
        }

        @Override
        public boolean send(int stream, int payloadProtocol, WireBuffer buffer, int offset, int length) {
            if (waiting == SLOTS) {
                return false;
            }
            wire.putBytes(waiting * MESSAGE, buffer, offset, length);
            streams[waiting] = stream;
            protocols[waiting] = payloadProtocol;
            lengths[waiting] = length;
            waiting++;
            submitted++;
            return true;
        }

        @Override
        public int maxMessage() {
            return MESSAGE;
        }

        @Override
        public long acknowledged() {
            return submitted - waiting;
        }

        @Override
        public boolean onInitiate(DdpStreamSession session, SessionStartup asked) {
            Counter counter = new Counter();
            counters[session.stream()] = counter;
            counter.session = session;
            session.listen(counter);
            session.accept(SctpEnd.options());
            return true;
        }

        @Override
        public void requestOutput() {}

        @Override
        public void requestAcknowledged() {}

        @Override
        public long nanoTime() {
            return 0;
        }

        @Override
        public void wakeAt(long nanoTime) {}

        @Override
        public void shutdown() {}

        @Override
        public void abort(String reason) {
            throw new AssertionError(reason);
        }

        @Override
        public void onEstablished() {}

        @Override
        public void onIdle() {}

        @Override
        public void onClosed(boolean graceful, String cause) {}
    }

    /** Sends segments of changing size, and counts received segments. */
    private static final class Counter implements DdpSessionListener, UpperLayer {

        private DdpStreamSession session;
        private int toSend;
        private int received;
        private int size;

        @Override
        public void produce() {
            while (toSend > 0) {
                size = (size + 37) % 1400;
                if (!session.lowerLayer().claim(size + 18)) {
                    return;
                }
                session.lowerLayer().buffer().putInt(session.lowerLayer().offset(), toSend);
                session.lowerLayer().commit();
                toSend--;
            }
        }

        @Override
        public void onUlpdu(WireBuffer buffer, int offset, int length) {
            received++;
        }

        @Override
        public void onEstablished(SessionStartup agreed) {
            session.attach(this);
        }

        @Override
        public void onRejected(SessionStartup reply) {
            throw new AssertionError("rejected");
        }

        @Override
        public void onFailed(boolean refused, String message) {
            throw new AssertionError(message);
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
        public void onClosed(boolean graceful, String cause) {
            throw new AssertionError(cause);
        }
    }
}
