// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

/** Marks that one session adds to the limited counts of its association. Each mark counts at most once at a time. */
final class SessionTally {

    private final DdpAssociation association;
    private boolean unopened;
    private boolean broken;
    private boolean over;

    SessionTally(DdpAssociation association) {
        this.association = association;
    }

    /** Marks a session of the peer that ended without having opened. */
    void unopened() {
        unopened = association.onUnopened();
    }

    /** Marks a session in which the peer broke the rules. */
    void broken() {
        if (!broken) {
            broken = true;
            association.onBroken();
        }
    }

    /** Removes the marks, because the stream is free, has another session, or is gone. */
    void gone() {
        if (unopened) {
            unopened = false;
            association.onUnopenedGone();
        }
        if (broken) {
            broken = false;
            association.onBrokenGone();
        }
    }

    /** Marks a session that waits for no more messages. Counted only once. */
    void over() {
        if (!over) {
            over = true;
            association.onOver();
        }
    }
}
