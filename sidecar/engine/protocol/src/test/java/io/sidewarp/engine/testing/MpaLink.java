// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.llp.UpperLayer;
import io.sidewarp.engine.llp.mpa.MpaConnection;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.llp.mpa.MpaRole;
import io.sidewarp.engine.llp.mpa.MpaStartup;
import io.sidewarp.engine.llp.mpa.MpaStartupListener;
import io.sidewarp.engine.llp.mpa.MpaTransport;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.rdmap.RdmapStream;
import io.sidewarp.engine.verbs.LlpError;
import java.io.ByteArrayOutputStream;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.random.RandomGenerator;

/**
 * Two MPA connections over two byte pipes in memory. A test sets how many bytes a pipe accepts and delivers at a time.
 */
public final class MpaLink implements Link {

    /** Octets that a pipe holds. */
    private static final int PIPE = 4 * MpaConnection.MAX_FPDU_LENGTH;

    /** EMSS of a MULPDU without Markers: ULPDU_Length and CRC take 6 octets. */
    private static final int OVERHEAD = 6;

    /** Offset of the flags M, C, R and S, and then of Rev, in a start-up frame. */
    private static final int FLAGS_OFFSET = 16;

    private static final int M_AND_C = 0xC0;

    private final Node left;
    private Side watchedSide = Side.LEFT;
    private final Node right;
    private IntSupplier portion = () -> Integer.MAX_VALUE;

    private MpaLink(
            MpaOptions leftOptions,
            MpaOptions rightOptions,
            Function<LowerLayer, ? extends UpperLayer> leftUpper,
            Function<LowerLayer, ? extends UpperLayer> rightUpper) {
        left = new Node(MpaRole.INITIATOR, leftOptions, leftUpper);
        right = new Node(MpaRole.RESPONDER, rightOptions, rightUpper);
    }

    /** Links whose start-up offers the given options. */
    public static Link.Type type(MpaOptions left, MpaOptions right) {
        return (leftUpper, rightUpper) -> {
            MpaLink link = new MpaLink(left, right, leftUpper, rightUpper);
            link.left.mpa.start();
            link.right.mpa.start();
            return link.established();
        };
    }

    /**
     * Returns links on which each side takes the other side for an RDMAC peer. Both sides act as permissive endpoints
     * (RFC 5044 Appendix C).
     */
    public static Link.Type rdmacType() {
        return (leftUpper, rightUpper) -> {
            MpaLink link = new MpaLink(MpaOptions.defaults(), MpaOptions.defaults(), leftUpper, rightUpper);
            link.left.mpa.start();
            link.right.mpa.start();
            link.left.output();
            link.left.pipe.buffer.putByte(FLAGS_OFFSET, M_AND_C);
            link.left.pipe.buffer.putByte(FLAGS_OFFSET + 1, 0);
            return link.established();
        };
    }

    private Link established() {
        run();
        if (!left.established || !right.established) {
            throw new AssertionError("MPA start-up failed");
        }
        return this;
    }

    /** Keeps a copy of every octet that a side puts out from now on. */
    public void watch(Side side) {
        node(side).watched = new ByteArrayOutputStream();
        watchedSide = side;
    }

    /** Returns the output since {@link #watch}. */
    public byte[] watched() {
        return node(watchedSide).watched.toByteArray();
    }

    /** {@inheritDoc} TCP gives MPA as many octets at a time, often a single one. */
    @Override
    public void shake(RandomGenerator random) {
        portion = () -> random.nextBoolean() ? 1 : 1 + random.nextInt(3000);
    }

    private Node node(Side side) {
        return side == Side.LEFT ? left : right;
    }

    @Override
    public LowerLayer end(Side side) {
        return node(side).mpa;
    }

    /** {@inheritDoc} With Markers somewhat less than that. */
    @Override
    public void mulpdu(Side side, int octets) {
        node(side).emss = octets + OVERHEAD;
    }

