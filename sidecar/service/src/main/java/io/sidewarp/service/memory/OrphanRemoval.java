// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.memory;

import io.netty.channel.EventLoopGroup;
import io.sidewarp.engine.memory.SharedVolume;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;

/** Removes the files of an earlier sidecar that nobody takes over in time. */
public final class OrphanRemoval {

    /** Time that applications have to take their files over, after the sidecar serves. Part of the contract. */
    private static final long SECONDS = 30;

    private static final Logger LOG = Logger.getLogger(OrphanRemoval.class);

    private OrphanRemoval() {}

    /**
     * Removes them later, and tries again as long as regions use some of them.
     *
     * @param workers for file calls, which block
     */
    public static void schedule(SharedVolume volume, EventLoopGroup loops, Executor workers) {
        loops.schedule(() -> workers.execute(() -> remove(volume, loops, workers)), SECONDS, TimeUnit.SECONDS);
    }

    private static void remove(SharedVolume volume, EventLoopGroup loops, Executor workers) {
        int left;
        try {
            left = volume.removeOrphans();
        } catch (RuntimeException e) {
            LOG.warnf(e, "event=removal-of-orphans-failed");
            left = 1;
        }
        if (left > 0 && !loops.isShuttingDown()) {
            schedule(volume, loops, workers);
        }
    }
}
