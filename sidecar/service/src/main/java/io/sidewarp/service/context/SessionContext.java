// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.context;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.memory.SharedVolume;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.service.config.SidewarpConfig;
import io.sidewarp.service.log.PeerLogs;
import io.sidewarp.service.peer.Peer;
import io.sidewarp.service.quota.EffectiveLimits;
import io.sidewarp.service.quota.PeerQuotas;
import io.sidewarp.service.quota.RequestLimits;
import io.sidewarp.service.quota.SessionQuotas;
import io.sidewarp.service.telemetry.Telemetry;
import io.sidewarp.service.telemetry.WorkMeter;
import io.sidewarp.service.transfer.RingSockets;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the parts of one session share.
 *
 * @param name given by the client, for people
 * @param peer who opened it
 * @param loop owns the session: all its state is read and changed on this thread only
 * @param workers for what blocks
 * @param lookups for what blocks as long as the DNS does
 * @param requests what single requests may ask for
 * @param peers quotas of remote addresses, over all sessions
 * @param ids of objects, unique within the sidecar
 * @param meter the session's thread's own
 */
public record SessionContext(
        String name,
        Peer peer,
        EventLoop loop,
        Executor workers,
        Executor lookups,
        Device device,
        Optional<SharedVolume> sharedVolume,
        Optional<RingSockets> ringSockets,
        SidewarpConfig.Connection defaults,
        EffectiveLimits limits,
        RequestLimits requests,
        SessionQuotas quotas,
        PeerQuotas peers,
        AtomicLong ids,
        SessionEvents events,
        Telemetry telemetry,
        WorkMeter meter,
        PeerLogs logs) {

    /** Runs a task on the session's thread: at once when this is it, so that work from it keeps its order. */
    public void run(Runnable task) {
        if (loop.inEventLoop()) {
            task.run();
        } else {
            loop.execute(task);
        }
    }
}
