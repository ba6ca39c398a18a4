// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

import io.sidewarp.engine.linux.SocketAddresses;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.net.sctp.AbortCause;
import io.sidewarp.engine.net.sctp.MessageSocket;
import io.sidewarp.engine.net.sctp.socket.SocketApi;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;

/** Reads the notifications of an SCTP socket (RFC 6458 section 6.1). */
final class Notifications {

    /** Result of {@link #newAssociation} for another notification. */
    static final int NO_ASSOCIATION = 0;

    private Notifications() {}

    private static boolean isAssociationChange(MemorySegment event, int length) {
        return unsigned(event, 0) == KernelConstants.SCTP_ASSOC_CHANGE && length >= SocketApi.ASSOC_CHANGE_LENGTH;
    }

    /** Returns the identifier of the association that is up now, or {@link #NO_ASSOCIATION}. */
    static int newAssociation(MemorySegment event, int length) {
        return isAssociationChange(event, length)
                        && unsigned(event, SocketApi.SAC_STATE) == KernelConstants.SCTP_COMM_UP
                ? event.get(SocketApi.INT, SocketApi.SAC_ASSOC_ID)
                : NO_ASSOCIATION;
    }

    /** Translates a notification. */
    static void read(WireBuffer buffer, int length, MessageSocket.Receiver receiver) {
        MemorySegment event = buffer.segment();
        int type = unsigned(event, 0);
        if (isAssociationChange(event, length)) {
            associationChange(buffer, event, length, receiver);
        } else if (type == KernelConstants.SCTP_ADAPTATION_INDICATION && length >= SocketApi.ADAPTATION_LENGTH) {
            receiver.onAdaptation(event.get(SocketApi.INT, SocketApi.SAI_INDICATION));
        } else if (type == KernelConstants.SCTP_PEER_ADDR_CHANGE && length >= KernelConstants.PADDR_CHANGE_LENGTH) {
            pathChange(event, receiver);
        }
    }

    private static void associationChange(
            WireBuffer buffer, MemorySegment event, int length, MessageSocket.Receiver receiver) {
        switch (unsigned(event, SocketApi.SAC_STATE)) {
            case KernelConstants.SCTP_COMM_UP ->
                receiver.onUp(unsigned(event, SocketApi.SAC_INBOUND), unsigned(event, SocketApi.SAC_OUTBOUND));
            case KernelConstants.SCTP_COMM_LOST ->
                receiver.onLost(
                        length > SocketApi.ASSOC_CHANGE_LENGTH
                                ? AbortCause.describe(buffer, SocketApi.ASSOC_CHANGE_LENGTH, length)
                                : null);
            case KernelConstants.SCTP_CANT_STR_ASSOC -> {
                // The caller's time-out ends before the kernel's attempts, so the peer is the cause.
                int error = Short.toUnsignedInt(Short.reverseBytes(event.get(SocketApi.SHORT, SocketApi.SAC_ERROR)));
                receiver.onLost("the peer refused the association" + (error == 0 ? "" : " with cause code " + error));
            }
            case KernelConstants.SCTP_RESTART -> receiver.onRestarted();
            case KernelConstants.SCTP_SHUTDOWN_COMP -> receiver.onShutDown();
            default -> {
                // There are no other states.
            }
        }
    }

    private static void pathChange(MemorySegment event, MessageSocket.Receiver receiver) {
        int state = event.get(SocketApi.INT, KernelConstants.SPC_STATE);
        // Otherwise the address was added, removed, confirmed, made the primary one, or is in doubt after a first
        // time-out (RFC 7829).
        if (state == KernelConstants.SCTP_ADDR_AVAILABLE || state == KernelConstants.SCTP_ADDR_UNREACHABLE) {
            InetAddress path =
                    SocketAddresses.read(event, KernelConstants.SPC_ADDRESS).getAddress();
            receiver.onPath(path, state == KernelConstants.SCTP_ADDR_AVAILABLE);
        }
    }

    private static int unsigned(MemorySegment event, int offset) {
        return Short.toUnsignedInt(event.get(SocketApi.SHORT, offset));
    }
}
