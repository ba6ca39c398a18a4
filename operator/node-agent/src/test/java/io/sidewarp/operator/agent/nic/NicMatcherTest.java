// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.operator.agent.host.RecordedHost;
import io.sidewarp.operator.api.v1alpha1.NicSelector;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NicMatcherTest {

    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource(nullValues = "-", textBlock = """
            # host,     vendors, devices,   drivers,  names,       addresses,      selected
            intel-e810, -,       -,         -,        -,           -,              -
            intel-e810, 8086,    -,         -,        -,           -,              0000:18:00.0 0000:18:00.1
            intel-e810, 1425,    -,         -,        -,           -,              -
            intel-e810, -,       1592 1593, -,        -,           -,              0000:18:00.0 0000:18:00.1
            intel-e810, -,       -,         ice,      -,           -,              0000:18:00.0 0000:18:00.1
            intel-e810, -,       -,         i40e,     -,           -,              -
            intel-e810, -,       -,         -,        ens1f0,      -,              0000:18:00.0
            intel-e810, -,       -,         -,        ens?f1,      -,              0000:18:00.1
            intel-e810, -,       -,         -,        ens1*,       -,              0000:18:00.0 0000:18:00.1
            intel-e810, -,       -,         -,        ens,         -,              -
            intel-e810, -,       -,         -,        ens1f.,      -,              -
            intel-e810, -,       -,         -,        eth0 *f1,    -,              0000:18:00.1
            intel-e810, -,       -,         -,        -,           0000:18:00.1,   0000:18:00.1
            intel-e810, 8086,    -,         -,        ens1f0,      0000:18:00.1,   -
            intel-e810, 8086,    -,         ice,      *f0,         0000:18:00.0,   0000:18:00.0
            chelsio-t6, -,       6407,      -,        -,           -,              0000:03:00.4
            chelsio-t6, -,       -,         -,        enp3s0f4d1,  -,              0000:03:00.4
            intel-x722, -,       37D2,      -,        -,           -,              0000:b5:00.0 0000:b5:00.1
            """)
    void selectsWhatMatchesOneEntryOfEachListThatIsNotEmpty(
            String host,
            String vendors,
            String devices,
            String drivers,
            String names,
            String addresses,
            String selected)
            throws Exception {
        NicSelector selector =
                new NicSelector(words(vendors), words(devices), words(drivers), words(names), words(addresses));

        List<Nic> nics =
                new NicDiscovery(RecordedHost.of(host, directory)).discover().nics();

        assertThat(nics.stream()
                        .filter(nic -> NicMatcher.matches(selector, nic))
                        .map(nic -> nic.address().value()))
                .isEqualTo(words(selected));
    }

    private static List<String> words(String words) {
        return words == null ? List.of() : Arrays.asList(words.split(" ", -1));
    }
}