    @Override
    public boolean turn(Side side) {
        Node me = node(side);
        Node peer = node(side.other());
        if (me.over) {
            return false;
        }
        if (me.aborted || peer.aborted) {
            me.over = true;
            if (me.aborted) {
                me.mpa.closed();
            } else {
                me.mpa.receiveLost("reset by the peer");
            }
            return true;
        }
        boolean busy = me.input(peer, portion);
        busy |= me.output();
        if (me.finSent && me.finReceived && me.pipe.isEmpty()) {
            me.over = true;
            me.mpa.closed();
            busy = true;
        }
        return busy;
    }

    @Override
    public void lose(String cause) {
        for (Side side : Side.values()) {
            Node node = node(side);
            if (!node.over) {
                node.over = true;
                node.mpa.receiveLost(cause);
            }
        }
    }

    /** Bytes in flight, in one piece. */
    private static final class Pipe {

        private final WireBuffer buffer = WireBuffer.allocate(PIPE);
        private int head;
        private int tail;

        boolean isEmpty() {
            return head == tail;
        }

        void makeRoom() {
            buffer.putBytes(0, buffer, head, tail - head);
            tail -= head;
            head = 0;
        }
    }

    /** One side: an MPA connection and its environment. */
    private static final class Node implements MpaTransport, MpaStartupListener {

        private final MpaConnection mpa;
        private final MpaOptions options;
        private final Function<LowerLayer, ? extends UpperLayer> factory;
        private final Pipe pipe = new Pipe();
        private ByteArrayOutputStream watched;
        private int emss = 1460;
        private boolean established;
        private boolean wanted;
        private boolean finSent;
        private boolean finReceived;
        private boolean aborted;
        private boolean over;

        Node(MpaRole role, MpaOptions options, Function<LowerLayer, ? extends UpperLayer> factory) {
            this.options = options;
            this.factory = factory;
            mpa = new MpaConnection(role, options, this, this);
        }

        boolean input(Node peer, IntSupplier portion) {
            Pipe from = peer.pipe;
            if (from.isEmpty()) {
                if (!peer.finSent || finReceived) {
                    return false;
                }
                finReceived = true;
                mpa.receiveEnd();
                return true;
            }
            int length = Math.min(portion.getAsInt(), from.tail - from.head);
            mpa.receive(from.buffer, from.head, length);
            from.head += length;
            mpa.receiveDone();
            return true;
        }

        boolean output() {
            if (!wanted || finSent) {
                return false;
            }
            pipe.makeRoom();
            if (PIPE - pipe.tail < 2 * MpaConnection.MAX_FPDU_LENGTH) {
                return false;
            }
            wanted = false;
            int length = mpa.produce(pipe.buffer, pipe.tail, PIPE);
            if (watched != null) {
                watched.writeBytes(Octets.of(pipe.buffer, pipe.tail, length));
            }
            pipe.tail += length;
            mpa.transferred(length);
            return true;
        }

        @Override
        public void requestOutput() {
            wanted = true;
        }

        @Override
        public void shutdownOutput() {
            finSent = true;
        }

        @Override
        public void close() {
            finSent = true;
        }

        @Override
        public void abort() {
            aborted = true;
        }

        @Override
        public int emss() {
            return emss;
        }

        @Override
        public WireBuffer acquireReassembly(int capacity) {
            return WireBuffer.allocate(capacity);
        }

        @Override
        public void releaseReassembly(WireBuffer buffer) {}

        @Override
        public void onRequest(MpaStartup request) {
            mpa.accept(options);
        }

        @Override
        public void onEstablished(MpaStartup agreed) {
            established = true;
            UpperLayer upper = factory.apply(mpa);
            mpa.attach(upper);
            if (upper instanceof RdmapStream stream) {
                if (agreed.rtr() != null) {
                    stream.indicateReady(agreed.rtr());
                } else if (agreed.rtrBySend()) {
                    stream.expectReadySend();
                }
            }
        }

        @Override
        public void onRejected(MpaStartup reply) {
            throw new AssertionError("the peer rejected");
        }

        @Override
        public void onUnenhancedPeer(String message) {
            throw new AssertionError(message);
        }

        @Override
        public void onStartupFailed(LlpError reason, String message) {
            throw new AssertionError(message);
        }
    }
}
