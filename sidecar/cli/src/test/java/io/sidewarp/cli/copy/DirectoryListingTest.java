// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.copy.DirectoryListing.Entry;
import io.sidewarp.cli.copy.DirectoryListing.Kind;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DirectoryListingTest {

    @Test
    void aListingHasTheDocumentedLayout() {
        DirectoryListing listing = new DirectoryListing(
                0750, List.of(new Entry(Kind.FILE, 0644, 258, "a.b"), new Entry(Kind.LINK, 0777, 0, "c")));
        String octets = "01e8" + "00" + "01a4" + "0000000000000102" + "0003" + "612e62" + "02" + "01ff" + "0".repeat(16)
                + "0001" + "63";

        assertThat(HexFormat.of().formatHex(listing.encode())).isEqualTo(octets);
        assertThat(DirectoryListing.decode(listing.encode())).isEqualTo(listing);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "01", "01e800", "01e80401a400000000000001020000", "01e8ff01a400000000000001020000"})
    void aMalformedListingIsAFailureOfThePeer(String octets) {
        assertThatThrownBy(() -> DirectoryListing.decode(HexFormat.of().parseHex(octets)))
                .isInstanceOf(Failure.class)
                .extracting(e -> ((Failure) e).exitCode())
                .isEqualTo(ExitCode.PROTOCOL);
    }

    @Test
    void hiddenEntriesCanBeLeftOut() {
        DirectoryListing listing = new DirectoryListing(
                0750, List.of(new Entry(Kind.FILE, 0644, 1, ".a"), new Entry(Kind.FILE, 0644, 1, "b")));

        assertThat(listing.withoutHidden().entries()).extracting(Entry::name).containsExactly("b");
    }
}
