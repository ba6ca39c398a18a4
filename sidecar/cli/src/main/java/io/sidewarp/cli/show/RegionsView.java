// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.text.Table;
import io.sidewarp.client.RegionInfo;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Memory regions. */
record RegionsView(List<RegionInfo> regions) implements View {

    @Override
    public String text() {
        if (regions.isEmpty()) {
            return "no regions\n";
        }
        Table table = new Table(
                ">ID", "STAG", ">BASE", ">LENGTH", "ACCESS", "STATE", ">DOMAIN", "CONNECTION", "SESSION", "BACKING");
        for (RegionInfo region : regions) {
            table.row(
                    region.id(),
                    View.stag(region.stag()),
                    Long.toUnsignedString(region.baseTaggedOffset()),
                    Sizes.format(region.length()),
                    String.join(",", access(region)),
                    View.plain(region.state()),
                    region.protectionDomain(),
                    region.connection() == 0 ? "any" : region.connection(),
                    region.sessionName(),
                    region.path().isEmpty() ? "(managed)" : region.path());
        }
        return table.render();
    }

    @Override
    public Object json() {
        return regions.stream().map(RegionsView::json).toList();
    }

    private static List<String> access(RegionInfo region) {
        return region.access().stream().map(View::plain).toList();
    }

    private static Map<String, Object> json(RegionInfo region) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("id", region.id());
        json.put("stag", View.stag(region.stag()));
        json.put("base_tagged_offset", Long.toUnsignedString(region.baseTaggedOffset()));
        json.put("length", region.length());
        json.put("access", access(region));
        json.put("state", View.plain(region.state()));
        json.put("protection_domain", region.protectionDomain());
        json.put("connection", region.connection());
        json.put("session_name", region.sessionName());
        json.put("path", region.path());
        return json;
    }
}
