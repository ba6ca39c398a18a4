// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import io.netty.channel.ChannelException;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.sidewarp.engine.linux.SocketCalls;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the number of bytes that a socket gets at a time, and the flags of each call. */
@EnabledIf("hasEpoll")
class SegmentAlignmentTest {

    private static final int LARGE = NetSettings.LARGE_OUTPUT_CAPACITY;
    private static final int ETHERNET = 1448;
    private static final int LOOPBACK = 65_483;

    private final EpollSocketChannel channel = new EpollSocketChannel();
    private final SegmentAlignment alignment = new SegmentAlignment(channel);

    static boolean hasEpoll() {
        return Epoll.isAvailable();
    }

    @AfterEach
    void close() {
        channel.unsafe().closeForcibly();
    }

    private void useCongestionControl(String name) {
        CongestionControl.apply(channel, name);
    }

    /** Gives the socket as much as it may get at a time. */
    private int give(boolean all) {
        int octets = alignment.room(LARGE, ETHERNET);
        assertThat(alignment.begin(octets, ETHERNET)).isEqualTo(SocketCalls.MSG_EOR);
        alignment.given(all);
        return octets;
    }

    private void giveUntilItKeepsUp() {
        int octets = 0;
        while (octets <= LARGE) {
            octets += give(true);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {536, ETHERNET, 8948, 65_480})
    void aBufferHasAsManyWholeSegmentsAsTheKernelMakesAtATime(int emss) {
        useCongestionControl("reno");
        int kernels = Math.max(1, (65_536 - 321) / emss) * emss;

        assertThat(alignment.room(LARGE, emss))
                .isPositive()
                .isLessThanOrEqualTo(SegmentAlignment.SMALL)
                .isGreaterThan(SegmentAlignment.SMALL - kernels);
        assertThat(alignment.room(LARGE, emss) % kernels).isZero();
        giveUntilItKeepsUp();
        assertThat(alignment.room(LARGE, emss)).isLessThanOrEqualTo(LARGE).isGreaterThan(LARGE - kernels);
        assertThat(alignment.room(LARGE, emss) % kernels).isZero();
    }

    @Test
    void aSocketThatKeepsUpGetsLargeBuffersUntilItIsFull() {
        useCongestionControl("reno");
        int first = give(true);
        assertThat(give(true)).isEqualTo(first);

        giveUntilItKeepsUp();
        assertThat(give(false)).isGreaterThan(5 * first);

        assertThat(give(true)).isEqualTo(first);
        assertThat(alignment.room(SegmentAlignment.SMALL, ETHERNET)).isEqualTo(first);
    }

    @Test
    void aSocketThatPacesGetsSmallBuffersOnly() {
        try {
            useCongestionControl("bbr");
        } catch (ChannelException e) {
            abort("the kernel does not have bbr for every process");
        }
        int first = give(true);

        giveUntilItKeepsUp();
        giveUntilItKeepsUp();

        assertThat(give(true)).isEqualTo(first);
    }

    @Test
    void whereSegmentsCannotBeginWithFpdusABufferIsAsLargeAsItMayBe() {
        assertThat(alignment.room(LARGE, LOOPBACK)).isEqualTo(LARGE);
        assertThat(alignment.begin(LARGE, LOOPBACK)).isZero();
        assertThat(new SegmentAlignment(new NioSocketChannel()).room(LARGE, ETHERNET))
                .isEqualTo(LARGE);
    }
}
