// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.usrsctp;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Constants and structure layouts of usrsctp.h on Linux, version 0.9.5. Offsets and lengths are in bytes. */
final class UsrsctpConstants {

    static final int EADDRINUSE = 98;
    static final int EINPROGRESS = 115;

    static final int AF_CONN = 123;
    static final int SOCK_SEQPACKET = 5;
    static final int IPPROTO_SCTP = 132;
    static final int SOL_SOCKET = 1;
    static final int SO_SNDBUF = 7;
    static final int SO_RCVBUF = 8;
    static final int SO_LINGER = 13;

    static final int SCTP_RTOINFO = 0x1;
    static final int SCTP_ASSOCINFO = 0x2;
    static final int SCTP_INITMSG = 0x3;
    static final int SCTP_NODELAY = 0x4;
    static final int SCTP_ADAPTATION_LAYER = 0x8;
    static final int SCTP_PEER_ADDR_PARAMS = 0xa;
    static final int SCTP_DELAYED_SACK = 0xf;
    static final int SCTP_FRAGMENT_INTERLEAVE = 0x10;
    static final int SCTP_PARTIAL_DELIVERY_POINT = 0x11;
    static final int SCTP_MAX_BURST = 0x19;
    static final int SCTP_EVENT = 0x1e;
    static final int SCTP_RECVRCVINFO = 0x1f;
    static final int SCTP_STATUS = 0x100;
    static final int SCTP_PLUGGABLE_SS = 0x1203;

    static final int SPP_HB_ENABLE = 0x1;
    static final int SPP_PMTUD_DISABLE = 0x10;
    static final int SCTP_SS_FIRST_COME = 5;

    static final int SCTP_EOF = 0x100;
    static final int SCTP_ABORT = 0x200;
    static final int SCTP_UNORDERED = 0x400;
    static final int SCTP_SENDV_SNDINFO = 1;
    static final int MSG_EOR = 0x80;
    static final int MSG_NOTIFICATION = 0x2000;

    static final int SCTP_ASSOC_CHANGE = 1;
    static final int SCTP_ADAPTATION_INDICATION = 6;
    static final int SCTP_COMM_UP = 1;
    static final int SCTP_COMM_LOST = 2;
    static final int SCTP_RESTART = 3;
    static final int SCTP_SHUTDOWN_COMP = 4;
    static final int SCTP_CANT_STR_ASSOC = 5;
    static final int SCTP_ACTIVE = 1;

    /** struct sockaddr_conn: family, port, address. */
    static final int SOCKADDR_LENGTH = 16;
    /** struct sctp_sndinfo: sid, flags, ppid, context, association. */
    static final int SNDINFO_LENGTH = 16;
    /** struct sctp_rcvinfo: sid, ssn, flags, ppid and more. */
    static final int RCVINFO_LENGTH = 28;

    static final int RCVINFO_PPID = 8;

    /** struct sctp_assoc_change, its fixed part. */
    static final int ASSOC_CHANGE_LENGTH = 20;

    static final int SAC_STATE = 8;
    static final int SAC_OUTBOUND = 12;
    static final int SAC_INBOUND = 14;
    static final int SAC_ASSOC_ID = 16;

    /** struct sctp_adaptation_event. */
    static final int ADAPTATION_LENGTH = 16;

    static final int SAI_INDICATION = 8;

    /** struct sctp_status with the struct sctp_paddrinfo of the primary path at its end. */
    static final int STATUS_LENGTH = 176;

    static final int STATUS_PEER_RWND = 8;
    static final int STATUS_INBOUND = 16;
    static final int STATUS_OUTBOUND = 18;
    static final int STATUS_PATH_STATE = 156;
    static final int STATUS_CWND = 160;
    static final int STATUS_SRTT = 164;
    static final int STATUS_RTO = 168;
    static final int STATUS_MTU = 172;

    /** struct sctp_paddrparams, whose first field is a struct sockaddr_storage. */
    static final int PADDRPARAMS_LENGTH = 152;

    static final int SPP_HBINTERVAL = 132;
    static final int SPP_PATHMTU = 136;
    static final int SPP_FLAGS = 140;
    static final int SPP_PATHMAXRXT = 148;

    static final ValueLayout.OfInt BIG_ENDIAN_INT = ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
    static final ValueLayout.OfInt INT_ANYWHERE = ValueLayout.JAVA_INT_UNALIGNED;
    static final ValueLayout.OfShort SHORT_ANYWHERE = ValueLayout.JAVA_SHORT_UNALIGNED;

    private UsrsctpConstants() {}
}
