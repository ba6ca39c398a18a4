// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.usrsctp;

import io.sidewarp.engine.net.sctp.SctpSettings;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.OptionalInt;

/** Sets the options of a socket that has no association yet. */
final class UsrsctpOptions {

    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    /** Every second packet is acknowledged at once (RFC 4960 section 6.2). */
    private static final int SACK_FREQUENCY = 2;
    /** Value that leaves the number of packets in a row to the congestion window alone. */
    private static final int UNLIMITED_BURST = 0;
    /** Most attempts to begin an association. The caller's time-out ends them earlier. */
    private static final int MAX_INIT_ATTEMPTS = 100;

    private final MemorySegment callState;
    private final long socket;
    private final MemorySegment value;

    UsrsctpOptions(MemorySegment callState, long socket, MemorySegment scratch) {
        this.callState = callState;
        this.socket = socket;
        this.value = scratch;
    }

    void apply(int packetSize, OptionalInt adaptation, SctpSettings settings) {
        setInt(UsrsctpConstants.SOL_SOCKET, UsrsctpConstants.SO_SNDBUF, settings.sendBuffer());
        setInt(UsrsctpConstants.SOL_SOCKET, UsrsctpConstants.SO_RCVBUF, settings.receiveBuffer());
        linger();
        setSctp(UsrsctpConstants.SCTP_NODELAY, 1);
        setSctp(UsrsctpConstants.SCTP_RECVRCVINFO, 1);
        // A message is passed on when it is complete, or when it exceeds the largest allowed message.
        setSctp(UsrsctpConstants.SCTP_FRAGMENT_INTERLEAVE, 0);
        setSctp(UsrsctpConstants.SCTP_PARTIAL_DELIVERY_POINT, settings.largestMessage() + 1);
        if (adaptation.isPresent()) {
            setSctp(UsrsctpConstants.SCTP_ADAPTATION_LAYER, adaptation.getAsInt());
        }
        initial(settings);
        retransmission(settings);
        path(packetSize, settings);
        associationValue(UsrsctpConstants.SCTP_PLUGGABLE_SS, UsrsctpConstants.SCTP_SS_FIRST_COME);
        associationValue(UsrsctpConstants.SCTP_MAX_BURST, UNLIMITED_BURST);
        event(UsrsctpConstants.SCTP_ASSOC_CHANGE);
        event(UsrsctpConstants.SCTP_ADAPTATION_INDICATION);
    }

    /** Disables waiting on close. An association that is still up at the close is aborted. */
    private void linger() {
        value.set(INT, 0, 1);
        value.set(INT, 4, 0);
        set(UsrsctpConstants.SOL_SOCKET, UsrsctpConstants.SO_LINGER, 8);
    }

    private void initial(SctpSettings settings) {
        value.set(SHORT, 0, (short) settings.streams());
        value.set(SHORT, 2, (short) settings.streams());
        value.set(SHORT, 4, (short) MAX_INIT_ATTEMPTS);
        value.set(SHORT, 6, (short) Math.min(millis(settings.rtoMax()), 0xFFFF));
        set(UsrsctpConstants.IPPROTO_SCTP, UsrsctpConstants.SCTP_INITMSG, 8);
    }

    private void retransmission(SctpSettings settings) {
        value.set(INT, 0, 0);
        value.set(INT, 4, millis(settings.rtoInitial()));
        value.set(INT, 8, millis(settings.rtoMax()));
        value.set(INT, 12, millis(settings.rtoMin()));
        set(UsrsctpConstants.IPPROTO_SCTP, UsrsctpConstants.SCTP_RTOINFO, 16);
        value.asSlice(0, 20).fill((byte) 0);
        value.set(SHORT, 16, (short) settings.associationRetransmissions());
        set(UsrsctpConstants.IPPROTO_SCTP, UsrsctpConstants.SCTP_ASSOCINFO, 20);
        value.set(INT, 0, 0);
        value.set(INT, 4, millis(settings.sackDelay()));
        value.set(INT, 8, SACK_FREQUENCY);
        set(UsrsctpConstants.IPPROTO_SCTP, UsrsctpConstants.SCTP_DELAYED_SACK, 12);
    }

    private void path(int packetSize, SctpSettings settings) {
        value.asSlice(0, UsrsctpConstants.PADDRPARAMS_LENGTH).fill((byte) 0);
        value.set(INT, UsrsctpConstants.SPP_HBINTERVAL, millis(settings.heartbeatInterval()));
        value.set(INT, UsrsctpConstants.SPP_PATHMTU, packetSize);
        value.set(INT, UsrsctpConstants.SPP_FLAGS, UsrsctpConstants.SPP_HB_ENABLE | UsrsctpConstants.SPP_PMTUD_DISABLE);
        value.set(SHORT, UsrsctpConstants.SPP_PATHMAXRXT, (short) settings.pathRetransmissions());
        set(UsrsctpConstants.IPPROTO_SCTP, UsrsctpConstants.SCTP_PEER_ADDR_PARAMS, UsrsctpConstants.PADDRPARAMS_LENGTH);
    }

    private void associationValue(int option, int newValue) {
        value.set(INT, 0, 0);
        value.set(INT, 4, newValue);
        set(UsrsctpConstants.IPPROTO_SCTP, option, 8);
    }

    private void event(int type) {
        value.set(INT, 0, 0);
        value.set(SHORT, 4, (short) type);
        value.set(SHORT, 6, (short) 0);
        value.set(ValueLayout.JAVA_BYTE, 6, (byte) 1);
        set(UsrsctpConstants.IPPROTO_SCTP, UsrsctpConstants.SCTP_EVENT, 8);
    }

    private void setSctp(int option, int newValue) {
        setInt(UsrsctpConstants.IPPROTO_SCTP, option, newValue);
    }

    private void setInt(int level, int option, int newValue) {
        value.set(INT, 0, newValue);
        set(level, option, Integer.BYTES);
    }

    private void set(int level, int option, int length) {
        int result = UsrsctpCalls.setOption(callState, socket, level, option, value.address(), length);
        if (result < 0) {
            throw new IllegalStateException(
                    "usrsctp_setsockopt of option " + option + " failed with error number " + -result);
        }
    }

    private static int millis(Duration duration) {
        return (int) Math.min(duration.toMillis(), Integer.MAX_VALUE);
    }
}
