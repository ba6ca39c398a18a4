// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.text.Table;
import io.sidewarp.v1.SessionInfo;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Sessions of clients. */
record SessionsView(List<SessionInfo> sessions) implements View {

    @Override
    public String text() {
        if (sessions.isEmpty()) {
            return "no sessions\n";
        }
        Table table = new Table(
                "NAME", ">UID", ">PID", ">REGIONS", ">REGISTERED", ">CONNECTIONS", ">SHARED RQ", ">LISTENERS");
        for (SessionInfo session : sessions) {
            table.row(
                    session.getName(),
                    session.getUid(),
                    session.getPid(),
                    session.getRegions(),
                    Sizes.format(session.getRegisteredOctets()),
                    session.getConnections(),
                    session.getSharedReceiveQueues(),
                    session.getListeners());
        }
        return table.render();
    }

    @Override
    public Object json() {
        return sessions.stream().map(SessionsView::json).toList();
    }

    private static Map<String, Object> json(SessionInfo session) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("name", session.getName());
        json.put("uid", session.getUid());
        json.put("pid", session.getPid());
        json.put("regions", session.getRegions());
        json.put("registered_octets", session.getRegisteredOctets());
        json.put("connections", session.getConnections());
        json.put("shared_receive_queues", session.getSharedReceiveQueues());
        json.put("listeners", session.getListeners());
        return json;
    }
}
