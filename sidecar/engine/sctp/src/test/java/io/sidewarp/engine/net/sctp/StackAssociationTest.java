// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.net.EngineLoops;
import io.sidewarp.engine.net.NetSettings;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests messages that SCTP does not accept. */
final class StackAssociationTest {

    private static final int ENOMEM = 12;
    private static final int EACCES = 13;
    private static final int EPIPE = 32;

    private EngineLoops loops;
    private Association association;
    private volatile RecordingUser user;

    @BeforeEach
    void open() throws Exception {
        loops = EngineLoops.create(1, NetSettings.defaults());
        EventLoop loop = loops.choose();
        association = new Association(loops, loop, established -> {
            user = new RecordingUser(established);
            return user;
        });
        onLoop(association::up);
    }

    @AfterEach
    void close() {
        loops.close();
    }

    private void onLoop(Runnable work) throws Exception {
        association.loop().submit(work).get(10, TimeUnit.SECONDS);
    }

    /** Waits for what the loop has been given by now, and for what that gives it. */
    private void settle() throws Exception {
        onLoop(() -> {});
        onLoop(() -> {});
    }

    @Test
    void aMessageForWhichMemoryIsShortGoesOutAtTheNextLook() throws Exception {
        association.socket.errors.add(ENOMEM);
        user.send(0, 16, new byte[8]);
        settle();
        assertThat(association.socket.sent).hasValue(0);

        onLoop(association::look);

        assertThat(association.socket.sent).hasValue(1);
        assertThat(user.closed).isNotDone();
    }

    @Test
    void aMessageThatIsNotTakenForAnotherReasonEndsTheAssociation() throws Exception {
        association.socket.errors.add(EACCES);
        user.send(0, 16, new byte[8]);

        assertThat(user.end()).isEqualTo(new RecordingUser.End(false, "SCTP takes no message (error number 13)"));
        assertThat(association.socket.aborted).isTrue();
    }

    @Test
    void anEventSaysBetterWhyAMessageIsNotTaken() throws Exception {
        association.socket.errors.add(EACCES);
        association.socket.events.add(receiver -> receiver.onLost("the peer aborted it"));
        user.send(0, 16, new byte[8]);

        assertThat(user.end()).isEqualTo(new RecordingUser.End(false, "the peer aborted it"));
    }

    @Test
    void anAssociationThatThePeerShutsDownHasTheTimeForThat() throws Exception {
        association.socket.errors.add(EPIPE);
        user.send(0, 16, new byte[8]);
        settle();
        assertThat(user.closed).isNotDone();

        association.socket.events.add(MessageSocket.Receiver::onShutDown);
        onLoop(association::look);

        assertThat(user.end().graceful()).isTrue();
    }

    @Test
    void peerThatAcknowledgesSlowlyKeepsTheAssociation() {
        long stallNanos = loops.settings().stallTimeout().toNanos();
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.freezeTime();
        Association slow = new Association(loops, channel.eventLoop(), RecordingUser::new);
        slow.up();
        for (int i = 0; i < 4; i++) {
            assertThat(slow.send(0, 16, WireBuffer.allocate(8), 0, 8)).isTrue();
        }

        for (int i = 1; i < 4; i++) {
            slow.acknowledged = i;
            channel.advanceTimeBy(stallNanos, TimeUnit.NANOSECONDS);
            channel.runScheduledPendingTasks();
            assertThat(slow.socket.aborted).isFalse();
        }

        channel.advanceTimeBy(stallNanos, TimeUnit.NANOSECONDS);
        channel.runScheduledPendingTasks();
        assertThat(slow.socket.aborted).isTrue();
        channel.close();
    }

    /** A socket whose results the test sets. */
    private static final class Socket implements MessageSocket {

        private final Deque<Integer> errors = new ArrayDeque<>();
        private final Deque<Consumer<Receiver>> events = new ArrayDeque<>();
        private final AtomicInteger sent = new AtomicInteger();
        private volatile boolean aborted;

        @Override
        public int send(int stream, int payloadProtocol, WireBuffer buffer, int offset, int length) {
            if (!errors.isEmpty()) {
                return errors.remove();
            }
            sent.incrementAndGet();
            return 0;
        }

        @Override
        public boolean receive(WireBuffer into, Receiver receiver) {
            Consumer<Receiver> next = events.poll();
            if (next != null) {
                next.accept(receiver);
            }
            return next != null;
        }

        @Override
        public void shutdown() {}

        @Override
        public void abort(String reason) {
            aborted = true;
        }

        @Override
        public void close() {}
    }

    /** An association on that socket. */
    private static final class Association extends StackAssociation {

        private final Socket socket = new Socket();
        private long acknowledged;

        Association(EngineLoops loops, EventLoop loop, SctpAssociationHandler handler) {
            super(loops, loop, SctpBed.settings(), WireBuffer.allocate(1 << 16), handler, null);
        }

        void up() {
            touch();
            onUp(4, 4);
            look();
            inputDone();
        }

        /** Reads all events, as a stack does from time to time. */
        void look() {
            drain(Integer.MAX_VALUE);
            retry();
        }

        @Override
        protected MessageSocket socket() {
            return socket;
        }

        @Override
        protected int messageSize() {
            return 1428;
        }

        @Override
        protected boolean admit() {
            return true;
        }

        @Override
        protected long countAcknowledged() {
            return acknowledged;
        }

        @Override
        protected boolean mayHaveRoom() {
            return false;
        }

        @Override
        protected void onFull() {}

        @Override
        protected void flush() {}

        @Override
        protected void onFinished() {}

        @Override
        public InetSocketAddress localAddress() {
            return InetSocketAddress.createUnresolved("here", 7471);
        }

        @Override
        public InetSocketAddress remoteAddress() {
            return InetSocketAddress.createUnresolved("there", 7471);
        }

        @Override
        public int remoteUdpPort() {
            return 0;
        }

        @Override
        public long retransmittedChunks() {
            return 0;
        }

        @Override
        public SctpAssociationFacts facts() {
            return SctpAssociationFacts.NONE;
        }
    }
}
