// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.text.Table;
import io.sidewarp.v1.Region;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Memory regions. */
record RegionsView(List<Region> regions) implements View {

    @Override
    public String text() {
        if (regions.isEmpty()) {
            return "no regions\n";
        }
        Table table = new Table(
                ">ID", "STAG", ">BASE", ">LENGTH", "ACCESS", "STATE", ">DOMAIN", "CONNECTION", "SESSION", "BACKING");
        for (Region region : regions) {
            table.row(
                    region.getId(),
                    View.stag(region.getStag()),
                    Long.toUnsignedString(region.getBaseTaggedOffset()),
                    Sizes.format(region.getLength()),
                    String.join(",", access(region)),
                    View.plain(region.getState(), "REGION_STATE_"),
                    region.getProtectionDomain(),
                    region.getConnection() == 0 ? "any" : region.getConnection(),
                    region.getSessionName(),
                    region.getPath().isEmpty() ? "(managed)" : region.getPath());
        }
        return table.render();
    }

    @Override
    public Object json() {
        return regions.stream().map(RegionsView::json).toList();
    }

    private static List<String> access(Region region) {
        return region.getAccessList().stream()
                .map(access -> View.plain(access, "ACCESS_"))
                .toList();
    }

    private static Map<String, Object> json(Region region) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("id", region.getId());
        json.put("stag", View.stag(region.getStag()));
        json.put("base_tagged_offset", Long.toUnsignedString(region.getBaseTaggedOffset()));
        json.put("length", region.getLength());
        json.put("access", access(region));
        json.put("state", View.plain(region.getState(), "REGION_STATE_"));
        json.put("protection_domain", region.getProtectionDomain());
        json.put("connection", region.getConnection());
        json.put("session_name", region.getSessionName());
        json.put("path", region.getPath());
        return json;
    }
}
