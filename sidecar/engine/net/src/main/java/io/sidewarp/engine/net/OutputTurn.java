// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

/** Place of one connection in the queue of its loop for an output buffer. Belongs to the loop. */
final class OutputTurn {

    /** State of the connection in the queue. */
    private enum Place {
        /** The connection wants no buffer, or has one. */
        NONE,
        /** Other connections come first. */
        WAITING,
        /** A buffer is reserved for the connection. */
        COME
    }

    private final Runnable onTurn;
    private Place place = Place.NONE;

    /** @param onTurn takes the buffer now or soon, or gives up the turn */
    OutputTurn(Runnable onTurn) {
        this.onTurn = onTurn;
    }

    boolean isWaiting() {
        return place == Place.WAITING;
    }

    boolean hasCome() {
        return place == Place.COME;
    }

    /** For {@link LoopResources}, like the following methods. */
    void await() {
        place = Place.WAITING;
    }

    void come() {
        place = Place.COME;
        onTurn.run();
    }

    void end() {
        place = Place.NONE;
    }
}
