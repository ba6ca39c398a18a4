// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

/**
 * Makes faults of mapped memory surface where they happen. When a mapped file is truncated, touching it raises SIGBUS.
 * HotSpot skips the access and throws InternalError, but only once the thread passes a safepoint poll: compiled code may
 * have left the method that did the access, with its handlers, by then.
 */
public final class LateFaults {

    /**
     * Deep enough that no compiler inlines all of it (HotSpot's inline one recursive level), so that one real call is
     * left. A real call polls as it returns, and if an error is pending the virtual machine raises it in the caller.
     */
    private static final int DEPTH = 3;

    private LateFaults() {}

    /**
     * Raises the InternalError of an access to mapped memory that this thread made before, if there is one. Takes a few
     * nanoseconds.
     */
    public static void raisePending() {
        descend(DEPTH);
    }

    private static void descend(int levels) {
        if (levels > 0) {
            descend(levels - 1);
        }
    }
}
