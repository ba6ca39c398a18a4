// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import java.io.IOException;

/** Thrown when an association did not come up. */
public final class SctpConnectException extends IOException {

    private static final long serialVersionUID = 1L;

    private final Reason reason;

    /** Reason of the failure. */
    public enum Reason {
        /**
         * Nothing came back in time. The host may not exist, too many packets may be lost, or no SCTP listens at that
         * UDP port.
         */
        NO_ANSWER,
        /**
         * The peer answered with an ABORT, because nobody listens at that SCTP port or because it takes no more
         * associations. Or the peer's answer was of no use to SCTP.
         */
        REFUSED,
        /** This side ended the attempt. */
        ABORTED,
        /** This side has begun as many associations as it may, or uses as many ports as it may. */
        LIMIT
    }

    public SctpConnectException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    /** Returns an exception with {@link Reason#LIMIT}: this side has begun the given number of associations. */
    public static SctpConnectException tooMany(int allowed) {
        return new SctpConnectException(
                Reason.LIMIT, "there are " + allowed + " associations already, as many as are allowed");
    }

    public Reason reason() {
        return reason;
    }
}
