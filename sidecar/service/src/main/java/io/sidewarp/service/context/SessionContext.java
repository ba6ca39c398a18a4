// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.context;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.memory.SharedBacking;
import io.sidewarp.engine.memory.SharedVolume;
import io.sidewarp.engine.net.tls.TlsIdentity;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.service.log.PeerLogs;
import io.sidewarp.service.peer.Peer;
import io.sidewarp.service.quota.EffectiveLimits;
import io.sidewarp.service.quota.PeerQuotas;
import io.sidewarp.service.quota.RequestLimits;
import io.sidewarp.service.quota.SessionQuotas;
import io.sidewarp.service.telemetry.Telemetry;
import io.sidewarp.service.telemetry.WorkMeter;
import io.sidewarp.service.transfer.RingServer;
import io.sidewarp.settings.SidewarpConfig;
import io.sidewarp.v1.OpenSessionResponse;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Objects that the parts of one session share.
 *
 * @param name name for people, given by the client
 * @param peer process that opened the session
 * @param loop owner of the session; only this thread reads and changes the session's state
 * @param workers executor for blocking work
 * @param lookups executor for look-ups, which block until the DNS answers
 * @param identity source of the sidecar's identity
 * @param requests limits of single requests
 * @param peers quotas of remote addresses, over all sessions
 * @param ids counter for object ids, unique within the sidecar
 * @param events takes the asynchronous events of the session, on the session's thread
 * @param meter meter of the session's thread
 */
public record SessionContext(
        String name,
        Peer peer,
        EventLoop loop,
        Executor workers,
        Executor lookups,
        Device device,
        TlsIdentity identity,
        Optional<SharedVolume> sharedVolume,
        Optional<RingServer> ringSockets,
        SidewarpConfig config,
        EffectiveLimits limits,
        RequestLimits requests,
        SessionQuotas quotas,
        PeerQuotas peers,
        AtomicLong ids,
        Consumer<OpenSessionResponse> events,
        Telemetry telemetry,
        WorkMeter meter,
        PeerLogs logs) {

    /**
     * Makes the peer the owner of a file that the sidecar created, so that the peer can open it. A sidecar that is not
     * root cannot do this. Its callers need its group, as in pods with an injected sidecar.
     */
    public void giveToPeer(SharedBacking file) {
        if (peer.uid() != Peer.UNKNOWN) {
            file.giveTo(peer.uid(), peer.gid());
        }
    }

    /**
     * Runs a task on the session's thread. Runs at once if this is that thread, so that tasks from there keep their
     * order.
     */
    public void run(Runnable task) {
        if (loop.inEventLoop()) {
            task.run();
        } else {
            loop.execute(task);
        }
    }
}
