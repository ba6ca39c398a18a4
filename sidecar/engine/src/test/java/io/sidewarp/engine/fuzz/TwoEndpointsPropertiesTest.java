// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

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
 * Tests two endpoints with arbitrary actions over an arbitrary stream. {@link FuzzedConnection} checks the invariants
 * after each step: no exception escapes, no byte outside of a permitted range changes, completions come once and in
 * order, and all memory is returned.
 */
class TwoEndpointsPropertiesTest {

    private static final int LONGEST_CHAIN = 80;
    private static final int LONGEST_ACTION = 8;

    @Property(tries = 1500)
    void invariantsHoldWhileTheStreamOnlyDelaysAndCuts(@ForAll("orderly") ActionChain<ConnectedPair> chain) {
        run(chain);
    }

    @Property(tries = 1500)
    void invariantsHoldWhateverTheStreamDoes(@ForAll("anything") ActionChain<ConnectedPair> chain) {
        run(chain);
    }

    private static void run(ActionChain<ConnectedPair> chain) {
        ConnectedPair pair =
                chain.withInvariant("messages", ConnectedPair::verifyMessages).run();
        pair.finish();
        pair.verifyMessages();
    }

    @Provide
    Arbitrary<ActionChain<ConnectedPair>> orderly() {
        return ActionChain.startWith(ConnectedPair::new)
                .withAction(4, new Work())
                .withAction(4, new Delivery())
                .withAction(1, new Reading())
                .withMaxTransformations(LONGEST_CHAIN);
    }

    @Provide
    Arbitrary<ActionChain<ConnectedPair>> anything() {
        return ActionChain.startWith(ConnectedPair::new)
                .withAction(16, new Work())
                .withAction(16, new Delivery())
                .withAction(4, new Reading())
                .withAction(2, new Damage())
                .withAction(1, new Breakdown())
                .withMaxTransformations(LONGEST_CHAIN);
    }

    private static Arbitrary<Side> sides() {
        return Arbitraries.of(Side.class);
    }

    /** The application of a side posts, closes, invalidates. */
    private static final class Work implements Action.Independent<ConnectedPair> {

        @Override
        public Arbitrary<Transformer<ConnectedPair>> transformer() {
            Arbitrary<byte[]> actions =
                    Arbitraries.bytes().array(byte[].class).ofMinSize(1).ofMaxSize(LONGEST_ACTION);
            return Combinators.combine(sides(), actions)
                    .as((side, action) -> Transformer.mutate(side + " acts", pair -> pair.act(side, action)));
        }
    }

    /** Bytes arrive. */
    private static final class Delivery implements Action.Independent<ConnectedPair> {

        @Override
        public Arbitrary<Transformer<ConnectedPair>> transformer() {
            Arbitrary<Integer> octets = Arbitraries.integers().between(1, 10_000);
            Arbitrary<Integer> pieces = Arbitraries.integers().between(0, 200);
            return Combinators.combine(sides(), octets, pieces)
                    .as((side, count, piece) -> Transformer.mutate(
                            side + " gets " + count + " octets", pair -> pair.deliver(side, count, piece)));
        }
    }

    /** A side stops reading, or goes on. */
    private static final class Reading implements Action.Independent<ConnectedPair> {

        @Override
        public Arbitrary<Transformer<ConnectedPair>> transformer() {
            return Combinators.combine(sides(), Arbitraries.of(true, false))
                    .as((side, reads) -> Transformer.mutate(
                            side + (reads ? " reads" : " does not read"), pair -> pair.setReading(side, reads)));
        }
    }

    /** A byte changes on its way. */
    private static final class Damage implements Action.Independent<ConnectedPair> {

        @Override
        public Arbitrary<Transformer<ConnectedPair>> transformer() {
            Arbitrary<Integer> positions = Arbitraries.integers().between(0, 100_000);
            Arbitrary<Integer> changes = Arbitraries.integers().between(1, 255);
            return Combinators.combine(sides(), positions, changes)
                    .as((side, where, how) ->
                            Transformer.mutate("damage for " + side, pair -> pair.damage(side, where, how)));
        }
    }

    /** The connection breaks, or a timer runs out. */
    private static final class Breakdown implements Action.Independent<ConnectedPair> {

        @Override
        public Arbitrary<Transformer<ConnectedPair>> transformer() {
            return Combinators.combine(sides(), Arbitraries.of(true, false))
                    .as((side, reset) -> reset
                            ? Transformer.mutate("reset", ConnectedPair::reset)
                            : Transformer.mutate("time-out of " + side, pair -> pair.startupTimeout(side)));
        }
    }
}
