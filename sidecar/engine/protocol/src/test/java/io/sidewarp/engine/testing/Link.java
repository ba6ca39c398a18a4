// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.llp.UpperLayer;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/**
 * Two connected lower layers in full operation, without threads. No data moves before a test says so. The behaviour of
 * the layers above must not depend on the lower layer, so behavioural tests run over every implementation.
 */
public interface Link {

    /** The two ends. On a link with roles the left one is the initiator. */
    enum Side {
        LEFT,
        RIGHT;

        public Side other() {
            return this == LEFT ? RIGHT : LEFT;
        }
    }

    /** A kind of link. */
    interface Type {

        /**
         * Connects two lower layers, up to the point where both are in full operation.
         *
         * @param left makes the layer above the left end; called once, as soon as that end can say what it is capable of
         * @param right the same for the right end
         */
        Link connect(Function<LowerLayer, ? extends UpperLayer> left, Function<LowerLayer, ? extends UpperLayer> right);
    }

    /** Turns after which a link that still moves is taken for one that never rests. */
    int MOST_TURNS = 200_000;

    LowerLayer end(Side side);

    /**
     * Runs one turn of the event loop of a side: receives arrived data, then sends requested output.
     *
     * @return false if there was nothing to do
     */
    boolean turn(Side side);

    /** The largest ULPDU that a side may send from now on. */
    void mulpdu(Side side, int octets);

    /** Makes the link uneven: from now on things come in portions, large and small, that a random source says. */
    void shake(RandomGenerator random);

    /** The transport fails: both sides learn it, and what is under way is lost. */
    void lose(String cause);

    /** Takes turns until both sides rest. */
    default void run() {
        for (int i = 0; i < MOST_TURNS; i++) {
            boolean left = turn(Side.LEFT);
            boolean right = turn(Side.RIGHT);
            if (!left && !right) {
                return;
            }
        }
        throw new AssertionError("the link does not come to rest");
    }
}
