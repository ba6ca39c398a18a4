// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

import io.sidewarp.engine.linux.SocketAddresses;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.net.sctp.AbortCause;
import io.sidewarp.engine.net.sctp.SctpReceived;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;

/** Reads the notifications of an SCTP socket (RFC 6458 section 6.1). */
final class Notifications {

    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

    /** Result of {@link #read} for a notification without a new association. */
    static final int NO_ASSOCIATION = 0;

    private Notifications() {}

    /**
     * Translates a notification.
     *
     * @return the identifier of the association that is up, or {@link #NO_ASSOCIATION}
     */
    static int read(WireBuffer buffer, int length, SctpReceived received) {
        MemorySegment event = buffer.segment();
        received.event(SctpReceived.Kind.OTHER);
        switch (unsigned(event, 0)) {
            case KernelConstants.SCTP_ASSOC_CHANGE -> {
                if (length >= KernelConstants.ASSOC_CHANGE_LENGTH) {
                    return associationChange(buffer, event, length, received);
                }
            }
            case KernelConstants.SCTP_ADAPTATION_INDICATION -> {
                if (length >= KernelConstants.ADAPTATION_LENGTH) {
                    received.adaptation(event.get(INT, KernelConstants.SAI_INDICATION));
                }
            }
            case KernelConstants.SCTP_PEER_ADDR_CHANGE -> {
                if (length >= KernelConstants.PADDR_CHANGE_LENGTH) {
                    pathChange(event, received);
                }
            }
            default -> {
                // No other notifications are subscribed.
            }
        }
        return NO_ASSOCIATION;
    }

    private static int associationChange(WireBuffer buffer, MemorySegment event, int length, SctpReceived received) {
        switch (unsigned(event, KernelConstants.SAC_STATE)) {
            case KernelConstants.SCTP_COMM_UP -> {
                received.up(
                        unsigned(event, KernelConstants.SAC_INBOUND), unsigned(event, KernelConstants.SAC_OUTBOUND));
                return event.get(INT, KernelConstants.SAC_ASSOC_ID);
            }
            case KernelConstants.SCTP_COMM_LOST -> {
                if (length > KernelConstants.ASSOC_CHANGE_LENGTH) {
                    received.lost(AbortCause.describe(buffer, KernelConstants.ASSOC_CHANGE_LENGTH, length));
                } else {
                    received.event(SctpReceived.Kind.LOST);
                }
            }
            case KernelConstants.SCTP_CANT_STR_ASSOC -> {
                // The caller's time-out ends before the kernel's attempts, so the peer is the cause.
                int error = Short.toUnsignedInt(Short.reverseBytes(event.get(SHORT, KernelConstants.SAC_ERROR)));
                received.lost("the peer refused the association" + (error == 0 ? "" : " with cause code " + error));
            }
            case KernelConstants.SCTP_RESTART -> received.event(SctpReceived.Kind.RESTARTED);
            case KernelConstants.SCTP_SHUTDOWN_COMP -> received.event(SctpReceived.Kind.SHUT_DOWN);
            default -> {
                // There are no other states.
            }
        }
        return NO_ASSOCIATION;
    }

    private static void pathChange(MemorySegment event, SctpReceived received) {
        switch (event.get(INT, KernelConstants.SPC_STATE)) {
            case KernelConstants.SCTP_ADDR_AVAILABLE -> received.path(path(event), true);
            case KernelConstants.SCTP_ADDR_UNREACHABLE -> received.path(path(event), false);
            default -> {
                // The address was added, removed, confirmed, made the primary one, or is in doubt after a first
                // time-out (RFC 7829).
            }
        }
    }

    private static InetAddress path(MemorySegment event) {
        return SocketAddresses.read(event, KernelConstants.SPC_ADDRESS).getAddress();
    }

    private static int unsigned(MemorySegment event, int offset) {
        return Short.toUnsignedInt(event.get(SHORT, offset));
    }
}
