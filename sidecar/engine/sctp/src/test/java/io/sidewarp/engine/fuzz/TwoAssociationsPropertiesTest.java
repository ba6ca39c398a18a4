// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import io.sidewarp.engine.fuzz.AssociatedPair.Deed;
import io.sidewarp.engine.testing.Link.Side;
import io.sidewarp.engine.testing.RandomTries;
import io.sidewarp.engine.testing.RandomTries.Chain;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Two ends of an association whose Consumers do anything with sessions, over an SCTP that delivers when and in what order
 * it likes. {@link AssociatedPair} checks the rules after each step.
 */
class TwoAssociationsPropertiesTest {

    private static final int TRIES = 1500;
    private static final int LONGEST_CHAIN = 120;

    @Test
    void sessionsAreWholeAndLeaveNothingBehindWhateverTheOrderOfArrival() {
        run(new Chain<AssociatedPair>()
                .with(3, TwoAssociationsPropertiesTest::begin)
                .with(6, decision(Deed.ACCEPT, Deed.ACCEPT, Deed.REJECT, Deed.WITHDRAW))
                .with(1, decision(Deed.CLOSE_OUTPUT))
                .with(4, TwoAssociationsPropertiesTest::send)
                .with(12, TwoAssociationsPropertiesTest::move));
    }

    @Test
    void everySessionHasOneEndWhateverHappens() {
        run(new Chain<AssociatedPair>()
                .with(12, TwoAssociationsPropertiesTest::begin)
                .with(24, decision(Deed.ACCEPT, Deed.ACCEPT, Deed.REJECT, Deed.WITHDRAW))
                .with(6, decision(Deed.CLOSE_OUTPUT, Deed.CLOSE, Deed.ABORT))
                .with(16, TwoAssociationsPropertiesTest::send)
                .with(48, TwoAssociationsPropertiesTest::move)
                .with(6, TwoAssociationsPropertiesTest::limit)
                .with(6, TwoAssociationsPropertiesTest::wait)
                .with(1, TwoAssociationsPropertiesTest::lose));
    }

    private static void run(Chain<AssociatedPair> chain) {
        RandomTries.run(
                TRIES,
                random -> chain.run(
                        random, LONGEST_CHAIN, AssociatedPair::new, AssociatedPair::verify, AssociatedPair::finish));
    }

    private static Side side(Random random) {
        return RandomTries.one(random, Side.values());
    }

    private static int session(Random random) {
        return RandomTries.between(random, 0, 20);
    }

    private static String begin(AssociatedPair pair, Random random) {
        Side side = side(random);
        pair.initiate(side);
        return side + " begins";
    }

    /** A Consumer decides something. */
    private static Chain.Step<AssociatedPair> decision(Deed... deeds) {
        return (pair, random) -> {
            int which = session(random);
            Deed deed = RandomTries.one(random, deeds);
            pair.act(which, deed);
            return which + ": " + deed;
        };
    }

    private static String send(AssociatedPair pair, Random random) {
        int which = session(random);
        int count = RandomTries.between(random, 1, 4);
        pair.send(which, count, RandomTries.between(random, 0, 512));
        return which + " sends " + count;
    }

    /** Messages leave or arrive. */
    private static String move(AssociatedPair pair, Random random) {
        Side side = side(random);
        int which = RandomTries.between(random, 0, 10);
        return switch (random.nextInt(7)) {
            case 0, 1 -> {
                pair.output(side);
                yield side + " puts out";
            }
            case 2 -> {
                pair.turn(side);
                yield side + " has its turn";
            }
            default -> {
                pair.deliver(side, which);
                yield side + " gets message " + which;
            }
        };
    }

    /** SCTP has room or not, and acknowledgements come or not. */
    private static String limit(AssociatedPair pair, Random random) {
        Side side = side(random);
        int messages = RandomTries.one(random, 0, 1, 64);
        boolean hold = random.nextBoolean();
        pair.window(side, messages);
        pair.holdAcknowledgements(side, hold);
        return side + " has room for " + messages + (hold ? ", unacknowledged" : "");
    }

    private static String wait(AssociatedPair pair, Random random) {
        int millis = RandomTries.between(random, 1, 6000);
        pair.advance(millis);
        return millis + " ms";
    }

    private static String lose(AssociatedPair pair, Random random) {
        pair.lose();
        return "loss";
    }
}
