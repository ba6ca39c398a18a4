// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FileNameTest {

    @Test
    void hasDirectoriesAndALastPart() {
        FileName name = FileName.of("models/large/v1.bin");
        assertThat(name.directories()).containsExactly("models", "large");
        assertThat(name.last()).isEqualTo("v1.bin");
        assertThat(name).hasToString("models/large/v1.bin");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "/",
                "/etc/passwd",
                "..",
                "../x",
                "a/../b",
                "a/..",
                ".",
                "./a",
                "a//b",
                "a/",
                ".hidden",
                "a/.ssh/b",
                "a\0b",
                "a\nb",
                "a\\b",
                "..\\x"
            })
    void refusesWhatIsEmptyHiddenOrLeadsElsewhere(String name) {
        assertThatThrownBy(() -> FileName.of(name))
                .isInstanceOf(Failure.class)
                .extracting(e -> ((Failure) e).exitCode())
                .isEqualTo(ExitCode.NO_PERMISSION);
    }

    @Test
    void namesOfADirectoryAreComposed() {
        FileName directory = FileName.ofDirectory("").child("models");

        assertThat(directory).isEqualTo(FileName.of("models"));
        assertThat(directory.child("large").resolve(FileName.of("a/b"))).hasToString("models/large/a/b");
        assertThat(directory.resolve(FileName.ROOT)).isEqualTo(directory);
        assertThat(FileName.ROOT.resolve(FileName.ROOT)).isEqualTo(FileName.ROOT);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "..", "a/b", "/", ".hidden"})
    void anEntryOfADirectoryLeadsNowhereElse(String name) {
        assertThatThrownBy(() -> FileName.of("directory").child(name)).isInstanceOf(Failure.class);
    }

    @Test
    void refusesNamesThatAreTooLong() {
        assertThatThrownBy(() -> FileName.of("x".repeat(201))).isInstanceOf(Failure.class);
        assertThatThrownBy(() -> FileName.of("ü/".repeat(200) + "x")).isInstanceOf(Failure.class);
    }
}
