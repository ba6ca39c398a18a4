// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

import io.sidewarp.engine.net.sctp.SctpSettings;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.OptionalInt;

/**
 * Sets the options of a socket that has no association yet. Its associations and the sockets that are peeled off
 * inherit them.
 */
final class KernelOptions {

    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT;
    /** Unaligned, because structures with an address have numbers at even offsets only. */
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

    /** Every second packet is acknowledged at once (RFC 4960 section 6.2). */
    private static final int SACK_FREQUENCY = 2;
    /** Most attempts to begin an association. The caller's time-out ends them earlier. */
    private static final int MAX_INIT_ATTEMPTS = 100;

    private final SocketArea area;
    private final int socket;
    private final MemorySegment value;

    KernelOptions(SocketArea area, int socket) {
        this.area = area;
        this.socket = socket;
        this.value = area.value();
    }

    void apply(OptionalInt adaptation, SctpSettings settings) {
        // A port can be listened at while associations that were accepted there still exist, but not by two listeners.
        setInt(KernelConstants.SOL_SOCKET, KernelConstants.SO_REUSEADDR, 1);
        setInt(KernelConstants.SOL_SOCKET, KernelConstants.SO_SNDBUF, settings.sendBuffer());
        setInt(KernelConstants.SOL_SOCKET, KernelConstants.SO_RCVBUF, settings.receiveBuffer());
        linger();
        setSctp(KernelConstants.SCTP_NODELAY, 1);
        setSctp(KernelConstants.SCTP_RECVRCVINFO, 1);
        setSctp(KernelConstants.SCTP_DISABLE_FRAGMENTS, 1);
        if (adaptation.isPresent()) {
            setSctp(KernelConstants.SCTP_ADAPTATION_LAYER, adaptation.getAsInt());
        }
        initial(settings);
        retransmission(settings);
        path(settings);
        exposeDoubtfulPaths();
        event(KernelConstants.SCTP_ASSOC_CHANGE);
        event(KernelConstants.SCTP_PEER_ADDR_CHANGE);
        event(KernelConstants.SCTP_ADAPTATION_INDICATION);
    }

    /** Sets whether messages may be sent in several chunks. */
    void allowFragments(boolean allowed) {
        setSctp(KernelConstants.SCTP_DISABLE_FRAGMENTS, allowed ? 0 : 1);
    }

    /** Disables waiting on close. An association that is still up at the close is aborted. */
    private void linger() {
        value.set(INT, 0, 1);
        value.set(INT, 4, 0);
        set(KernelConstants.SOL_SOCKET, KernelConstants.SO_LINGER, 8);
    }

    private void initial(SctpSettings settings) {
        value.set(SHORT, 0, (short) settings.streams());
        value.set(SHORT, 2, (short) settings.streams());
        value.set(SHORT, 4, (short) MAX_INIT_ATTEMPTS);
        value.set(SHORT, 6, (short) Math.min(millis(settings.rtoMax()), 0xFFFF));
        set(KernelConstants.IPPROTO_SCTP, KernelConstants.SCTP_INITMSG, 8);
    }

    private void retransmission(SctpSettings settings) {
        value.set(INT, 0, 0);
        value.set(INT, 4, millis(settings.rtoInitial()));
        value.set(INT, 8, millis(settings.rtoMax()));
        value.set(INT, 12, millis(settings.rtoMin()));
        set(KernelConstants.IPPROTO_SCTP, KernelConstants.SCTP_RTOINFO, 16);
        value.asSlice(0, 20).fill((byte) 0);
        value.set(SHORT, 4, (short) settings.associationRetransmissions());
        set(KernelConstants.IPPROTO_SCTP, KernelConstants.SCTP_ASSOCINFO, 20);
        value.set(INT, 0, 0);
        value.set(INT, 4, millis(settings.sackDelay()));
        value.set(INT, 8, SACK_FREQUENCY);
        set(KernelConstants.IPPROTO_SCTP, KernelConstants.SCTP_DELAYED_SACK, 12);
    }

    private void path(SctpSettings settings) {
        value.asSlice(0, KernelConstants.PADDRPARAMS_LENGTH).fill((byte) 0);
        boolean narrowed = settings.maxPathMtu() != 0;
        value.set(INT, KernelConstants.SPP_HBINTERVAL, millis(settings.heartbeatInterval()));
        value.set(SHORT, KernelConstants.SPP_PATHMAXRXT, (short) settings.pathRetransmissions());
        value.set(INT, KernelConstants.SPP_PATHMTU, settings.maxPathMtu());
        value.set(
                INT,
                KernelConstants.SPP_FLAGS,
                KernelConstants.SPP_HB_ENABLE
                        | (narrowed ? KernelConstants.SPP_PMTUD_DISABLE : KernelConstants.SPP_PMTUD_ENABLE));
        set(KernelConstants.IPPROTO_SCTP, KernelConstants.SCTP_PEER_ADDR_PARAMS, KernelConstants.PADDRPARAMS_LENGTH);
    }

    /**
     * Makes {@link KernelFacts} report paths that data left after a first time-out (RFC 7829). Not available before
     * kernel version 5.5.
     */
    private void exposeDoubtfulPaths() {
        value.set(INT, 0, 0);
        value.set(INT, 4, KernelConstants.SCTP_PF_EXPOSE_ENABLE);
        int result = trySet(KernelConstants.IPPROTO_SCTP, KernelConstants.SCTP_EXPOSE_PF_STATE, 8);
        if (result != -KernelConstants.ENOPROTOOPT) {
            KernelErrors.check("setsockopt of SCTP_EXPOSE_PF_STATE", result);
        }
    }

    private void event(int type) {
        value.set(INT, 0, 0);
        value.set(SHORT, 4, (short) type);
        value.set(BYTE, 6, (byte) 1);
        value.set(BYTE, 7, (byte) 0);
        set(KernelConstants.IPPROTO_SCTP, KernelConstants.SCTP_EVENT, 8);
    }

    private void setSctp(int option, int newValue) {
        setInt(KernelConstants.IPPROTO_SCTP, option, newValue);
    }

    private void setInt(int level, int option, int newValue) {
        value.set(INT, 0, newValue);
        set(level, option, Integer.BYTES);
    }

    private void set(int level, int option, int length) {
        KernelErrors.check("setsockopt of option " + option, trySet(level, option, length));
    }

    private int trySet(int level, int option, int length) {
        return SystemCalls.setOption(area.callState(), socket, level, option, value.address(), length);
    }

    private static int millis(Duration duration) {
        return (int) Math.min(duration.toMillis(), Integer.MAX_VALUE);
    }
}
