// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.v1.QueuePost;
import io.sidewarp.v1.QueueRequest;
import io.sidewarp.v1.WorkRequest;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** Posted work requests that wait to be sent, in messages well below the 256 KiB of a request. Not thread-safe. */
final class PostedWork {

    /** Maximum number of work requests in one message. */
    static final int MAX_WORK = 256;

    /** Size of a message in bytes from which on it takes no further work request. */
    static final int MAX_OCTETS = 128 << 10;

    private final ArrayDeque<WorkRequest> waiting = new ArrayDeque<>();

    void add(WorkRequest work) {
        waiting.add(work);
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** Returns whether there are as many requests as a message takes. */
    boolean fillsMessage() {
        return waiting.size() >= MAX_WORK;
    }

    /** Takes the next message, or null. */
    @Nullable
    QueueRequest next() {
        if (waiting.isEmpty()) {
            return null;
        }
        QueuePost.Builder post = QueuePost.newBuilder();
        int octets = 0;
        while (!waiting.isEmpty() && post.getWorkCount() < MAX_WORK && octets < MAX_OCTETS) {
            WorkRequest work = waiting.remove();
            octets += work.getSerializedSize();
            post.addWork(work);
        }
        return QueueRequest.newBuilder().setPost(post).build();
    }

    void clear() {
        waiting.clear();
    }
}
