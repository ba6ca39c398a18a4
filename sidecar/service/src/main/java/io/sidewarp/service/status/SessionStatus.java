// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.status;

import io.sidewarp.service.quota.Quota;
import io.sidewarp.service.session.SidecarSession;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.SessionInfo;
import io.sidewarp.v1.SharedReceiveQueue;
import java.util.ArrayList;
import java.util.List;

/** The state of one session at one time. */
record SessionStatus(SessionInfo info, List<Connection> connections, List<Region> regions, List<Hold> holds) {

    /** Part of a quota above which it is shown, in percent. */
    private static final int NEARLY_USED_UP = 90;

    /**
     * A wait or a limit.
     *
     * @param what the thing that waits or is limited
     * @param remedy what to do, for people
     */
    record Hold(String what, String cause, String remedy) {}

    /** Describes a session. Runs on its thread. */
    static SessionStatus of(SidecarSession session) {
        List<Connection> connections = session.connections().list();
        List<Hold> holds = new ArrayList<>();
        for (Connection connection : connections) {
            if (!connection.getWaiting().isEmpty()) {
                String[] causeAndRemedy = (connection.getWaiting() + "; ").split("; ", 3);
                holds.add(new Hold("connection " + connection.getId(), causeAndRemedy[0], causeAndRemedy[1]));
            }
        }
        for (long connection : session.connections().fullSendQueues()) {
            holds.add(new Hold(
                    "connection " + connection,
                    "the send queue is full, and more work waits",
                    "Nothing, unless the peer is slow. A larger send_queue of the connection takes more work."));
        }
        long calls = session.transfers().callsWithoutCredit();
        if (calls > 0) {
            holds.add(new Hold(
                    calls + " Queue calls",
                    "the next work waits for a credit",
                    "Read the completions of these calls, or open calls with more credits (outstanding)."));
        }
        long rings = session.rings().ringsWithoutRoom();
        if (rings > 0) {
            holds.add(new Hold(
                    rings + " work rings",
                    "the next entry waits for room in its completion ring",
                    "Read the completions, or create completion rings with more entries."));
        }
        for (SharedReceiveQueue queue : session.sharedReceives().list()) {
            if (queue.getReceives() == 0 && queue.getConnections() > 0) {
                holds.add(new Hold(
                        "shared receive queue " + queue.getId(),
                        "it has no receive, and a Send that finds none ends its connection",
                        "Post receives."));
            }
        }
        session.context().quotas().all().filter(SessionStatus::isNearlyUsedUp).forEach(quota -> holds.add(hold(quota)));
        return new SessionStatus(session.info(), connections, session.memory().list(), holds);
    }

    private static boolean isNearlyUsedUp(Quota quota) {
        return quota.used() > 0 && quota.used() >= quota.ceiling() / 100.0 * NEARLY_USED_UP;
    }

    private static Hold hold(Quota quota) {
        String share = quota.ceiling() < quota.limit() ? ", the fair share of a limit of " + quota.limit() : "";
        return new Hold(
                quota.what(),
                quota.used() + " of " + quota.ceiling() + " are used" + share,
                "Release some, or raise the setting " + quota.setting() + ".");
    }
}
