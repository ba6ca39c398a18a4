// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import java.util.regex.Pattern;

/** Errors of the operating system for people. */
public final class SystemErrors {

    /** What Netty puts before the words of the operating system, for example "recvAddress(..) failed with error(-104): ". */
    private static final Pattern CALL = Pattern.compile("^\\w+\\(\\.\\.\\) failed(?: with error\\(-?\\d+\\))?: ");

    private SystemErrors() {}

    /** Returns the message of a failure without the name of the call that failed. */
    public static String text(Throwable failure) {
        String message = failure.getMessage();
        return message == null ? failure.toString() : CALL.matcher(message).replaceFirst("");
    }
}
