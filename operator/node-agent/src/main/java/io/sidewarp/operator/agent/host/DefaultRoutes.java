// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Finds default routes in the kernel's routing tables, as shown by procfs (Linux: proc(5), net/route and
 * net/ipv6_route).
 */
final class DefaultRoutes {

    private static final int RTF_UP = 1;
    private static final int HEXADECIMAL = 16;

    private static final String LOOPBACK = "lo";

    private record Route(String networkInterface, long metric) {}

    private DefaultRoutes() {}

    /**
     * Returns the interfaces with a default route. Those with an IPv4 route precede those with IPv6 only; within each
     * group the lowest metric is first.
     */
    static List<String> interfaces(List<String> ipv4, List<String> ipv6) {
        List<Route> routes = new ArrayList<>();
        // The first line contains the column titles.
        routes.addAll(sorted(ipv4.stream().skip(1).flatMap(DefaultRoutes::ipv4Route)));
        routes.addAll(sorted(ipv6.stream().flatMap(DefaultRoutes::ipv6Route)));
        return routes.stream().map(Route::networkInterface).distinct().toList();
    }

    private static List<Route> sorted(Stream<Route> routes) {
        return routes.sorted(Comparator.comparingLong(Route::metric)).toList();
    }

    /**
     * Parses a line with interface, destination, gateway, flags, reference count, use, metric, mask, ...; the metric is
     * decimal.
     */
    private static Stream<Route> ipv4Route(String line) {
        String[] columns = line.strip().split("\\s+", -1);
        boolean isDefault = columns.length > 7
                && columns[1].equals("00000000")
                && columns[7].equals("00000000")
                && (Integer.parseUnsignedInt(columns[3], HEXADECIMAL) & RTF_UP) != 0;
        return isDefault ? Stream.of(new Route(columns[0], Long.parseLong(columns[6]))) : Stream.of();
    }

    /**
     * Parses a line with destination, its prefix length, source, its prefix length, next hop, metric, references, use,
     * flags, interface.
     */
    private static Stream<Route> ipv6Route(String line) {
        String[] columns = line.strip().split("\\s+", -1);
        // Without a default route the kernel shows its null entry, on lo.
        boolean isDefault = columns.length > 9
                && columns[1].equals("00")
                && columns[0].chars().allMatch(digit -> digit == '0')
                && (Integer.parseUnsignedInt(columns[8], HEXADECIMAL) & RTF_UP) != 0
                && !columns[9].equals(LOOPBACK);
        return isDefault ? Stream.of(new Route(columns[9], Long.parseLong(columns[5], HEXADECIMAL))) : Stream.of();
    }
}
