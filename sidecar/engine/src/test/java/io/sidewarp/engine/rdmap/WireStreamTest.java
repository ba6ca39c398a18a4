// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.testing.Link;
import io.sidewarp.engine.testing.Link.Side;
import io.sidewarp.engine.testing.WireLink;
import java.util.random.RandomGenerator;

/** Streams over the wire in memory. */
class WireStreamTest extends StreamSuite {

    @Override
    protected Link.Type type() {
        return WireLink::connect;
    }

    @Override
    protected void shake(Link link, RandomGenerator random) {
        WireLink wire = (WireLink) link;
        wire.batch(() -> random.nextInt(4));
        for (Side side : Side.values()) {
            wire.end(side).room(() -> random.nextInt(5));
        }
    }
}
