// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import io.sidewarp.cli.text.HostPort;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A file at a server: {@code HOST:PORT/NAME}.
 *
 * @param name relative to the server's directory; empty for the name of the other file
 */
record RemoteFile(HostPort server, String name) {

    private static final Pattern FORM = Pattern.compile("([^/]*:\\d+)/(.*)", Pattern.DOTALL);

    /** Returns the remote file that an argument names, or empty for a local file. */
    static Optional<RemoteFile> parse(String argument) {
        Matcher matcher = FORM.matcher(argument);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        return Optional.of(new RemoteFile(HostPort.parse(matcher.group(1), false), matcher.group(2)));
    }

    @Override
    public String toString() {
        return server + "/" + name;
    }
}
