// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

import io.sidewarp.engine.net.sctp.SctpSettings;
import io.sidewarp.engine.net.sctp.socket.SocketApi;
import io.sidewarp.engine.net.sctp.socket.SocketOptions;
import java.lang.foreign.MemorySegment;
import java.util.OptionalInt;

/** Sets the options of a kernel socket. Its associations and the sockets that are peeled off inherit them. */
final class KernelOptions extends SocketOptions {

    private final MemorySegment callState;
    private final int socket;

    KernelOptions(SocketArea area, int socket) {
        super(area.value());
        this.callState = area.callState();
        this.socket = socket;
    }

    void apply(OptionalInt adaptation, SctpSettings settings) {
        // A port can be listened at while associations that were accepted there still exist, but not by two listeners.
        setInt(SocketApi.SOL_SOCKET, KernelConstants.SO_REUSEADDR, 1);
        setBuffers(settings);
        setSctp(KernelConstants.SCTP_NODELAY, 1);
        setSctp(KernelConstants.SCTP_RECVRCVINFO, 1);
        allowFragments(false);
        adaptation.ifPresent(indication -> setSctp(KernelConstants.SCTP_ADAPTATION_LAYER, indication));
        setInitial(KernelConstants.SCTP_INITMSG, settings);
        setTimeouts(KernelConstants.SCTP_RTOINFO, settings);
        setRetransmissions(KernelConstants.SCTP_ASSOCINFO, KernelConstants.SASOC_ASOCMAXRXT, settings);
        setDelayedSack(KernelConstants.SCTP_DELAYED_SACK, settings);
        setPath(settings);
        exposeDoubtfulPaths();
        subscribe(KernelConstants.SCTP_EVENT, KernelConstants.SCTP_ASSOC_CHANGE);
        subscribe(KernelConstants.SCTP_EVENT, KernelConstants.SCTP_PEER_ADDR_CHANGE);
        subscribe(KernelConstants.SCTP_EVENT, KernelConstants.SCTP_ADAPTATION_INDICATION);
    }

    /** Sets whether messages may be sent in several chunks. */
    void allowFragments(boolean allowed) {
        setSctp(KernelConstants.SCTP_DISABLE_FRAGMENTS, allowed ? 0 : 1);
    }

    private void setPath(SctpSettings settings) {
        MemorySegment value = value();
        value.asSlice(0, KernelConstants.PADDRPARAMS_LENGTH).fill((byte) 0);
        int discovery = settings.maxPathMtu() == 0 ? KernelConstants.SPP_PMTUD_ENABLE : SocketApi.SPP_PMTUD_DISABLE;
        value.set(SocketApi.INT, KernelConstants.SPP_HBINTERVAL, millis(settings.heartbeatInterval()));
        value.set(SocketApi.SHORT, KernelConstants.SPP_PATHMAXRXT, (short) settings.pathRetransmissions());
        value.set(SocketApi.INT, KernelConstants.SPP_PATHMTU, settings.maxPathMtu());
        value.set(SocketApi.INT, KernelConstants.SPP_FLAGS, SocketApi.SPP_HB_ENABLE | discovery);
        set(SocketApi.IPPROTO_SCTP, KernelConstants.SCTP_PEER_ADDR_PARAMS, KernelConstants.PADDRPARAMS_LENGTH);
    }

    /**
     * Makes {@link KernelFacts} report paths that data left after a first time-out (RFC 7829). Not available before
     * kernel version 5.5.
     */
    private void exposeDoubtfulPaths() {
        int result =
                trySetAssociationValue(KernelConstants.SCTP_EXPOSE_PF_STATE, KernelConstants.SCTP_PF_EXPOSE_ENABLE);
        if (result != -KernelConstants.ENOPROTOOPT) {
            check("setsockopt of SCTP_EXPOSE_PF_STATE", result);
        }
    }

    @Override
    protected int trySet(int level, int option, int length) {
        return SystemCalls.SET_OPTION.call(callState, socket, level, option, value().address(), length);
    }

    @Override
    protected void check(String call, int result) {
        SctpErrors.check(call, result);
    }
}
