// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

#include "association.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/sctp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// The only address of this DDP endpoint (section 7.2) in the guest. A socket that is bound to one address lists no
// addresses in its INIT. A NAT would make listed addresses wrong (RFC 6951 section 5.7).
#define LOCAL_ADDRESS "10.0.2.15"

#define PATIENCE_MILLIS 30000

// Code of the error cause User-Initiated Abort (RFC 9260 section 3.3.10.12).
#define USER_INITIATED_ABORT 12

void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    printf("failed: ");
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    exit(1);
}

static void set_option(int fd, int name, const void *value, socklen_t length, const char *what) {
    if (setsockopt(fd, IPPROTO_SCTP, name, value, length) != 0) {
        fail("%s: %s", what, strerror(errno));
    }
}

static void subscribe(int fd, uint16_t type) {
    struct sctp_event event = {.se_assoc_id = SCTP_FUTURE_ASSOC, .se_type = type, .se_on = 1};
    set_option(fd, SCTP_EVENT, &event, sizeof event, "subscription to events");
}

static struct sockaddr_in address_of(const char *text, uint16_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    if (inet_pton(AF_INET, text, &address.sin_addr) != 1) {
        fail("%s is no IPv4 address", text);
    }
    return address;
}

static int open_socket(uint16_t port, const struct association_options *options) {
    // One-to-many socket, so that an association stays with the socket where it arrived. With a one-to-one socket,
    // accept() moves the association to another socket. One of a hundred ABORTs that arrived during accept() was lost,
    // and an ABORT is not sent again.
    int fd = socket(AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP);
    if (fd < 0) {
        fail("no SCTP: %s", strerror(errno));
    }
    struct sctp_initmsg streams = {
        .sinit_num_ostreams = options->outbound,
        .sinit_max_instreams = options->inbound,
    };
    set_option(fd, SCTP_INITMSG, &streams, sizeof streams, "number of streams");
    if (options->adaptation != 0) {
        struct sctp_setadaptation adaptation = {.ssb_adaptation_ind = options->adaptation};
        set_option(fd, SCTP_ADAPTATION_LAYER, &adaptation, sizeof adaptation, "adaptation indication");
    }
    int on = 1;
    int whole = !options->fragments;
    set_option(fd, SCTP_NODELAY, &on, sizeof on, "no delay");
    set_option(fd, SCTP_DISABLE_FRAGMENTS, &whole, sizeof whole, "no fragments");
    set_option(fd, SCTP_RECVRCVINFO, &on, sizeof on, "facts of a message");
    subscribe(fd, SCTP_ASSOC_CHANGE);
    subscribe(fd, SCTP_ADAPTATION_INDICATION);

    struct sockaddr_in local = address_of(LOCAL_ADDRESS, port);
    if (bind(fd, (struct sockaddr *)&local, sizeof local) != 0) {
        fail("SCTP port %u: %s", port, strerror(errno));
    }
    return fd;
}

// Prints the reason that the peer gave in the error causes of an ABORT.
static void print_reason(const uint8_t *causes, size_t length) {
    while (length >= 4) {
        size_t code = (size_t)causes[0] << 8 | causes[1];
        size_t octets = (size_t)causes[2] << 8 | causes[3];
        if (octets < 4 || octets > length) {
            break;
        }
        if (code == USER_INITIATED_ABORT) {
            printf("abort reason: %.*s\n", (int)(octets - 4), (const char *)causes + 4);
        } else {
            printf("abort cause: %zu\n", code);
        }
        size_t padded = (octets + 3) & ~(size_t)3;
        causes += padded < length ? padded : length;
        length -= padded < length ? padded : length;
    }
}

