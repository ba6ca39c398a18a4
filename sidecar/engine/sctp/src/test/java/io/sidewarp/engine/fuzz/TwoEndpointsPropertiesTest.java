// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import io.sidewarp.engine.testing.Link.Side;
import io.sidewarp.engine.testing.RandomTries;
import io.sidewarp.engine.testing.RandomTries.Chain;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Two endpoints that do anything over a stream that does anything. {@link FuzzedConnection} checks after each step: no
 * exception escapes, no byte outside of a permitted range changes, completions come once and in order, all memory is
 * returned.
 */
class TwoEndpointsPropertiesTest {

    private static final int TRIES = 1500;
    private static final int LONGEST_CHAIN = 80;
    private static final int LONGEST_ACTION = 8;

    @Test
    void invariantsHoldWhileTheStreamOnlyDelaysAndCuts() {
        run(new Chain<ConnectedPair>()
                .with(4, TwoEndpointsPropertiesTest::act)
                .with(4, TwoEndpointsPropertiesTest::deliver)
                .with(1, TwoEndpointsPropertiesTest::stopOrGoOn));
    }

    @Test
    void invariantsHoldWhateverTheStreamDoes() {
        run(new Chain<ConnectedPair>()
                .with(16, TwoEndpointsPropertiesTest::act)
                .with(16, TwoEndpointsPropertiesTest::deliver)
                .with(4, TwoEndpointsPropertiesTest::stopOrGoOn)
                .with(2, TwoEndpointsPropertiesTest::damage)
                .with(1, TwoEndpointsPropertiesTest::breakDown));
    }

    private static void run(Chain<ConnectedPair> chain) {
        RandomTries.run(
                TRIES,
                random -> chain.run(random, LONGEST_CHAIN, ConnectedPair::new, ConnectedPair::verifyMessages, pair -> {
                    pair.finish();
                    pair.verifyMessages();
                }));
    }

    private static Side side(Random random) {
        return RandomTries.one(random, Side.values());
    }

    /** The application of a side posts, closes, invalidates. */
    private static String act(ConnectedPair pair, Random random) {
        Side side = side(random);
        pair.act(side, RandomTries.bytes(random, RandomTries.between(random, 1, LONGEST_ACTION)));
        return side + " acts";
    }

    private static String deliver(ConnectedPair pair, Random random) {
        Side side = side(random);
        int count = RandomTries.between(random, 1, 10_000);
        pair.deliver(side, count, RandomTries.between(random, 0, 200));
        return side + " gets " + count + " bytes";
    }

    /** A side stops reading, or goes on. */
    private static String stopOrGoOn(ConnectedPair pair, Random random) {
        Side side = side(random);
        boolean reads = random.nextBoolean();
        pair.setReading(side, reads);
        return side + (reads ? " reads" : " does not read");
    }

    /** A byte changes on its way. */
    private static String damage(ConnectedPair pair, Random random) {
        Side side = side(random);
        pair.damage(side, RandomTries.between(random, 0, 100_000), RandomTries.between(random, 1, 255));
        return "damage for " + side;
    }

    /** The connection breaks, or a timer runs out. */
    private static String breakDown(ConnectedPair pair, Random random) {
        if (random.nextBoolean()) {
            pair.reset();
            return "reset";
        }
        Side side = side(random);
        pair.startupTimeout(side);
        return "time-out of " + side;
    }
}
