// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import io.sidewarp.cli.text.HostPort;
import io.sidewarp.client.AssociationInfo;
import io.sidewarp.client.ConnectionInfo;
import io.sidewarp.client.OpenSessionInfo;
import io.sidewarp.client.RdmaDeviceInfo;
import io.sidewarp.client.RegionInfo;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * A kind of objects, for filters.
 *
 * @param name plural, for people
 * @param properties by the name of the filter: its values of an object, any of which may match
 */
record Kind<T>(String name, Map<String, Function<T, List<String>>> properties) {

    static final Kind<ConnectionInfo> CONNECTIONS = new Kind<>(
            "connections",
            Map.of(
                    "--id",
                    connection -> List.of(String.valueOf(connection.id())),
                    "--peer",
                    connection -> peer(connection.remoteAddress(), connection.remotePort()),
                    "--state",
                    connection -> List.of(Listings.plain(connection.state())),
                    "--session",
                    connection -> List.of(connection.sessionName())));

    static final Kind<AssociationInfo> ASSOCIATIONS = new Kind<>(
            "associations",
            Map.of(
                    "--id",
                    association -> List.of(String.valueOf(association.id())),
                    "--peer",
                    association -> peer(association.remoteAddress(), association.remotePort())));

    static final Kind<RegionInfo> REGIONS = new Kind<>(
            "regions",
            Map.of(
                    "--id",
                    region -> List.of(String.valueOf(region.id())),
                    "--state",
                    region -> List.of(Listings.plain(region.state())),
                    "--session",
                    region -> List.of(region.sessionName()),
                    "--region",
                    region -> List.of(region.path())));

    static final Kind<OpenSessionInfo> SESSIONS =
            new Kind<>("sessions", Map.of("--session", session -> List.of(session.name())));

    static final Kind<RdmaDeviceInfo> DEVICE = new Kind<>("device", Map.of());

    private static List<String> peer(String address, int port) {
        return List.of(address, new HostPort(address, port).toString());
    }
}
