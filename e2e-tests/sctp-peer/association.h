// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
//
// One SCTP association of the kernel, encapsulated in UDP (RFC 6951), with the options that DDP needs (RFC 5043).

#ifndef ASSOCIATION_H
#define ASSOCIATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Size in bytes of the largest user message that can be received.
#define MAX_MESSAGE 65536

#define ADAPTATION_DDP 1

struct association_options {
    // Adaptation Layer Indication in INIT or INIT-ACK. 0 sends no indication, because the kernel cannot indicate 0.
    uint32_t adaptation;
    // Number of requested outbound streams, and number of streams that the peer may use.
    uint16_t outbound;
    uint16_t inbound;
    // True if the kernel may fragment a user message, which RFC 5043 section 9 forbids.
    bool fragments;
};

// A whole user message.
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
    // Size in bytes of the largest user message that fits in one packet.
    size_t fragmentation_point;
    // End of the association: an orderly shutdown, or any other end.
    bool shut_down;
    bool lost;
};

// Prints an error, and ends the program with status 1.
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Both functions return when the association is up. They end the program if the peer does not indicate DDP
// (section 11.1).
struct association association_connect(const char *address, uint16_t port, uint16_t udp_port,
                                       const struct association_options *options);
struct association association_accept(uint16_t port, const struct association_options *options);

void association_send(struct association *association, const struct chunk *chunk);

// Waits for the next user message. Returns false if the association has ended.
bool association_receive(struct association *association, struct chunk *chunk);

// Begins an orderly shutdown, or aborts the association.
void association_close(struct association *association, bool abort);

#endif
