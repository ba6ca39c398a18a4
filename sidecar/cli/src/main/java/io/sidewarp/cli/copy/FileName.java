// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.text.Printable;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A checked name that a peer asked for. Single slashes separate its parts. No part is hidden or leads out of the
 * directory.
 *
 * @param parts directories, and the file's own name last; none for the served directory itself
 */
record FileName(List<String> parts) {

    /** Maximum bytes of a whole name, which must fit into a control message. */
    static final int MAX_LENGTH = 512;

    private static final int MAX_PART_LENGTH = 200;

    /** The directory itself. */
    static final FileName ROOT = new FileName(List.of());

    FileName {
        parts = List.copyOf(parts);
    }

    /** @throws Failure when such a name is not served */
    static FileName of(String name) {
        if (name.isEmpty() || name.getBytes(StandardCharsets.UTF_8).length > MAX_LENGTH) {
            throw refused(name, "it is empty, or longer than " + MAX_LENGTH + " bytes");
        }
        if (name.chars().anyMatch(Character::isISOControl) || name.indexOf('\\') >= 0) {
            throw refused(name, "it has control characters or backslashes");
        }
        List<String> parts = List.of(name.split("/", -1));
        for (String part : parts) {
            if (part.isEmpty()) {
                throw refused(name, "it begins or ends with a slash, or has two in a row");
            }
            if (part.startsWith(".")) {
                throw refused(name, "a part of it begins with a dot");
            }
            if (part.getBytes(StandardCharsets.UTF_8).length > MAX_PART_LENGTH) {
                throw refused(name, "a part of it has more than " + MAX_PART_LENGTH + " bytes");
            }
        }
        return new FileName(parts);
    }

    /** Checks the name of a directory. An empty name is the served directory itself. */
    static FileName ofDirectory(String name) {
        return name.isEmpty() ? ROOT : of(name);
    }

    /**
     * Returns the name of an entry of this directory.
     *
     * @throws Failure when such a name is not served
     */
    FileName child(String name) {
        if (name.indexOf('/') >= 0) {
            throw refused(name, "it has a slash");
        }
        return resolve(of(name));
    }

    /** Returns a name that is relative to this directory. */
    FileName resolve(FileName below) {
        return ofDirectory(
                parts.isEmpty() ? below.toString() : below.parts.isEmpty() ? toString() : this + "/" + below);
    }

    List<String> directories() {
        return parts.subList(0, parts.size() - 1);
    }

    String last() {
        return parts.getLast();
    }

    @Override
    public String toString() {
        return String.join("/", parts);
    }

    private static Failure refused(String name, String why) {
        return new Failure(ExitCode.NO_PERMISSION, "the name \"" + Printable.of(name) + "\" is not served: " + why);
    }
}
