// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.socket;

import io.sidewarp.engine.net.sctp.SctpSettings;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;

/**
 * Sets the options of a socket that has no association yet (RFC 6458 section 8). The stacks give the options different
 * numbers.
 */
public abstract class SocketOptions {

    private static final int SO_SNDBUF = 7;
    private static final int SO_RCVBUF = 8;
    private static final int SO_LINGER = 13;

    /** Every second packet is acknowledged at once (RFC 4960 section 6.2). */
    private static final int SACK_FREQUENCY = 2;
    /** Most attempts to begin an association. The caller's time-out ends them earlier. */
    private static final int MAX_INIT_ATTEMPTS = 100;

    private final MemorySegment value;

    /** @param value room for the value of an option */
    protected SocketOptions(MemorySegment value) {
        this.value = value;
    }

    /** Sets an option to {@link #value}. Returns the negative error number when this fails. */
    protected abstract int trySet(int level, int option, int length);

    /** Throws unless the call with the given name succeeded. */
    protected abstract void check(String call, int result);

    protected final MemorySegment value() {
        return value;
    }

    /** Sets the buffers, and that a close aborts an association that is still up, without waiting. */
    protected final void setBuffers(SctpSettings settings) {
        setInt(SocketApi.SOL_SOCKET, SO_SNDBUF, settings.sendBuffer());
        setInt(SocketApi.SOL_SOCKET, SO_RCVBUF, settings.receiveBuffer());
        value.set(SocketApi.INT, 0, 1);
        value.set(SocketApi.INT, 4, 0);
        set(SocketApi.SOL_SOCKET, SO_LINGER, 8);
    }

    /** Sets a struct sctp_initmsg. */
    protected final void setInitial(int option, SctpSettings settings) {
        value.set(SocketApi.SHORT, 0, (short) settings.streams());
        value.set(SocketApi.SHORT, 2, (short) settings.streams());
        value.set(SocketApi.SHORT, 4, (short) MAX_INIT_ATTEMPTS);
        value.set(SocketApi.SHORT, 6, (short) Math.min(millis(settings.rtoMax()), 0xFFFF));
        set(SocketApi.IPPROTO_SCTP, option, 8);
    }

    /** Sets a struct sctp_rtoinfo. */
    protected final void setTimeouts(int option, SctpSettings settings) {
        value.set(SocketApi.INT, 0, 0);
        value.set(SocketApi.INT, 4, millis(settings.rtoInitial()));
        value.set(SocketApi.INT, 8, millis(settings.rtoMax()));
        value.set(SocketApi.INT, 12, millis(settings.rtoMin()));
        set(SocketApi.IPPROTO_SCTP, option, 16);
    }

    /** Sets a struct sctp_assocparams, whose field for retransmissions has the given offset. */
    protected final void setRetransmissions(int option, int offset, SctpSettings settings) {
        value.asSlice(0, 20).fill((byte) 0);
        value.set(SocketApi.SHORT, offset, (short) settings.associationRetransmissions());
        set(SocketApi.IPPROTO_SCTP, option, 20);
    }

    /** Sets a struct sctp_sack_info. */
    protected final void setDelayedSack(int option, SctpSettings settings) {
        value.set(SocketApi.INT, 0, 0);
        value.set(SocketApi.INT, 4, millis(settings.sackDelay()));
        value.set(SocketApi.INT, 8, SACK_FREQUENCY);
        set(SocketApi.IPPROTO_SCTP, option, 12);
    }

    /** Subscribes to a kind of event by a struct sctp_event. */
    protected final void subscribe(int option, int type) {
        value.set(SocketApi.INT, 0, 0);
        value.set(SocketApi.SHORT, 4, (short) type);
        value.set(ValueLayout.JAVA_BYTE, 6, (byte) 1);
        value.set(ValueLayout.JAVA_BYTE, 7, (byte) 0);
        set(SocketApi.IPPROTO_SCTP, option, 8);
    }

    /** Sets a struct sctp_assoc_value for all associations. Returns the negative error number when this fails. */
    protected final int trySetAssociationValue(int option, int newValue) {
        value.set(SocketApi.INT, 0, 0);
        value.set(SocketApi.INT, 4, newValue);
        return trySet(SocketApi.IPPROTO_SCTP, option, 8);
    }

    protected final void setSctp(int option, int newValue) {
        setInt(SocketApi.IPPROTO_SCTP, option, newValue);
    }

    protected final void setInt(int level, int option, int newValue) {
        value.set(SocketApi.INT, 0, newValue);
        set(level, option, Integer.BYTES);
    }

    protected final void set(int level, int option, int length) {
        check("setsockopt of option " + option, trySet(level, option, length));
    }

    protected static int millis(Duration duration) {
        return (int) Math.min(duration.toMillis(), Integer.MAX_VALUE);
    }
}
