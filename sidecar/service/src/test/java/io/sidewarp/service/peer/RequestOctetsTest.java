// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.netty.channel.embedded.EmbeddedChannel;
import io.sidewarp.service.quota.QuotaRefusals;
import io.sidewarp.service.testing.TestSidecar;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RequestOctetsTest {

    /** What one connection may have alone: a third of the setting. */
    private static final int MOST = 4 << 20;

    private final ApiConnection connection = new ApiConnections(
                    TestSidecar.config(Path.of("/dev/shm/none"), "sidewarp.limits.request-octets", "" + 3 * MOST)
                            .limits(),
                    new QuotaRefusals())
            .open(new Peer(1, 1000, 1000), new EmbeddedChannel());
    private final List<StatusRuntimeException> refusals = new ArrayList<>();

    @Test
    void theCallThatWouldHaveTooMuchIsRefusedOnceWithTheSetting() {
        RequestOctets first = call();
        RequestOctets second = call();

        first.inboundWireSize(MOST / 2);
        second.inboundWireSize(MOST / 2);
        assertThat(refusals).isEmpty();
        second.inboundWireSize(1);
        second.inboundWireSize(1);

        assertThat(refusals).hasSize(1);
        assertThat(refusals.getFirst().getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(refusals.getFirst()).hasMessageContaining("sidewarp.limits.request-octets");
    }

    @Test
    void theNextRequestOfACallTakesThePlaceOfTheLast() {
        RequestOctets call = call();
        for (int request = 0; request < 3; request++) {
            call.done();
            call.inboundWireSize(MOST - 1);
            call.inboundWireSize(1);
        }

        assertThat(refusals).isEmpty();
        assertOthersMayHave(0);
    }

    @Test
    void aCallThatEndsGivesAllBack() {
        RequestOctets call = call();
        call.inboundWireSize(MOST);
        call.streamClosed(Status.CANCELLED);
        call.done();

        assertOthersMayHave(MOST);
        assertThat(refusals).isEmpty();
    }

    @Test
    void aCompressedRequestCountsWithWhatItBecomes() {
        RequestOctets call = call();
        call.inboundWireSize(10_000);
        call.inboundUncompressedSize(MOST);

        assertThat(refusals).isEmpty();
        assertOthersMayHave(0);
        call.inboundUncompressedSize(1);
        assertThat(refusals).hasSize(1);
    }

    @Test
    void whatComesBehindTheEndIsNotCounted() {
        RequestOctets call = call();
        call.streamClosed(Status.OK);
        call.inboundWireSize(MOST);

        assertOthersMayHave(MOST);
    }

    @Test
    void smallRequestsAreNotCounted() {
        call().inboundWireSize(RequestOctets.UNCOUNTED);

        assertOthersMayHave(MOST);
    }

    private void assertOthersMayHave(int octets) {
        if (octets > 0) {
            assertThat(connection.takeRequestOctets(octets)).isNull();
        }
        assertThat(connection.takeRequestOctets(1)).isNotNull();
        connection.giveRequestOctets(octets);
    }

    private RequestOctets call() {
        RequestOctets octets = new RequestOctets();
        octets.begin(connection, refusals::add);
        return octets;
    }
}
