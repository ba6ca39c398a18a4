// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import java.net.ConnectException;
import java.util.regex.Pattern;

/** Makes messages of operating system errors readable. */
public final class SystemErrors {

    /** Matches the call that Netty names first, for example "recvAddress(..) failed with error(-104): ". */
    private static final Pattern CALL = Pattern.compile("^\\w+\\(\\.\\.\\) failed(?: with error\\(-?\\d+\\))?: ");

    private SystemErrors() {}

    /** Returns whether the host answered that no process listens at the address (ECONNREFUSED). */
    public static boolean isRefused(Throwable failure) {
        return failure instanceof ConnectException && text(failure).startsWith("Connection refused");
    }

    /** Returns the message of a failure without the name of the call that failed. */
    public static String text(Throwable failure) {
        String message = failure.getMessage();
        return message == null ? failure.toString() : CALL.matcher(message).replaceFirst("");
    }
}
