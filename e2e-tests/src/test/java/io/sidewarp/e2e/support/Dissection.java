// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;

/** Output of tshark about recorded packets. */
public record Dissection(List<String> lines) {

    /** Fails when something is malformed, lost, or has a wrong CRC. */
    public Dissection assertNothingMalformed() {
        assertThat(lines).noneMatch(line -> line.contains("Malformed") || line.contains("(Bad CRC32"));
        // Two processors may send, and record, two segments of a stream in the other order: what seemed missing comes
        // behind.
        assertThat(count("segment(s) not captured"))
                .as("segments that were not recorded")
                .isLessThanOrEqualTo(count("out-of-order segment"));
        return this;
    }

    /** Returns the number of lines that contain a text. */
    public long count(String text) {
        return lines.stream().filter(line -> line.contains(text)).count();
    }

    public long fpdus() {
        return count("ULPDU length:");
    }

    public long goodCrcs() {
        return count("(Good CRC32)");
    }
}
