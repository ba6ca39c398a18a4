// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.memory;

import io.netty.channel.EventLoopGroup;
import io.sidewarp.engine.memory.SharedVolume;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jboss.logging.Logger;

/** Removes files of an earlier sidecar that no application takes over in time. */
public final class OrphanRemoval {

    /**
     * Time in seconds that applications have to take over their files after the sidecar serves. Part of the contract.
     */
    private static final long SECONDS = 30;

    private static final Logger LOG = Logger.getLogger(OrphanRemoval.class);

    private OrphanRemoval() {}

    /**
     * Schedules the removal, and repeats it while regions use some of the files.
     *
     * @param workers executor for file operations, which block
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
