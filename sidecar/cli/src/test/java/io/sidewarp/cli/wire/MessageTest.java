// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MessageTest {

    private static final String ERROR = "01" + "01" + "0000" + "00000006" + "004b" + "0002" + "6e6f";

    @Test
    void anErrorHasTheDocumentedLayout() {
        assertThat(Octets.of(new ErrorMessage(75, "no"))).isEqualTo(ERROR);
    }

    @Test
    void anErrorIsReadAsItWasWritten() {
        Failure failure = failure(ERROR);
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
        return failure(Octets.of(new ErrorMessage(exitCode, text)));
    }

    /** Returns the failure of reading a message of a service that has no messages of its own. */
    private static Failure failure(String message) {
        return catchThrowableOfType(
                Failure.class,
                () -> Octets.read(message, (type, _) -> {
                    throw Message.unexpected(type);
                }));
    }

    @Test
    void anErrorWithALongTextStillFitsAMessage() {
        ErrorMessage message = ErrorMessage.of(new Failure(ExitCode.FAILED, "ü".repeat(5000)));
        assertThat(Octets.of(message)).hasSizeLessThanOrEqualTo(2 * Message.MAX_LENGTH);
    }

    @Test
    void aMessageOfAnotherVersionIsRefused() {
        Failure failure = failure("0201000000000000");
        assertThat(failure).hasMessageContaining("version 2");
        assertThat(failure.exitCode()).isEqualTo(ExitCode.PROTOCOL);
    }

    @Test
    void aMessageWithAWrongLengthIsRefused() {
        assertThat(failure("010100000000000100ff")).hasMessageContaining("wrong length");
        assertThat(failure("01010000000000")).hasMessageContaining("of 7 bytes");
    }

    @Test
    void aBodyThatIsTooShortIsRefused() {
        assertThat(failure("0101000000000001" + "00")).hasMessageContaining("too short");
    }

    @Test
    void aMessageOfAnotherTypeIsRefused() {
        assertThat(failure("0102000000000000")).hasMessageContaining("type 2, which is not expected");
    }
}
