// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class VolumeSpaceTest {

    private static final long MIB = 1L << 20;

    @Test
    void takesTheWholeFileWhenItFitsBothSides() {
        assertThat(VolumeSpace.window(1024 * MIB, 4096 * MIB)).isEqualTo(1024 * MIB);
        assertThat(VolumeSpace.window(12345, 4096 * MIB)).isEqualTo(12345);
    }

    @Test
    void takesWholeMebibytesOfAFileThatDoesNotFit() {
        assertThat(VolumeSpace.window(1024 * MIB, 1000 * MIB + 3)).isEqualTo(404 * MIB);
    }

    @Test
    void looksAtTheDirectoryThatIsGiven() {
        assertThatExceptionOfType(Failure.class)
                .isThrownBy(() -> VolumeSpace.window(Path.of("/proc"), 1024 * MIB))
                .withMessageContainingAll("/proc has room for 0", "--window", "--dir")
                .satisfies(failure -> assertThat(failure.exitCode()).isEqualTo(ExitCode.NO_RESOURCES));
    }

    @Test
    void takesALittleInAnyCase() {
        assertThat(VolumeSpace.window(1024 * MIB, 0)).isEqualTo(64 * MIB);
    }
}
