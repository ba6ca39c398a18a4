// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class DefaultRoutesTest {

    private static final String TITLES =
            "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT";

    private static final String NULL_ENTRY = "00000000000000000000000000000000 00 00000000000000000000000000000000 00"
            + " 00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo";

    @Test
    void prefersTheLowestMetricAndIpv4() {
        List<String> ipv4 = List.of(
                TITLES,
                "wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0",
                "eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0",
                "eth0\t0001A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0");
        List<String> ipv6 = List.of(
                "00000000000000000000000000000000 00 00000000000000000000000000000000 00"
                        + " fe80000000000000020c29fffe000001 00000400 00000001 00000000 00000003     eth1",
                NULL_ENTRY);

        assertThat(DefaultRoutes.interfaces(ipv4, ipv6)).containsExactly("eth0", "wlan0", "eth1");
    }

    @Test
    void findsNoneWhereThereIsNone() {
        List<String> ipv4 = List.of(
                TITLES,
                "eth0\t0001A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0",
                "tun0\t00000000\t00000000\t0001\t0\t0\t0\t00000080\t0\t0\t0");

        assertThat(DefaultRoutes.interfaces(ipv4, List.of(NULL_ENTRY))).isEmpty();
        assertThat(DefaultRoutes.interfaces(List.of(), List.of())).isEmpty();
    }
}