// Receives one notification or message. Returns the type of the notification, or SCTP_DATA_IO_EVENT for a message.
static uint16_t receive(struct association *association, struct chunk *chunk, uint32_t *adaptation) {
    union {
        struct cmsghdr header;
        uint8_t space[CMSG_SPACE(sizeof(struct sctp_rcvinfo))];
    } control;
    size_t length = 0;
    struct msghdr message;
    do {
        struct pollfd wait = {.fd = association->socket, .events = POLLIN};
        if (poll(&wait, 1, PATIENCE_MILLIS) == 0) {
            fail("nothing came within %d ms", PATIENCE_MILLIS);
        }
        struct iovec target = {.iov_base = chunk->octets + length, .iov_len = sizeof chunk->octets - length};
        message = (struct msghdr){.msg_iov = &target, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
        ssize_t octets = recvmsg(association->socket, &message, 0);
        if (octets <= 0) {
            fail("the association is gone: %s", strerror(errno));
        }
        length += (size_t)octets;
    } while ((message.msg_flags & MSG_EOR) == 0 && length < sizeof chunk->octets);

    if ((message.msg_flags & MSG_NOTIFICATION) != 0) {
        const union sctp_notification *event = (const void *)chunk->octets;
        if (event->sn_header.sn_type == SCTP_ADAPTATION_INDICATION) {
            *adaptation = event->sn_adaptation_event.sai_adaptation_ind;
        } else if (event->sn_header.sn_type == SCTP_ASSOC_CHANGE) {
            const struct sctp_assoc_change *change = &event->sn_assoc_change;
            association->id = change->sac_assoc_id;
            association->outbound = change->sac_outbound_streams;
            association->inbound = change->sac_inbound_streams;
            association->shut_down = change->sac_state == SCTP_SHUTDOWN_COMP;
            association->lost = change->sac_state == SCTP_COMM_LOST || change->sac_state == SCTP_CANT_STR_ASSOC;
            if (association->lost) {
                print_reason(change->sac_info, length - sizeof *change);
            }
        }
        return event->sn_header.sn_type;
    }
    const struct cmsghdr *facts = CMSG_FIRSTHDR(&message);
    if (facts == NULL || facts->cmsg_type != SCTP_RCVINFO) {
        fail("the kernel tells nothing of a message");
    }
    const struct sctp_rcvinfo *info = (const void *)CMSG_DATA(facts);
    chunk->stream = info->rcv_sid;
    chunk->protocol = ntohl(info->rcv_ppid);
    chunk->unordered = (info->rcv_flags & SCTP_UNORDERED) != 0;
    chunk->length = length;
    return SCTP_DATA_IO_EVENT;
}

// Compares the peer's indication with the table of RFC 5043 section 11.1.
static struct association established(int fd) {
    static struct chunk chunk;
    struct association association = {.socket = fd};
    uint32_t adaptation = 0;
    for (uint16_t type = 0; type != SCTP_ADAPTATION_INDICATION;) {
        type = receive(&association, &chunk, &adaptation);
        if (type == SCTP_DATA_IO_EVENT || association.lost || association.shut_down) {
            fail("the peer indicates no adaptation layer");
        }
    }
    printf("association: %u streams out, %u in\n", association.outbound, association.inbound);
    printf("adaptation indication: 0x%08x\n", adaptation);
    if (adaptation != ADAPTATION_DDP) {
        fail("the peer indicates adaptation layer 0x%08x", adaptation);
    }
    struct sctp_status status = {.sstat_assoc_id = association.id};
    socklen_t length = sizeof status;
    if (getsockopt(fd, IPPROTO_SCTP, SCTP_STATUS, &status, &length) != 0) {
        // The peer has refused the association meanwhile. The next receive will report that.
        status.sstat_fragmentation_point = 0;
    }
    association.fragmentation_point = status.sstat_fragmentation_point;
    return association;
}

struct association association_connect(const char *address, uint16_t port, uint16_t udp_port,
                                       const struct association_options *options) {
    int fd = open_socket(0, options);
    struct sctp_udpencaps encapsulation = {.sue_port = htons(udp_port)};
    encapsulation.sue_address.ss_family = AF_INET;
    set_option(fd, SCTP_REMOTE_UDP_ENCAPS_PORT, &encapsulation, sizeof encapsulation, "remote UDP port");
    struct sockaddr_in remote = address_of(address, port);
    if (connect(fd, (struct sockaddr *)&remote, sizeof remote) != 0) {
        fail("connect: %s", strerror(errno));
    }
    return established(fd);
}

struct association association_accept(uint16_t port, const struct association_options *options) {
    int listener = open_socket(port, options);
    if (listen(listener, 1) != 0) {
        fail("listen: %s", strerror(errno));
    }
    struct association association = established(listener);
    if (listen(listener, 0) != 0) {
        fail("no more associations: %s", strerror(errno));
    }
    return association;
}

static bool transmit(const struct association *association, const struct chunk *chunk, uint16_t flags) {
    union {
        struct cmsghdr header;
        uint8_t space[CMSG_SPACE(sizeof(struct sctp_sndinfo))];
    } control = {.space = {0}};
    struct iovec source = {.iov_base = (void *)chunk->octets, .iov_len = chunk->length};
    struct msghdr message = {
        .msg_iov = &source, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.space};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = IPPROTO_SCTP;
    header->cmsg_type = SCTP_SNDINFO;
    header->cmsg_len = CMSG_LEN(sizeof(struct sctp_sndinfo));
    struct sctp_sndinfo info = {
        .snd_sid = chunk->stream,
        .snd_flags = flags,
        .snd_ppid = htonl(chunk->protocol),
        .snd_assoc_id = association->id,
    };
    memcpy(CMSG_DATA(header), &info, sizeof info);
    return sendmsg(association->socket, &message, MSG_NOSIGNAL) == (ssize_t)chunk->length;
}

void association_send(struct association *association, const struct chunk *chunk) {
    if (!transmit(association, chunk, chunk->unordered ? SCTP_UNORDERED : 0)) {
        fail("a message of %zu octets on stream %u: %s", chunk->length, chunk->stream, strerror(errno));
    }
}

bool association_receive(struct association *association, struct chunk *chunk) {
    uint32_t ignored;
    while (!association->lost && !association->shut_down) {
        if (receive(association, chunk, &ignored) == SCTP_DATA_IO_EVENT) {
            return true;
        }
    }
    return false;
}

void association_close(struct association *association, bool abort) {
    static const struct chunk nothing;
    if (abort) {
        struct linger now = {.l_onoff = 1, .l_linger = 0};
        if (setsockopt(association->socket, SOL_SOCKET, SO_LINGER, &now, sizeof now) != 0) {
            fail("abort: %s", strerror(errno));
        }
        close(association->socket);
        association->lost = true;
    } else if (!transmit(association, &nothing, SCTP_EOF) && errno != EPIPE) {
        // EPIPE is no error: the peer has already shut down the association.
        fail("shutdown: %s", strerror(errno));
    }
}
