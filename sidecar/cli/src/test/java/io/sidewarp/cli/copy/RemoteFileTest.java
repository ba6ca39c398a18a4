// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.cli.text.HostPort;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RemoteFileTest {

    @Test
    void hasHostPortAndName() {
        assertThat(RemoteFile.parse("peer:7472/a/b.bin"))
                .isEqualTo(Optional.of(new RemoteFile(new HostPort("peer", 7472), "a/b.bin")));
        assertThat(RemoteFile.parse("[::1]:7472/"))
                .isEqualTo(Optional.of(new RemoteFile(new HostPort("::1", 7472), "")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", "/tmp/x:1/y", "./peer:7472/a", "peer:7472", "a/b:1/c", ""})
    void isNotSeenInTheNameOfALocalFile(String argument) {
        assertThat(RemoteFile.parse(argument)).isEmpty();
    }

    @Test
    void refusesAPortThatIsNone() {
        assertThatThrownBy(() -> RemoteFile.parse("peer:99999/a")).isInstanceOf(IllegalArgumentException.class);
    }
}
