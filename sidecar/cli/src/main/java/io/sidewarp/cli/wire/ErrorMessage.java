// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.text.Printable;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;

/**
 * Reports that the peer could not continue. Body: exit code (two bytes), text.
 *
 * @param exitCode exit code of the command at this end, and at the other end if possible
 * @param text for people: cause and remedy
 */
public record ErrorMessage(int exitCode, String text) implements Message {

    public static final int TYPE = 1;

    private static final int MAX_TEXT = 800;

    /** Exit codes of a peer with which the command here may end, too. */
    private static final Set<Integer> OF_PEERS = Set.of(
            ExitCode.FAILED,
            ExitCode.NO_INPUT,
            ExitCode.NO_RESOURCES,
            ExitCode.CANNOT_CREATE,
            ExitCode.IO_ERROR,
            ExitCode.TEMPORARY,
            ExitCode.PROTOCOL,
            ExitCode.NO_PERMISSION,
            ExitCode.CONFIGURATION);

    /** Returns the message that reports a failure of this side to the peer. */
    public static ErrorMessage of(Failure failure) {
        byte[] text = String.valueOf(failure.getMessage()).getBytes(StandardCharsets.UTF_8);
        return new ErrorMessage(
                failure.exitCode(),
                new String(Arrays.copyOf(text, Math.min(text.length, MAX_TEXT)), StandardCharsets.UTF_8));
    }

    static ErrorMessage decode(ByteBuffer body) {
        return new ErrorMessage(Short.toUnsignedInt(body.getShort()), Message.getText(body));
    }

    /**
     * Returns the failure with which this side ends. Codes for success, or for problems at this side, are not taken
     * from the peer.
     */
    Failure toFailure() {
        int code = OF_PEERS.contains(exitCode) ? exitCode : ExitCode.FAILED;
        return new Failure(code, "the peer says: " + Printable.of(text));
    }

    @Override
    public int type() {
        return TYPE;
    }

    @Override
    public void encodeBody(ByteBuffer target) {
        target.putShort((short) exitCode);
        Message.putText(target, text);
    }
}
