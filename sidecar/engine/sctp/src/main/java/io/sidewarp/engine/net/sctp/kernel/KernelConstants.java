// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

import io.sidewarp.engine.net.sctp.socket.SocketApi;

/**
 * Constants of sys/socket.h, sys/epoll.h and linux/sctp.h, and structures of the latter, beyond those of
 * {@link SocketApi}. Offsets and lengths are in bytes.
 */
final class KernelConstants {

    static final int EPERM = 1;
    static final int EINTR = 4;
    static final int EACCES = 13;
    static final int EINVAL = 22;
    static final int EMSGSIZE = 90;
    static final int ENOPROTOOPT = 92;
    static final int EPROTONOSUPPORT = 93;
    static final int ESOCKTNOSUPPORT = 94;
    static final int EADDRNOTAVAIL = 99;

    static final int AF_INET = 2;
    static final int SOCK_NONBLOCK = 0x800;
    static final int SOCK_CLOEXEC = 0x80000;

    static final int SO_REUSEADDR = 2;
    static final int SO_MEMINFO = 55;

    static final int MSG_DONTWAIT = 0x40;
    static final int MSG_NOSIGNAL = 0x4000;
    static final int MSG_NOTIFICATION = 0x8000;

    static final int EPOLL_CLOEXEC = 0x80000;
    static final int EFD_CLOEXEC = 0x80000;
    static final int EPOLL_CTL_ADD = 1;
    static final int EPOLL_CTL_DEL = 2;
    static final int EPOLLIN = 0x1;
    static final int EPOLLOUT = 0x4;
    static final int EPOLLET = 0x80000000;

    static final int CLOCK_MONOTONIC_COARSE = 6;

    static final int SCTP_RTOINFO = 0;
    static final int SCTP_ASSOCINFO = 1;
    static final int SCTP_INITMSG = 2;
    static final int SCTP_NODELAY = 3;
    static final int SCTP_ADAPTATION_LAYER = 7;
    static final int SCTP_DISABLE_FRAGMENTS = 8;
    static final int SCTP_PEER_ADDR_PARAMS = 9;
    static final int SCTP_STATUS = 14;
    static final int SCTP_GET_PEER_ADDR_INFO = 15;
    static final int SCTP_DELAYED_SACK = 16;
    static final int SCTP_RECVRCVINFO = 32;
    static final int SCTP_SOCKOPT_BINDX_ADD = 100;
    static final int SCTP_GET_PEER_ADDRS = 108;
    static final int SCTP_SOCKOPT_CONNECTX = 110;
    static final int SCTP_GET_ASSOC_STATS = 112;
    static final int SCTP_SOCKOPT_PEELOFF_FLAGS = 122;
    static final int SCTP_EVENT = 127;
    static final int SCTP_EXPOSE_PF_STATE = 131;

    /** Types of control messages. */
    static final int SCTP_SNDINFO = 2;

    static final int SCTP_RCVINFO = 3;

    static final int SCTP_UNORDERED = 0x1;
    static final int SCTP_ABORT = 0x4;
    static final int SCTP_EOF = 0x200;

    static final int SPP_PMTUD_ENABLE = 0x8;
    static final int SCTP_PF_EXPOSE_ENABLE = 2;

    static final int SCTP_ASSOC_CHANGE = 0x8001;
    static final int SCTP_PEER_ADDR_CHANGE = 0x8002;
    static final int SCTP_ADAPTATION_INDICATION = 0x8007;

    static final int SCTP_COMM_UP = 0;
    static final int SCTP_COMM_LOST = 1;
    static final int SCTP_RESTART = 2;
    static final int SCTP_SHUTDOWN_COMP = 3;
    static final int SCTP_CANT_STR_ASSOC = 4;

    static final int SCTP_ADDR_AVAILABLE = 0;
    static final int SCTP_ADDR_UNREACHABLE = 1;

    static final int SCTP_ACTIVE = 2;

    /** Field of struct sctp_assocparams. */
    static final int SASOC_ASOCMAXRXT = 4;

    /** struct sctp_paddr_change, whose third field is a struct sockaddr_storage. */
    static final int PADDR_CHANGE_LENGTH = 148;

    static final int SPC_ADDRESS = 8;
    static final int SPC_STATE = 136;

    /** struct sctp_paddrparams, whose second field is a struct sockaddr_storage; packed. */
    static final int PADDRPARAMS_LENGTH = 156;

    static final int SPP_HBINTERVAL = 132;
    static final int SPP_PATHMAXRXT = 136;
    static final int SPP_PATHMTU = 138;
    static final int SPP_FLAGS = 146;

    /** struct sctp_paddrinfo, whose second field is a struct sockaddr_storage. */
    static final int PADDRINFO_LENGTH = 152;

    static final int SPINFO_ADDRESS = 4;

    /** Field of struct sctp_status that only the kernel has. */
    static final int STATUS_FRAGMENTATION_POINT = 20;

    /** struct sctp_assoc_stats. */
    static final int STATS_LENGTH = 256;

    static final int STATS_RETRANSMITTED = 176;
    static final int STATS_UNORDERED_SENT = 208;

    /** struct sctp_getaddrs: association, number, then the addresses one after the other. */
    static final int GETADDRS_LENGTH = 8;

    /** sctp_peeloff_flags_arg_t: association, descriptor, flags. */
    static final int PEELOFF_LENGTH = 12;

    static final int PEELOFF_DESCRIPTOR = 4;
    static final int PEELOFF_FLAGS = 8;

    /** Offset of the memory of output messages, in bytes, in the result of SO_MEMINFO. */
    static final int MEMINFO_WMEM_QUEUED = 20;

    static final int MEMINFO_LENGTH = 36;

    /** struct sockaddr_storage. */
    static final int SOCKADDR_STORAGE_LENGTH = 128;

    private KernelConstants() {}
}
