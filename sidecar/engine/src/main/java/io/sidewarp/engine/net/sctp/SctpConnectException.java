// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import java.io.IOException;

/** An association did not come up. */
public final class SctpConnectException extends IOException {

    private static final long serialVersionUID = 1L;

    private final Reason reason;

    /** Why. */
    public enum Reason {
        /** Nothing came back in time: no such host, a lost packet too many, or no SCTP at that UDP port. */
        NO_ANSWER,
        /**
         * The peer answered with an ABORT, as nobody listens at that SCTP port, or the peer takes no more; or with what SCTP
         * cannot use.
         */
        REFUSED,
        /** This side ended the attempt. */
        ABORTED,
        /** This side has begun as many associations, or has as many ports in use, as it may. */
        LIMIT
    }

    public SctpConnectException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    /** {@link Reason#LIMIT}: so many associations have begun here. */
    public static SctpConnectException tooMany(int allowed) {
        return new SctpConnectException(
                Reason.LIMIT, "there are " + allowed + " associations already, as many as are allowed");
    }

    public Reason reason() {
        return reason;
    }
}
