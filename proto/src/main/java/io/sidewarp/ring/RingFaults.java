// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.ring;

/**
 * Raises faults of ring files at the access that caused them. Access to the truncated part of a mapped file raises
 * SIGBUS. HotSpot then skips the access and throws InternalError, but only when the thread passes a safepoint poll. By
 * then, compiled code may have left the method of the access and its handlers.
 */
public final class RingFaults {

    /** Recursion depth that no compiler inlines completely, so that one real call remains, which polls at its return. */
    private static final int DEPTH = 3;

    private RingFaults() {}

    /**
     * Raises the InternalError of an earlier access of this thread to a mapped file, if one is pending. Takes a few
     * nanoseconds. Call it at the end of each try block that handles such errors.
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
