// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** Frames of posted work requests that wait to be sent, and a few used ones to be filled again. Not thread-safe. */
final class FrameQueue {

    private static final int SPARE_FRAMES = 4;

    private final ArrayDeque<PostFrame> frames = new ArrayDeque<>();
    private final ArrayDeque<PostFrame> spare = new ArrayDeque<>();

    void add(int place, byte[] fields) {
        PostFrame frame = frames.peekLast();
        if (frame == null || frame.isFull()) {
            PostFrame used = spare.poll();
            frame = used == null ? new PostFrame() : used;
            frames.add(frame);
        }
        frame.add(place, fields);
    }

    boolean isEmpty() {
        return frames.isEmpty();
    }

    /** True when at least one frame takes no more. */
    boolean hasFullFrame() {
        PostFrame first = frames.peekFirst();
        return first != null && first.isFull();
    }

    /** The next frame, ready to be sent. */
    @Nullable
    PostFrame next() {
        PostFrame frame = frames.poll();
        if (frame != null) {
            frame.seal();
        }
        return frame;
    }

    /** Takes back a frame that was sent. It is of use only when gRPC has taken its octets already. */
    void recycle(PostFrame frame) {
        if (frame.isTaken() && spare.size() < SPARE_FRAMES) {
            frame.clear();
            spare.add(frame);
        }
    }

    void clear() {
        frames.clear();
    }
}
