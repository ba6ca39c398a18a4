// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.text.Table;
import io.sidewarp.client.OpenSessionInfo;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Sessions of clients. */
record SessionsView(List<OpenSessionInfo> sessions) implements View {

    @Override
    public String text() {
        if (sessions.isEmpty()) {
            return "no sessions\n";
        }
        Table table = new Table(
                "NAME", ">UID", ">PID", ">REGIONS", ">REGISTERED", ">CONNECTIONS", ">SHARED RQ", ">LISTENERS");
        for (OpenSessionInfo session : sessions) {
            table.row(
                    session.name(),
                    session.uid(),
                    session.pid(),
                    session.regions(),
                    Sizes.format(session.registeredBytes()),
                    session.connections(),
                    session.sharedReceiveQueues(),
                    session.listeners());
        }
        return table.render();
    }

    @Override
    public Object json() {
        return sessions.stream().map(SessionsView::json).toList();
    }

    private static Map<String, Object> json(OpenSessionInfo session) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("name", session.name());
        json.put("uid", session.uid());
        json.put("pid", session.pid());
        json.put("regions", session.regions());
        json.put("registered_octets", session.registeredBytes());
        json.put("connections", session.connections());
        json.put("shared_receive_queues", session.sharedReceiveQueues());
        json.put("listeners", session.listeners());
        return json;
    }
}
