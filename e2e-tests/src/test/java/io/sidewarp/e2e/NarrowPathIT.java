// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.client.Access;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.e2e.network.TestNetwork;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.Pattern;
import io.sidewarp.e2e.support.SidecarProcess;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests two hosts with jumbo frames and SCTP in UDP. The router between them has a smaller MTU, and drops larger
 * packets silently.
 */
@ExtendWith(Logs.class)
class NarrowPathIT {

    private static final int JUMBO_MTU = 9000;
    private static final int OCTETS = 1 << 20;

    @ParameterizedTest
    @ValueSource(ints = {1400, JUMBO_MTU})
    void dataMovesInBothDirectionsInPacketsThatThePathCarries(int pathMtu) {
        AtomicInteger largest = new AtomicInteger();
        TestNetwork.Carrier router = (packet, fromLeft, out) -> {
            if (packet.length() <= pathMtu) {
                largest.accumulateAndGet(packet.length(), Math::max);
                out.deliver(packet, 0);
            }
        };
        try (TestNetwork network = TestNetwork.open(JUMBO_MTU, router);
                SidecarProcess left = SidecarProcess.with("near")
                        .prefix(network.left().prefix())
                        .start();
                SidecarProcess right = SidecarProcess.with("far")
                        .prefix(network.right().prefix())
                        .start();
                SidewarpClient leftClient = left.client();
                SidewarpClient rightClient = right.client();
                Session here = leftClient.openSession("here");
                Session there = rightClient.openSession("there")) {
            SharedRegion source = here.createSharedRegion("source", OCTETS, Access.LOCAL_WRITE);
            SharedRegion back = here.createSharedRegion("back", OCTETS, Access.LOCAL_WRITE);
            SharedRegion target = there.createSharedRegion("target", OCTETS, Access.REMOTE_WRITE, Access.REMOTE_READ);
            Pattern.fill(source.segment(), 1);
            Link link = Link.connectOverSctp(network.right().address(), here, there);

            link.initiator().write(source.slice(), target.address());
            link.initiator().read(back.slice(), target.address());

            assertThat(target.segment().mismatch(source.segment())).isEqualTo(-1);
            assertThat(back.segment().mismatch(source.segment())).isEqualTo(-1);
            assertThat(largest.get()).isBetween(pathMtu == JUMBO_MTU ? 8900 : 1200, pathMtu);
        }
    }
}
