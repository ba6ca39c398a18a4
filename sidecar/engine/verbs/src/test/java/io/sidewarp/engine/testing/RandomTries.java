// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Tries a test with random input. Each try has a seed of its own, which a failure names; {@code -Dsidewarp.test.seed=N} runs
 * that try alone.
 */
public final class RandomTries {

    private static final String SEED = "sidewarp.test.seed";

    private RandomTries() {}

    /** Runs a test so many times. */
    public static void run(int tries, Consumer<Random> test) {
        Long only = Long.getLong(SEED);
        if (only != null) {
            test.accept(new Random(only));
            return;
        }
        Random seeds = new Random();
        for (int i = 0; i < tries; i++) {
            long seed = seeds.nextLong();
            try {
                test.accept(new Random(seed));
            } catch (RuntimeException | Error e) {
                throw new AssertionError("try " + i + " failed; repeat it with -D" + SEED + "=" + seed, e);
            }
        }
    }

    /** Returns so many random bytes. */
    public static byte[] bytes(Random random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    /** Returns one of some values. */
    @SafeVarargs
    public static <T> T one(Random random, T... values) {
        return values[random.nextInt(values.length)];
    }

    /** Returns a number from one to another, both included. */
    public static int between(Random random, int least, int most) {
        return random.nextInt(least, most + 1);
    }

    /**
     * Steps that are taken at random, one after the other, on a state.
     *
     * @param <S> the state
     */
    public static final class Chain<S> {

        /**
         * A step.
         *
         * @param <S> the state
         */
        @FunctionalInterface
        public interface Step<S> {

            /** Changes the state; returns what it did, in words. */
            String take(S state, Random random);
        }

        private final List<Step<S>> steps = new ArrayList<>();

        /** Adds a step that is taken as often as its weight says. */
        public Chain<S> with(int weight, Step<S> step) {
            for (int i = 0; i < weight; i++) {
                steps.add(step);
            }
            return this;
        }

        /**
         * Takes up to so many steps.
         *
         * @param verify runs after each step
         * @param finish runs after the last one
         */
        public void run(Random random, int longest, Supplier<S> begin, Consumer<S> verify, Consumer<S> finish) {
            S state = begin.get();
            List<String> taken = new ArrayList<>();
            int count = between(random, 1, longest);
            try {
                for (int i = 0; i < count; i++) {
                    taken.add(steps.get(random.nextInt(steps.size())).take(state, random));
                    verify.accept(state);
                }
                finish.accept(state);
            } catch (RuntimeException | Error e) {
                throw new AssertionError("failed after: " + String.join("; ", taken), e);
            }
        }
    }
}
