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

    /** What one of its calls may hold then. */
    private static final int HELD = MOST + RequestOctets.UNCOUNTED;

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

        assertThat(first.arrive(HELD - MOST / 2)).isTrue();
        assertThat(second.arrive(HELD - MOST / 2)).isTrue();
        assertThat(refusals).isEmpty();
        assertThat(second.arrive(1)).isFalse();
        assertThat(second.arrive(1)).isFalse();

        assertThat(refusals).hasSize(1);
        assertThat(refusals.getFirst().getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(refusals.getFirst()).hasMessageContaining("sidewarp.limits.request-octets");
    }

    @Test
    void theNextRequestOfACallTakesThePlaceOfTheLast() {
        RequestOctets call = call();
        for (int request = 0; request < 3; request++) {
            call.ask(1);
            call.arrive(HELD / 2);
            call.arrive(HELD / 2);
            call.inboundMessageRead(request, HELD - RequestOctets.PREFIX, HELD - RequestOctets.PREFIX);
        }

        assertThat(refusals).isEmpty();
        assertOthersMayHave(RequestOctets.PREFIX);
    }

    @Test
    void aPieceCountsWhatItsBufferTakesHoweverShortItIs() {
        RequestOctets call = call();
        for (int octet = 0; octet < 1000; octet++) {
            call.arrive(1);
        }

        assertOthersMayHave(HELD - 128_000);
    }

    @Test
    void whatWaitsUntilItsCallAsksForItCounts() {
        RequestOctets call = call();
        call.ask(1);
        call.arrive(10_000);
        call.inboundMessageRead(0, 5000, 5000);
        call.arrive(20_000);
        assertOthersMayHave(HELD - 30_000 + RequestOctets.PREFIX);

        call.ask(1);
        assertOthersMayHave(HELD - 25_000 + RequestOctets.PREFIX);
        call.inboundMessageRead(1, 25_000 - 2 * RequestOctets.PREFIX, -1);
        assertOthersMayHave(HELD - 25_000 + 2 * RequestOctets.PREFIX);
        call.ask(1);
        assertOthersMayHave(MOST);
    }

    @Test
    void shortPiecesOfACallThatIsNeverWithoutAnyDoNotAddUp() {
        RequestOctets call = call();
        call.arrive(10);
        for (int message = 0; message < 100_000; message++) {
            call.ask(1);
            call.arrive(10);
            call.inboundMessageRead(message, 10 - RequestOctets.PREFIX, -1);
        }

        assertThat(refusals).isEmpty();
        assertOthersMayHave(MOST);
    }

    @Test
    void aCallThatEndsGivesAllBack() {
        RequestOctets call = call();
        call.arrive(HELD);
        call.streamClosed(Status.CANCELLED);
        call.ask(1);

        assertOthersMayHave(MOST);
        assertThat(refusals).isEmpty();
    }

    @Test
    void aCompressedRequestCountsWithWhatItBecomes() {
        RequestOctets call = call();
        call.arrive(10_000);
        call.inboundMessageRead(0, 10_000 - RequestOctets.PREFIX, -1);
        call.inboundUncompressedSize(HELD);

        assertThat(refusals).isEmpty();
        assertOthersMayHave(0);
        call.inboundUncompressedSize(1);
        assertThat(refusals).hasSize(1);
    }

    @Test
    void whatComesBehindTheEndIsNotCounted() {
        RequestOctets call = call();
        call.streamClosed(Status.OK);
        assertThat(call.arrive(HELD)).isFalse();

        assertOthersMayHave(MOST);
    }

    @Test
    void smallRequestsAreNotCounted() {
        call().arrive(RequestOctets.UNCOUNTED);

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
