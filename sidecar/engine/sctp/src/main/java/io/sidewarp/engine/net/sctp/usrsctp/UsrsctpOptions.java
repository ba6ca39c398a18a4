// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.usrsctp;

import io.sidewarp.engine.net.sctp.SctpSettings;
import io.sidewarp.engine.net.sctp.socket.SocketApi;
import io.sidewarp.engine.net.sctp.socket.SocketOptions;
import java.lang.foreign.MemorySegment;
import java.util.OptionalInt;

/** Sets the options of a usrsctp socket. */
final class UsrsctpOptions extends SocketOptions {

    /** Value that disables the burst limit. Only the congestion window then limits the packets of a burst. */
    private static final int UNLIMITED_BURST = 0;

    private final MemorySegment callState;
    private final long socket;

    UsrsctpOptions(MemorySegment callState, long socket, MemorySegment scratch) {
        super(scratch);
        this.callState = callState;
        this.socket = socket;
    }

    void apply(int packetSize, OptionalInt adaptation, SctpSettings settings) {
        setBuffers(settings);
        setSctp(UsrsctpConstants.SCTP_NODELAY, 1);
        setSctp(UsrsctpConstants.SCTP_RECVRCVINFO, 1);
        // usrsctp delivers a message when the message is complete or exceeds the largest allowed length.
        setSctp(UsrsctpConstants.SCTP_FRAGMENT_INTERLEAVE, 0);
        setSctp(UsrsctpConstants.SCTP_PARTIAL_DELIVERY_POINT, settings.largestMessage() + 1);
        adaptation.ifPresent(indication -> setSctp(UsrsctpConstants.SCTP_ADAPTATION_LAYER, indication));
        setInitial(UsrsctpConstants.SCTP_INITMSG, settings);
        setTimeouts(UsrsctpConstants.SCTP_RTOINFO, settings);
        setRetransmissions(UsrsctpConstants.SCTP_ASSOCINFO, UsrsctpConstants.SASOC_ASOCMAXRXT, settings);
        setDelayedSack(UsrsctpConstants.SCTP_DELAYED_SACK, settings);
        setPath(packetSize, settings);
        setAssociationValue(UsrsctpConstants.SCTP_PLUGGABLE_SS, UsrsctpConstants.SCTP_SS_FIRST_COME);
        setAssociationValue(UsrsctpConstants.SCTP_MAX_BURST, UNLIMITED_BURST);
        subscribe(UsrsctpConstants.SCTP_EVENT, UsrsctpConstants.SCTP_ASSOC_CHANGE);
        subscribe(UsrsctpConstants.SCTP_EVENT, UsrsctpConstants.SCTP_ADAPTATION_INDICATION);
    }

    private void setPath(int packetSize, SctpSettings settings) {
        MemorySegment value = value();
        value.asSlice(0, UsrsctpConstants.PADDRPARAMS_LENGTH).fill((byte) 0);
        value.set(SocketApi.INT, UsrsctpConstants.SPP_HBINTERVAL, millis(settings.heartbeatInterval()));
        value.set(SocketApi.INT, UsrsctpConstants.SPP_PATHMTU, packetSize);
        value.set(SocketApi.INT, UsrsctpConstants.SPP_FLAGS, SocketApi.SPP_HB_ENABLE | SocketApi.SPP_PMTUD_DISABLE);
        value.set(SocketApi.SHORT, UsrsctpConstants.SPP_PATHMAXRXT, (short) settings.pathRetransmissions());
        set(SocketApi.IPPROTO_SCTP, UsrsctpConstants.SCTP_PEER_ADDR_PARAMS, UsrsctpConstants.PADDRPARAMS_LENGTH);
    }

    private void setAssociationValue(int option, int newValue) {
        check("setsockopt of option " + option, trySetAssociationValue(option, newValue));
    }

    @Override
    protected int trySet(int level, int option, int length) {
        return UsrsctpCalls.SET_OPTION.call(callState, socket, level, option, value().address(), length);
    }

    @Override
    protected void check(String call, int result) {
        UsrsctpSocket.check(call, result);
    }
}
