// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.llp.UpperLayer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/** Two {@link WireEnd}s back to back. A test can observe, hold back, change and lose their data. */
public final class WireLink implements Link {

    private final WireEnd[] ends = {new WireEnd(), new WireEnd()};
    private final boolean[] held = new boolean[2];
    private final boolean[] peerClosed = new boolean[2];
    private final List<List<Segment>> seen = List.of(new ArrayList<>(), new ArrayList<>());
    private boolean watching;
    private UnaryOperator<byte[]> tamper;
    private IntSupplier batch = () -> Integer.MAX_VALUE;

    /** Connects two upper layers. */
    public static WireLink connect(
            Function<LowerLayer, ? extends UpperLayer> left, Function<LowerLayer, ? extends UpperLayer> right) {
        return new WireLink().attach(left, right);
    }

    /** Binds the layers above; a test may set up the ends before. */
    public WireLink attach(
            Function<LowerLayer, ? extends UpperLayer> left, Function<LowerLayer, ? extends UpperLayer> right) {
        end(Side.LEFT).attach(left.apply(end(Side.LEFT)));
        end(Side.RIGHT).attach(right.apply(end(Side.RIGHT)));
        return this;
    }

    @Override
    public WireEnd end(Side side) {
        return ends[side.ordinal()];
    }

    @Override
    public void mulpdu(Side side, int octets) {
        end(side).mulpdu(octets);
    }

    /** Holds back everything that goes to a side, or lets it go on. */
    public void hold(Side receiver, boolean hold) {
        held[receiver.ordinal()] = hold;
    }

    /** Keeps a copy of everything that is delivered from now on. */
    public WireLink watch() {
        watching = true;
        return this;
    }

    /** Returns the segments that a side has sent and the other side has received since {@link #watch}. */
    public List<Segment> sentBy(Side sender) {
        return seen.get(sender.ordinal());
    }

    /** Changes each ULPDU on its way; null loses it. */
    public void tamper(UnaryOperator<byte[]> change) {
        tamper = change;
    }

    /** ULPDUs that are delivered as one batch, asked for at the beginning of each turn. */
    public void batch(IntSupplier ulpdus) {
        batch = ulpdus;
    }

    @Override
    public void shake(RandomGenerator random) {
        batch(() -> random.nextInt(4));
        for (WireEnd end : ends) {
            end.room(() -> random.nextInt(5));
        }
    }

    @Override
    public boolean turn(Side side) {
        WireEnd me = end(side);
        WireEnd peer = end(side.other());
        if (me.over()) {
            return false;
        }
        if (me.aborted() || peer.aborted()) {
            me.over(false, me.aborted() ? "aborted by this side" : "reset by the peer");
            return true;
        }
        boolean busy = deliver(side, me, peer);
        if (peer.pending() == 0 && peer.outputEnded() && !peerClosed[side.ordinal()]) {
            peerClosed[side.ordinal()] = true;
            busy = true;
            if (!me.closing()) {
                me.peerClosed();
            }
        }
        busy |= me.output();
        if (me.outputEnded() && me.pending() == 0 && peerClosed[side.ordinal()]) {
            me.over(true, "closed");
            busy = true;
        }
        return busy;
    }

    private boolean deliver(Side side, WireEnd me, WireEnd peer) {
        boolean any = false;
        if (!held[side.ordinal()]) {
            for (int left = batch.getAsInt(); left > 0 && peer.pending() > 0; left--) {
                deliver(side.other(), peer.poll(), me, peer);
                any = true;
            }
        }
        if (any && !me.closing()) {
            me.upper().onInputDone();
        }
        return any;
    }

    private void deliver(Side sender, WireEnd.Frame frame, WireEnd me, WireEnd peer) {
        if (watching) {
            seen.get(sender.ordinal()).add(new Segment(peer.octetsOf(frame)));
        }
        if (!me.closing()) {
            if (tamper == null) {
                me.input(frame);
            } else {
                byte[] changed = tamper.apply(peer.octetsOf(frame));
                if (changed != null) {
                    me.inputWithoutEnd(changed);
                }
            }
        }
        peer.recycle(frame);
    }

    @Override
    public void lose(String cause) {
        for (WireEnd end : ends) {
            while (end.pending() > 0) {
                end.recycle(end.poll());
            }
            end.over(false, cause);
        }
    }
}
