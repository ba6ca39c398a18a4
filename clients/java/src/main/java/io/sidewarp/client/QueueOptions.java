// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/**
 * Options of a queue. Immutable; the {@code with} methods return changed copies.
 *
 * @param outstanding requests that may be outstanding; 0 for the sidecar's default. The sidecar may grant another
 *     number. Over rings, receives hold at most all but one, so that send work always has room.
 * @param path path of requests to the sidecar
 * @param waitStrategy strategy of waiting threads, if the path is {@link QueuePath#RINGS}
 */
public record QueueOptions(int outstanding, QueuePath path, WaitStrategy waitStrategy) {

    private static final QueueOptions DEFAULTS = new QueueOptions(0, QueuePath.ANY, WaitStrategy.ADAPTIVE);

    /** @throws IllegalArgumentException when {@code outstanding} is negative */
    public QueueOptions {
        if (outstanding < 0) {
            throw new IllegalArgumentException("outstanding is " + outstanding
                    + "; allowed: 1 and more, or 0 for as many as the sidecar grants by default");
        }
    }

    /**
     * Returns the default options: the sidecar's default number of requests, any path, and
     * {@link WaitStrategy#ADAPTIVE}.
     */
    public static QueueOptions defaults() {
        return DEFAULTS;
    }

    public QueueOptions withOutstanding(int value) {
        return new QueueOptions(value, path, waitStrategy);
    }

    public QueueOptions withPath(QueuePath value) {
        return new QueueOptions(outstanding, value, waitStrategy);
    }

    public QueueOptions withWaitStrategy(WaitStrategy value) {
        return new QueueOptions(outstanding, path, value);
    }
}
