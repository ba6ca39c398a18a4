// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.llp.sctp.AdaptationSettings;
import io.sidewarp.engine.llp.sctp.DdpSessionListener;
import io.sidewarp.engine.llp.sctp.DdpStreamSession;
import io.sidewarp.engine.llp.sctp.SessionStartup;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.Endpoint;
import io.sidewarp.engine.testing.EndpointOptions;
import io.sidewarp.engine.testing.Octets;
import io.sidewarp.engine.testing.SctpEnd;
import io.sidewarp.engine.testing.Ulpdus;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.RtrKind;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests streams over SCTP that this side ends, and whose peer sends no Terminate of its own (RFC 5043 section 6.2). */
class SilentPeerTest {

    /** Ways in which the peer ends the session after it has received this side's Terminate. */
    enum End {
        SILENCE,
        SHUTDOWN
    }

    /** Attaches a stream to the session when it opens. */
    private final class Opener implements DdpSessionListener {

        private DdpStreamSession session;

        @Override
        public void onEstablished(SessionStartup agreed) {
            endpoint = new Endpoint(session.lowerLayer(), EndpointOptions.defaults());
            session.attach(endpoint.stream());
        }

        @Override
        public void onRejected(SessionStartup reply) {
            throw new AssertionError("the peer rejected");
        }

        @Override
        public void onFailed(boolean refused, String message) {
            throw new AssertionError(message);
        }
    }

    private final SctpEnd end = SctpEnd.alone(1);
    private int ssn;
    private Endpoint endpoint;
    private MemoryRegion region;

    @BeforeEach
    void open() {
        Opener opener = new Opener();
        opener.session = end.association().initiate(SctpEnd.options(), opener);
        end.rest();
        peerSends(17, Octets.hex("0002"));
        end.rest();
        region = endpoint.region(64);
    }

    @AfterEach
    void close() {
        endpoint.close();
    }

    private void peerSends(int payloadProtocol, byte[] octets) {
        byte[] chunk = ByteBuffer.allocate(2 + octets.length)
                .putShort((short) ssn++)
                .put(octets)
                .array();
        end.pipe().inject(0, payloadProtocol, chunk);
    }

    private void disconnect() {
        endpoint.stream().close();
        end.rest();
        end.acknowledge();
    }

    private void peerEnds(End how) {
        switch (how) {
            case SILENCE ->
                end.advance(AdaptationSettings.defaults().lingerTimeout().toNanos());
            case SHUTDOWN -> end.association().onClosed(true, "shut down");
        }
    }

    private void assertLost() {
        assertThat(endpoint.stream().state()).isEqualTo(StreamState.CLOSED);
        assertThat(endpoint.stream().error()).isNotNull();
        assertThat(endpoint.stream().error().code()).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    @Requirement("SCTP-6.2-02")
    void aDisconnectEndsWithoutError(End how) {
        endpoint.write(1).with(region).remote(0x0A0B0C0D, 0).post();
        disconnect();

        peerEnds(how);

        assertThat(endpoint.events().states()).containsExactly(StreamState.CLOSING, StreamState.CLOSED);
        assertThat(endpoint.stream().error()).isNull();
        assertThat(endpoint.completions().sendStatuses()).containsExactly(CqeStatus.SUCCESS);
    }

    @ParameterizedTest
    @EnumSource
    void aDisconnectEndsWithoutTheAnswerToAReadyToReceiveReadThatIsGivenUp(End how) {
        endpoint.stream().indicateReady(RtrKind.READ);
        disconnect();
        assertThat(endpoint.stream().isReadyAnswerOwed()).isTrue();

        endpoint.stream().giveUpReadyAnswer();
        end.rest();
        end.acknowledge();
        peerEnds(how);

        assertThat(endpoint.events().states()).containsExactly(StreamState.CLOSING, StreamState.CLOSED);
        assertThat(endpoint.stream().error()).isNull();
    }

    @ParameterizedTest
    @EnumSource
    void aMessageThatThePeerHasBegunIsLost(End how) {
        endpoint.receive(1).with(region).post();
        peerSends(16, Ulpdus.sendMore(1, 0, new byte[8]));
        disconnect();

        peerEnds(how);

        assertLost();
        assertThat(endpoint.completions().receiveStatuses()).containsExactly(CqeStatus.FLUSHED);
    }

    @Test
    void aReadThatThePeerHasNotAnsweredIsLost() {
        endpoint.read(1).with(region).remote(0x0A0B0C0D, 0).post();
        disconnect();

        peerEnds(End.SHUTDOWN);

        assertLost();
        assertThat(endpoint.completions().sendStatuses()).containsExactly(CqeStatus.FLUSHED);
    }
}
