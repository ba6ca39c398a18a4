// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class LockedMemoryTest {

    private static final String LIMITS = """
            Limit                     Soft Limit           Hard Limit           Units
            Max processes             95904                95904                processes
            Max locked memory         %s              8388608              bytes
            Max address space         unlimited            unlimited            bytes
            """;

    @Test
    void parseReturnsLimitAndCapability() {
        assertThat(LockedMemory.parse(
                        LIMITS.formatted("65536"), "Name:\tjava\nCapEff:\t0000000000004000\nSeccomp:\t0\n"))
                .isEqualTo(new LockedMemory(65536, true));
        assertThat(LockedMemory.parse(LIMITS.formatted("unlimited"), "CapEff:\t00000000ffffbfff\n"))
                .isEqualTo(new LockedMemory(Long.MAX_VALUE, false));
    }

    @Test
    void limitOfThisProcessEqualsShellLimit() throws Exception {
        Process shell = new ProcessBuilder("sh", "-c", "ulimit -l").start();
        String kibibytes = new String(shell.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();

        assertThat(LockedMemory.ofThisProcess().limit())
                .isEqualTo(kibibytes.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(kibibytes) * 1024);
    }

    @Test
    void problemStatesBothLimitsAndRemedy() {
        assertThat(new LockedMemory(8 << 20, false).problem(1 << 30))
                .hasValueSatisfying(problem -> assertThat(problem)
                        .contains("register 1073741824 bytes (sidewarp.limits.registered-octets)")
                        .contains("lock 8388608 bytes; raise")
                        .contains("ulimit -l")
                        .doesNotContain("CAP_IPC_LOCK"));
        assertThat(new LockedMemory(0, true).problem(1 << 30))
                .hasValueSatisfying(problem -> assertThat(problem).contains("lock 0 bytes", "CAP_IPC_LOCK"));
    }

    @Test
    void sufficientLimitIsNoProblem() {
        assertThat(new LockedMemory(1 << 30, false).problem(1 << 30)).isEmpty();
        assertThat(new LockedMemory(Long.MAX_VALUE, false).problem(1L << 62)).isEmpty();
    }

    @Test
    void limitBelowSmallestRegionPreventsStart() {
        assertThatExceptionOfType(StartFailedException.class)
                .isThrownBy(() -> new LockedMemory(4095, false).problem(1 << 30))
                .withMessageContaining("lock 4095 bytes only, too few for any region; raise");
    }
}
