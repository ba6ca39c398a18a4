// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.usrsctp;

import io.sidewarp.engine.net.sctp.socket.SocketApi;

/**
 * Constants and structures of usrsctp.h, version 0.9.5, beyond those of
 * {@link SocketApi}. Offsets and lengths are in bytes.
 */
final class UsrsctpConstants {

    static final int AF_CONN = 123;

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

    static final int SCTP_SS_FIRST_COME = 5;

    static final int SCTP_EOF = 0x100;
    static final int SCTP_ABORT = 0x200;
    static final int SCTP_UNORDERED = 0x400;
    static final int SCTP_SENDV_SNDINFO = 1;
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

    /** Field of struct sctp_assocparams. */
    static final int SASOC_ASOCMAXRXT = 16;

    /** struct sctp_paddrparams, whose first field is a struct sockaddr_storage. */
    static final int PADDRPARAMS_LENGTH = 152;

    static final int SPP_HBINTERVAL = 132;
    static final int SPP_PATHMTU = 136;
    static final int SPP_FLAGS = 140;
    static final int SPP_PATHMAXRXT = 148;

    private UsrsctpConstants() {}
}
