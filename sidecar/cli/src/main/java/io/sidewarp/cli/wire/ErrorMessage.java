// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import io.sidewarp.cli.Failure;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The peer could not go on. Body: exit code (two octets), text.
 *
 * @param exitCode what the command at the other end should exit with
 * @param text for people: cause and remedy
 */
public record ErrorMessage(int exitCode, String text) implements Message {

    public static final int TYPE = 1;

    private static final int MAX_TEXT = 800;

    /** What to tell the peer of a failure of this side. */
    public static ErrorMessage of(Failure failure) {
        byte[] text = String.valueOf(failure.getMessage()).getBytes(StandardCharsets.UTF_8);
        return new ErrorMessage(
                failure.exitCode(),
                new String(Arrays.copyOf(text, Math.min(text.length, MAX_TEXT)), StandardCharsets.UTF_8));
    }

    static ErrorMessage decode(ByteBuffer body) {
        return new ErrorMessage(Short.toUnsignedInt(body.getShort()), Message.getText(body));
    }

    /** The failure that this side ends with. */
    Failure toFailure() {
        return new Failure(exitCode, "the peer says: " + text.replaceAll("\\p{Cntrl}", "?"));
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
