// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.device;

import java.io.IOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Waits until files appear in or disappear from a directory. Without notifications of the file system it only waits for
 * the given time. Notifications are missing if the directory does not exist yet, or if no inotify instance is left.
 * Callers therefore check the files themselves after each wait.
 */
public final class DirectoryWatch implements AutoCloseable {

    private final Path directory;
    private @Nullable WatchService service;

    public DirectoryWatch(Path directory) {
        this.directory = directory;
        open();
    }

    /** Waits until something has changed since the last call, or until the time is over. */
    public void await(Duration longest) throws InterruptedException {
        if (service == null && !open()) {
            Thread.sleep(longest);
            return;
        }
        try {
            WatchKey key = service == null ? null : service.poll(longest.toNanos(), TimeUnit.NANOSECONDS);
            if (key != null) {
                key.pollEvents();
                if (!key.reset()) {
                    // The directory itself is gone.
                    close();
                }
            }
        } catch (ClosedWatchServiceException e) {
            close();
        }
    }

    private boolean open() {
        try {
            WatchService opened = directory.getFileSystem().newWatchService();
            try {
                directory.register(opened, StandardWatchEventKinds.ENTRY_CREATE, StandardWatchEventKinds.ENTRY_DELETE);
                service = opened;
                return true;
            } catch (IOException e) {
                opened.close();
                return false;
            }
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() {
        if (service != null) {
            try {
                service.close();
            } catch (IOException e) {
                // Nothing can be done about the failure, and nothing depends on it.
            }
            service = null;
        }
    }
}
