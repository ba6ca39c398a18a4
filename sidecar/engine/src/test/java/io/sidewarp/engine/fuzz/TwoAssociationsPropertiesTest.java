// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import io.sidewarp.engine.fuzz.AssociatedPair.Deed;
import io.sidewarp.engine.testing.Link.Side;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.state.Action;
import net.jqwik.api.state.ActionChain;
import net.jqwik.api.state.Transformer;

/**
 * Tests two ends of an association whose Consumers do arbitrary actions with sessions. The SCTP between them delivers
 * at arbitrary times and in arbitrary order. {@link AssociatedPair} checks the invariants after each step.
 */
class TwoAssociationsPropertiesTest {

    private static final int LONGEST_CHAIN = 120;

    @Property(tries = 1500)
    void sessionsAreWholeAndLeaveNothingBehindWhateverTheOrderOfArrival(
            @ForAll("orderly") ActionChain<AssociatedPair> chain) {
        run(chain);
    }

    @Property(tries = 1500)
    void everySessionHasOneEndWhateverHappens(@ForAll("anything") ActionChain<AssociatedPair> chain) {
        run(chain);
    }

    private static void run(ActionChain<AssociatedPair> chain) {
        chain.withInvariant("the rules are kept", AssociatedPair::verify).run().finish();
    }

    @Provide
    Arbitrary<ActionChain<AssociatedPair>> orderly() {
        return ActionChain.startWith(AssociatedPair::new)
                .withAction(3, new Beginning())
                .withAction(6, new Decision(Deed.ACCEPT, Deed.ACCEPT, Deed.REJECT, Deed.WITHDRAW))
                .withAction(1, new Decision(Deed.CLOSE_OUTPUT))
                .withAction(4, new Sending())
                .withAction(12, new Movement())
                .withMaxTransformations(LONGEST_CHAIN);
    }

    @Provide
    Arbitrary<ActionChain<AssociatedPair>> anything() {
        return ActionChain.startWith(AssociatedPair::new)
                .withAction(12, new Beginning())
                .withAction(24, new Decision(Deed.ACCEPT, Deed.ACCEPT, Deed.REJECT, Deed.WITHDRAW))
                .withAction(6, new Decision(Deed.CLOSE_OUTPUT, Deed.CLOSE, Deed.ABORT))
                .withAction(16, new Sending())
                .withAction(48, new Movement())
                .withAction(6, new Room())
                .withAction(6, new Time())
                .withAction(1, new Loss())
                .withMaxTransformations(LONGEST_CHAIN);
    }

    private static Arbitrary<Side> sides() {
        return Arbitraries.of(Side.class);
    }

    private static Arbitrary<Integer> sessions() {
        return Arbitraries.integers().between(0, 20);
    }

    /** A side begins a session. */
    private static final class Beginning implements Action.Independent<AssociatedPair> {

        @Override
        public Arbitrary<Transformer<AssociatedPair>> transformer() {
            return sides().map(side -> Transformer.mutate(side + " begins", pair -> pair.initiate(side)));
        }
    }

    /** A Consumer decides something. */
    private static final class Decision implements Action.Independent<AssociatedPair> {

        private final Deed[] deeds;

        Decision(Deed... deeds) {
            this.deeds = deeds;
        }

        @Override
        public Arbitrary<Transformer<AssociatedPair>> transformer() {
            return Combinators.combine(sessions(), Arbitraries.of(deeds))
                    .as((which, deed) -> Transformer.mutate(which + ": " + deed, pair -> pair.act(which, deed)));
        }
    }

    /** A Consumer sends. */
    private static final class Sending implements Action.Independent<AssociatedPair> {

        @Override
        public Arbitrary<Transformer<AssociatedPair>> transformer() {
            Arbitrary<Integer> counts = Arbitraries.integers().between(1, 4);
            Arbitrary<Integer> lengths = Arbitraries.integers().between(0, 512);
            return Combinators.combine(sessions(), counts, lengths)
                    .as((which, count, length) ->
                            Transformer.mutate(which + " sends " + count, pair -> pair.send(which, count, length)));
        }
    }

    /** Messages leave or arrive. */
    private static final class Movement implements Action.Independent<AssociatedPair> {

        @Override
        public Arbitrary<Transformer<AssociatedPair>> transformer() {
            Arbitrary<Integer> messages = Arbitraries.integers().between(0, 10);
            return Combinators.combine(sides(), messages, Arbitraries.integers().between(0, 6))
                    .as((side, which, how) -> switch (how) {
                        case 0, 1 -> Transformer.mutate(side + " puts out", pair -> pair.output(side));
                        case 2 -> Transformer.mutate(side + " has its turn", pair -> pair.turn(side));
                        default ->
                            Transformer.mutate(side + " gets message " + which, pair -> pair.deliver(side, which));
                    });
        }
    }

    /** SCTP has room or not, and acknowledgements come or not. */
    private static final class Room implements Action.Independent<AssociatedPair> {

        @Override
        public Arbitrary<Transformer<AssociatedPair>> transformer() {
            return Combinators.combine(sides(), Arbitraries.of(0, 1, 64), Arbitraries.of(true, false))
                    .as((side, messages, hold) -> Transformer.mutate(
                            side + " has room for " + messages + (hold ? ", unacknowledged" : ""), pair -> {
                                pair.window(side, messages);
                                pair.holdAcknowledgements(side, hold);
                            }));
        }
    }

    /** Time passes. */
    private static final class Time implements Action.Independent<AssociatedPair> {

        @Override
        public Arbitrary<Transformer<AssociatedPair>> transformer() {
            return Arbitraries.integers()
                    .between(1, 6000)
                    .map(millis -> Transformer.mutate(millis + " ms", pair -> pair.advance(millis)));
        }
    }

    /** The association is lost. */
    private static final class Loss implements Action.Independent<AssociatedPair> {

        @Override
        public Arbitrary<Transformer<AssociatedPair>> transformer() {
            return Arbitraries.just(Transformer.mutate("loss", AssociatedPair::lose));
        }
    }
}
