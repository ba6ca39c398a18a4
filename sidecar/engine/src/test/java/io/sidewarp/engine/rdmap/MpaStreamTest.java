// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.testing.Link;
import io.sidewarp.engine.testing.MpaLink;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Nested;

/** Streams over MPA, with everything that start-up can agree on. */
class MpaStreamTest {

    /** Portions of octets, often a single one. */
    private static void shakeOctets(Link link, RandomGenerator random) {
        ((MpaLink) link).portion(() -> random.nextBoolean() ? 1 : 1 + random.nextInt(3000));
    }

    @Nested
    class WithCrc extends StreamSuite {

        @Override
        protected Link.Type type() {
            return MpaLink.type(MpaOptions.defaults(), MpaOptions.defaults());
        }

        @Override
        protected void shake(Link link, RandomGenerator random) {
            shakeOctets(link, random);
        }
    }

    @Nested
    class WithMarkersInBothDirections extends StreamSuite {

        @Override
        protected Link.Type type() {
            MpaOptions markers = MpaOptions.defaults().withReceiveMarkers(true);
            return MpaLink.type(markers, markers);
        }

        @Override
        protected void shake(Link link, RandomGenerator random) {
            shakeOctets(link, random);
        }
    }

    @Nested
    class WithoutCrcAndWithMarkersInOneDirection extends StreamSuite {

        @Override
        protected Link.Type type() {
            MpaOptions plain = MpaOptions.defaults().withCrc(false);
            return MpaLink.type(plain.withReceiveMarkers(true), plain);
        }

        @Override
        protected void shake(Link link, RandomGenerator random) {
            shakeOctets(link, random);
        }
    }
}
