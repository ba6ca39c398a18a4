// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

/** The place of one connection among those of its loop that wait for an output buffer. Belongs to the loop. */
final class OutputTurn {

    /** Where the connection stands. */
    private enum Place {
        /** It wants no buffer, or has one. */
        NONE,
        /** Others come before it. */
        WAITING,
        /** There is a buffer for it. */
        COME
    }

    private final Runnable onTurn;
    private Place place = Place.NONE;

    /** @param onTurn takes the buffer now or soon, or gives the turn up */
    OutputTurn(Runnable onTurn) {
        this.onTurn = onTurn;
    }

    boolean isWaiting() {
        return place == Place.WAITING;
    }

    boolean hasCome() {
        return place == Place.COME;
    }

    /** For {@link LoopResources}, as what follows. */
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
