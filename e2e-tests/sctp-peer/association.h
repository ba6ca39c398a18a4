// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
//
// One SCTP association of the kernel, encapsulated in UDP (RFC 6951), as DDP uses it (RFC 5043).

#ifndef ASSOCIATION_H
#define ASSOCIATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Octets of the largest user message that is received.
#define MAX_MESSAGE 65536

#define ADAPTATION_DDP 1

struct association_options {
    // What INIT or INIT-ACK indicates; 0 for nothing, as the kernel cannot indicate 0.
    uint32_t adaptation;
    // Streams that are asked for, and those that are permitted to the peer.
    uint16_t outbound;
    uint16_t inbound;
    // Whether the kernel may fragment a user message (RFC 5043 section 9 says no).
    bool fragments;
};

// A user message, a part of which is never told.
struct chunk {
    uint16_t stream;
    uint32_t protocol;
    bool unordered;
    size_t length;
    uint8_t octets[MAX_MESSAGE];
};

struct association {
    int socket;
    int32_t id;
    uint16_t outbound;
    uint16_t inbound;
    // Octets of the largest user message in one packet.
    size_t fragmentation_point;
    // How it ended: an orderly shutdown, or anything else.
    bool shut_down;
    bool lost;
};

// Prints what is wrong, and ends the program with status 1.
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Both return when the association is up, and end the program when the peer does not indicate DDP (section 11.1).
struct association association_connect(const char *address, uint16_t port, uint16_t udp_port,
                                       const struct association_options *options);
struct association association_accept(uint16_t port, const struct association_options *options);

void association_send(struct association *association, const struct chunk *chunk);

// Waits for the next user message; false when there will be none, as the association has ended.
bool association_receive(struct association *association, struct chunk *chunk);

// Begins an orderly shutdown, or aborts.
void association_close(struct association *association, bool abort);

#endif
