// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.pattern;
import static io.sidewarp.engine.testing.Ulpdus.readRequest;
import static io.sidewarp.engine.testing.Ulpdus.readResponse;
import static io.sidewarp.engine.testing.Ulpdus.readResponseMore;
import static io.sidewarp.engine.testing.Ulpdus.send;
import static io.sidewarp.engine.testing.Ulpdus.sendMore;
import static io.sidewarp.engine.testing.Ulpdus.write;
import static io.sidewarp.engine.testing.Ulpdus.writeMore;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.ddp.TaggedHeaderFlyweight;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.testing.EndpointOptions;
import io.sidewarp.engine.testing.LoneStream;
import io.sidewarp.engine.testing.Segment;
import io.sidewarp.engine.verbs.CqeStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests messages with which a peer would keep a stream busy without progress. */
class InboundLimitsTest {

    private static final int MOST = 10;
    private static final byte[] CRUMB = pattern(InboundLimits.SHORT - 1, 1);
    private static final byte[] SEGMENT = pattern(InboundLimits.SHORT, 2);

    private final LoneStream stream =
            new LoneStream(EndpointOptions.defaults().shortSegments(MOST).reads(4, 4));
    private final MemoryRegion region = stream.region(256);

    @AfterEach
    void close() {
        stream.close();
    }

    private void assertTerminated() {
        Segment terminate = stream.onlyOutput();
        assertThat(terminate.opcode()).isEqualTo(RdmapControl.TERMINATE);
        assertThat(terminate.payload()).startsWith(0x02, 0x07);
        assertThat(stream.stream().error().toString()).contains("localized to RDMAP Stream");
    }

    @Test
    void aWriteOfTooManyCrumbsIsTerminated() {
        for (int i = 0; i < MOST; i++) {
            stream.input(writeMore(region.stag(), 0, CRUMB));
        }
        assertThat(stream.output()).isEmpty();

        stream.input(writeMore(region.stag(), 0, CRUMB));

        assertTerminated();
    }

    @Test
    void aSendThatNeverGetsOnIsTerminated() {
        stream.endpoint().receive(1).with(region).post();
        for (int i = 0; i <= MOST; i++) {
            stream.input(sendMore(1, 0, new byte[0]));
        }

        assertTerminated();
    }

    @Test
    void aMessageOfAnotherQueueInBetweenDoesNotBeginTheCountAnew() {
        stream.endpoint().receive(1).with(region).post();
        for (int i = 0; i < MOST; i++) {
            stream.input(sendMore(1, 0, CRUMB), write(region.stag(), 0, new byte[0]));
        }
        assertThat(stream.output()).isEmpty();

        stream.input(sendMore(1, 0, CRUMB));

        assertTerminated();
    }

    @Test
    void aSendInBetweenDoesNotBeginTheCountOfAWriteAnew() {
        for (int i = 0; i < MOST; i++) {
            stream.endpoint().receive(i).with(region).post();
            stream.input(writeMore(region.stag(), 0, CRUMB), send(i + 1, CRUMB));
        }
        assertThat(stream.output()).isEmpty();

        stream.input(writeMore(region.stag(), 0, CRUMB));

        assertTerminated();
    }

    @Test
    void aWriteInBetweenDoesNotBeginTheCountOfAReadResponseAnew() {
        stream.endpoint().read(1).with(region, 0, 64).remote(1, 0).post();
        assertThat(stream.output()).hasSize(1);
        for (int i = 0; i < MOST; i++) {
            stream.input(readResponseMore(region.stag(), i, new byte[1]), write(region.stag(), 0, new byte[0]));
        }
        assertThat(stream.output()).isEmpty();

        stream.input(readResponseMore(region.stag(), MOST, new byte[1]));

        assertTerminated();
    }

    @Test
    void aReadResponseInBetweenDoesNotBeginTheCountOfAWriteAnew() {
        for (int i = 0; i < MOST; i++) {
            stream.endpoint().read(i).with(region, 0, 0).remote(1, 0).post();
            assertThat(stream.output()).hasSize(1);
            stream.input(writeMore(region.stag(), 0, CRUMB), readResponse(region.stag(), 0, new byte[0]));
        }
        assertThat(stream.output()).isEmpty();

        stream.input(writeMore(region.stag(), 0, CRUMB));

        assertTerminated();
    }

    @Test
    void anyNumberOfSegmentsThatAreNotShortAndOfShortMessagesIsTaken() {
        stream.endpoint().receive(1).with(region).post();
        for (int i = 0; i < 20 * MOST; i++) {
            stream.input(writeMore(region.stag(), 0, SEGMENT));
        }
        stream.input(write(region.stag(), 0, CRUMB));
        for (int i = 0; i < 20 * MOST; i++) {
            stream.input(writeMore(region.stag(), 0, CRUMB), write(region.stag(), 0, CRUMB));
        }
        stream.input(send(1, CRUMB));

        assertThat(stream.completions().receiveStatuses()).containsExactly(CqeStatus.SUCCESS);
    }

    @Test
    void aMessageOfMoreThan4GigabytesIsTooLong() {
        InboundLimits limits = new InboundLimits(MOST);
        TaggedHeaderFlyweight header = new TaggedHeaderFlyweight();
        header.wrap(WireBuffer.allocate(TaggedHeaderFlyweight.LENGTH), 0);
        header.set(false, 1, 0x40, 1, 0);
        long segments = 0xFFFF_FFFFL / 60_000;
        for (long i = 0; i < segments; i++) {
            assertThat(limits.admit(header, 60_000)).isTrue();
        }

        assertThat(limits.admit(header, 60_000)).isFalse();
    }

    @Test
    void moreReadRequestsThanAgreedAreNotKept() {
        for (int msn = 1; msn <= 4; msn++) {
            stream.input(readRequest(msn, 1, 0, 256, region.stag(), 0));
        }

        stream.input(readRequest(5, 1, 0, 256, region.stag(), 0));

        assertTerminated();
    }

    @Test
    void aReadOfAllThatThereIsNeedsNoMemoryAndEndsWithTheRegion() {
        for (int round = 0; round < 1000; round++) {
            stream.input(readRequest(round + 1, 1, 0, 256, region.stag(), 0));
            assertThat(stream.output()).hasSize(1);
        }

        stream.input(readRequest(1001, 1, 0, 257, region.stag(), 0));

        assertThat(stream.onlyOutput().opcode()).isEqualTo(RdmapControl.TERMINATE);
    }
}
