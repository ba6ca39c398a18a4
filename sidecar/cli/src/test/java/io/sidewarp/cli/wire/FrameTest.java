// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FrameTest {

    private static final String ERROR = "01" + "01" + "0000" + "00000006" + "004b" + "0002" + "6e6f";

    @Test
    void anErrorHasTheDocumentedLayout() {
        assertThat(Octets.of(new ErrorMessage(75, "no"))).isEqualTo(ERROR);
    }

    @Test
    void anErrorIsReadAsItWasWritten() {
        Frame frame = Octets.frame(ERROR);
        assertThat(frame.type()).isEqualTo(ErrorMessage.TYPE);
        Failure failure = frame.read(ErrorMessage::decode).toFailure();
        assertThat(failure.exitCode()).isEqualTo(75);
        assertThat(failure).hasMessage("the peer says: no");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 66, 71, 73, 74, 75, 76, 77, 78})
    void whatHappenedToThePeerIsAsGoodAReasonHere(int exitCode) {
        assertThat(failure(exitCode, "no").exitCode()).isEqualTo(exitCode);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, 3, 69, 70, 130, 143, 256, 65_535})
    void whatIsSaidOfThisSideByThePeerIsAFailureOfTheTransfer(int exitCode) {
        assertThat(failure(exitCode, "no").exitCode()).isEqualTo(ExitCode.FAILED);
    }

    @Test
    void noControlCharactersOfThePeerReachTheTerminal() {
        assertThat(failure(1, "\u001b[2J\u009b2J ü")).hasMessage("the peer says: ?[2J?2J ü");
    }

    private static Failure failure(int exitCode, String text) {
        return Octets.frame(Octets.of(new ErrorMessage(exitCode, text)))
                .read(ErrorMessage::decode)
                .toFailure();
    }

    @Test
    void anErrorWithALongTextStillFitsAMessage() {
        ErrorMessage message = ErrorMessage.of(new Failure(ExitCode.FAILED, "ü".repeat(5000)));
        assertThat(Octets.of(message)).hasSizeLessThanOrEqualTo(2 * Message.MAX_LENGTH);
    }

    @Test
    void aMessageOfAnotherVersionIsRefused() {
        assertThatThrownBy(() -> Octets.frame("0201000000000000"))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("version 2")
                .extracting(e -> ((Failure) e).exitCode())
                .isEqualTo(ExitCode.PROTOCOL);
    }

    @Test
    void aMessageWithAWrongLengthIsRefused() {
        assertThatThrownBy(() -> Octets.frame("010100000000000100ff")).isInstanceOf(Failure.class);
        assertThatThrownBy(() -> Octets.frame("01010000000000")).isInstanceOf(Failure.class);
    }

    @Test
    void aBodyThatIsTooShortIsRefused() {
        Frame frame = Octets.frame("0101000000000001" + "00");
        assertThatThrownBy(() -> frame.read(ErrorMessage::decode))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("too short");
    }

    @Test
    void aMessageOfAnotherTypeIsRefused() {
        Frame frame = Octets.frame(ERROR);
        assertThatThrownBy(() -> frame.expect(2, ErrorMessage::decode))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("not expected");
    }
}
