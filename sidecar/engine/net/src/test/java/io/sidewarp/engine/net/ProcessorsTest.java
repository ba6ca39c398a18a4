// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProcessorsTest {

    @TempDir
    private Path mount;

    private void write(String file, String content) throws IOException {
        Path path = mount.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, content + "\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {"0; 1", "0-1; 2", "0-3,7; 5", "2,4,6-7; 4"})
    void countsTheProcessorsOfAList(String list, int count) {
        assertThat(Processors.count(list + "\n")).isEqualTo(count);
    }

    @ParameterizedTest
    @CsvSource({"max 100000, Infinity", "50000 100000, 0.5", "100000 100000, 1", "30000 10000, 3"})
    void aUnifiedGroupHasItsQuotaInOneFile(String content, double quota) throws IOException {
        write("pod/container/cpu.max", content);

        assertThat(Processors.quota(mount, List.of("0::/pod/container"))).isEqualTo(quota);
    }

    @ParameterizedTest
    @CsvSource({"-1, Infinity", "50000, 0.5", "250000, 2.5"})
    void anOlderGroupHasQuotaAndPeriodInTheHierarchyOfTheCpu(String content, double quota) throws IOException {
        write("cpu/pod/cpu.cfs_quota_us", content);
        write("cpu/pod/cpu.cfs_period_us", "100000");
        write("memory/pod/cpu.cfs_quota_us", "1");

        assertThat(Processors.quota(mount, List.of("7:memory:/pod", "1:cpu,cpuacct:/pod", "0::/")))
                .isEqualTo(quota);
    }

    @Test
    void theTightestOfTheGroupsAroundCounts() throws IOException {
        write("pod/cpu.max", "40000 100000");
        write("pod/container/cpu.max", "200000 100000");

        assertThat(Processors.quota(mount, List.of("0::/pod/container"))).isEqualTo(0.4);
    }

    @Test
    void aContainerThatSeesAnotherPathHasItsQuotaWhereTheMountBegins() throws IOException {
        write("cpu.max", "150000 100000");

        assertThat(Processors.quota(mount, List.of("0::/kubepods/pod1/container2")))
                .isEqualTo(1.5);
        assertThat(Processors.quota(mount, List.of("0::/../outside"))).isEqualTo(Double.POSITIVE_INFINITY);
    }

    @Test
    void withoutControlGroupsThereIsNoQuota() throws IOException {
        assertThat(Processors.quota(mount, List.of("1:cpu:/", "0::/"))).isEqualTo(Double.POSITIVE_INFINITY);
    }
}
