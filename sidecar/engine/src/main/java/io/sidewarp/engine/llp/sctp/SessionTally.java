// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

/** What one session counts as at its association, which bounds these numbers: each thing at most once at a time. */
final class SessionTally {

    private final DdpAssociation association;
    private boolean unopened;
    private boolean broken;
    private boolean over;

    SessionTally(DdpAssociation association) {
        this.association = association;
    }

    /** The peer began it, and it ended without having opened. */
    void unopened() {
        unopened = association.onUnopened();
    }

    /** The peer broke the rules in it. */
    void broken() {
        if (!broken) {
            broken = true;
            association.onBroken();
        }
    }

    /** Its stream is free, or another session's, or gone. */
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

    /** Nobody waits for the rest of it any more, which is told once. */
    void over() {
        if (!over) {
            over = true;
            association.onOver();
        }
    }
}
