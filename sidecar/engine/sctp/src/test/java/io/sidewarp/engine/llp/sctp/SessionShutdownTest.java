// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.testing.SctpEnd;
import io.sidewarp.engine.testing.SessionRecorder;
import org.junit.jupiter.api.Test;

/** Tests sessions whose association SCTP shuts down in order (RFC 5043 section 6.2). */
class SessionShutdownTest {

    private static final byte[] SEGMENT = {0x41};

    @Test
    @Requirement("SCTP-6.2-02")
    void aShutdownBehindTheTerminateOfThisSideEndsTheSession() {
        SctpEnd left = SctpEnd.pair(1);
        SessionRecorder active = left.initiate();
        left.rest();
        SessionRecorder passive = left.peer().asked().getFirst().staysOpen();
        active.session().lowerLayer().closeOutput();
        left.rest();
        assertThat(active.events()).containsExactly("established");

        left.peer().pipe().shutdown();
        left.rest();

        assertThat(active.events()).containsExactly("established", "peer closed", "closed");
        // It has not said that it is at its end.
        assertThat(passive.events()).containsExactly("established", "peer closed", "broken");
    }

    @Test
    @Requirement("SCTP-6.2-02")
    void aShutdownBehindTheTerminateOfThePeerEndsTheSession() {
        SctpEnd end = SctpEnd.alone(1);
        SessionRecorder active = end.establish();
        end.rest();
        // SCTP takes nothing behind the peer's SHUTDOWN.
        end.pipe().window(0);
        end.inject(0, 17, "0001 0004");
        end.rest();

        end.association().onClosed(true, "shut down");

        assertThat(end.sent()).containsExactly("0:17 00 00 00 01");
        assertThat(active.events()).containsExactly("established", "peer closed", "closed");
    }

    @Test
    void aShutdownInFrontOfWhatThisSideHasToSendBreaksTheSession() {
        SctpEnd end = SctpEnd.alone(1);
        SessionRecorder active = end.establish();
        end.rest();
        end.pipe().window(0);
        active.send(SEGMENT);
        end.association().produce();
        end.inject(0, 17, "0001 0004");
        end.rest();

        end.association().onClosed(true, "shut down");

        assertThat(active.events()).containsExactly("established", "peer closed", "broken");
    }

    @Test
    void aShutdownBehindAGapBreaksTheSession() {
        SctpEnd end = SctpEnd.alone(1);
        SessionRecorder active = end.establish();
        end.inject(0, 16, "0002 41");
        active.session().lowerLayer().closeOutput();
        end.rest();

        end.association().onClosed(true, "shut down");

        assertThat(active.events()).containsExactly("established", "broken");
    }
}
