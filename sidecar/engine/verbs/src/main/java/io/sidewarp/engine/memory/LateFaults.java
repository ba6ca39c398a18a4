// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

/**
 * Raises faults of mapped memory at the access that caused them. Access to a truncated part of a mapped file raises
 * SIGBUS. HotSpot then skips the access and throws InternalError, but only when the thread passes a safepoint poll. By
 * then, compiled code may have left the method of the access and its handlers.
 */
public final class LateFaults {

    /**
     * Recursion depth that no compiler inlines completely (HotSpot inlines one recursive level), so that one real call
     * remains. A real call polls when it returns. If an error is pending, the virtual machine raises the error in the
     * caller.
     */
    private static final int DEPTH = 3;

    private LateFaults() {}

    /**
     * Raises the InternalError of an earlier access of this thread to mapped memory, if one is pending. Takes a few
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
