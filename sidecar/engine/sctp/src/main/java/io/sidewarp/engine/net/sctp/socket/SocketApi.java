// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.socket;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Constants and structures that linux/sctp.h and usrsctp.h on Linux have in common. Offsets and lengths are in bytes. */
public final class SocketApi {

    public static final int EADDRINUSE = 98;
    public static final int EINPROGRESS = 115;

    public static final int SOCK_SEQPACKET = 5;
    public static final int IPPROTO_SCTP = 132;
    public static final int SOL_SOCKET = 1;
    public static final int MSG_EOR = 0x80;

    public static final int SPP_HB_ENABLE = 0x1;
    public static final int SPP_PMTUD_DISABLE = 0x10;

    /** struct sctp_sndinfo: sid, flags, ppid, context, association. */
    public static final int SNDINFO_LENGTH = 16;

    public static final int SNDINFO_FLAGS = 2;
    public static final int SNDINFO_PPID = 4;
    public static final int SNDINFO_CONTEXT = 8;
    public static final int SNDINFO_ASSOC_ID = 12;

    /** struct sctp_rcvinfo: sid, ssn, flags, ppid and more. */
    public static final int RCVINFO_LENGTH = 28;

    public static final int RCVINFO_PPID = 8;

    /** struct sctp_assoc_change, its fixed part; the error causes of an ABORT may follow. */
    public static final int ASSOC_CHANGE_LENGTH = 20;

    public static final int SAC_STATE = 8;
    public static final int SAC_ERROR = 10;
    public static final int SAC_OUTBOUND = 12;
    public static final int SAC_INBOUND = 14;
    public static final int SAC_ASSOC_ID = 16;

    /** struct sctp_adaptation_event. */
    public static final int ADAPTATION_LENGTH = 16;

    public static final int SAI_INDICATION = 8;

    /** struct sctp_paddrinfo, which has a struct sockaddr_storage. */
    public static final int SPINFO_STATE = 132;

    public static final int SPINFO_CWND = 136;
    public static final int SPINFO_SRTT = 140;
    public static final int SPINFO_RTO = 144;
    public static final int SPINFO_MTU = 148;

    /** struct sctp_status with the struct sctp_paddrinfo of the primary path at its end. */
    public static final int STATUS_LENGTH = 176;

    public static final int STATUS_PEER_RWND = 8;
    public static final int STATUS_INBOUND = 16;
    public static final int STATUS_OUTBOUND = 18;
    public static final int STATUS_PRIMARY = 24;

    /** Unaligned, because structures with an address have numbers at even offsets only. */
    public static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;

    public static final ValueLayout.OfInt BIG_ENDIAN_INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
    public static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED;

    private SocketApi() {}
}
