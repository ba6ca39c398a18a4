// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
//
// DDP Segments (RFC 5041) with the messages of RDMAP (RFC 5040), as far as an rping needs them.

#ifndef RDMA_H
#define RDMA_H

#include "session.h"

#define MEMORY_OCTETS 65536

// Memory of this side that a peer can read (the source) and write (the sink).
struct memory {
    uint32_t stag;
    uint64_t base;
    uint8_t octets[MEMORY_OCTETS];
};

struct rdma {
    struct session session;
    // Octets of the largest DDP Segment that is sent.
    size_t segment;
    struct memory source;
    struct memory sink;
    // Message Sequence Numbers of the queues, in either direction.
    uint32_t sent[3];
    uint32_t received[3];
    // The Send that is arriving.
    uint8_t message[MEMORY_OCTETS];
    uint32_t arrived;
    // Octets that are still to come of the RDMA Read that is under way, and where they begin in the sink.
    uint32_t reading;
    uint32_t read;
    // What has been placed and served.
    unsigned writes;
    unsigned reads;
    uint64_t written_octets;
};

void rdma_open(struct rdma *rdma, struct association *association, uint16_t stream);

void rdma_send(struct rdma *rdma, const uint8_t *octets, size_t length);
void rdma_write(struct rdma *rdma, uint32_t stag, uint64_t offset, const uint8_t *octets, size_t length);

// Asks for the peer's memory, which goes to the beginning of the sink; done when reading is 0 again.
void rdma_read(struct rdma *rdma, uint32_t stag, uint64_t offset, uint32_t length);

// Sends an RDMAP Terminate: its control field, and what follows that (RFC 5040 section 4.8).
void rdma_terminate(struct rdma *rdma, const uint8_t *octets, size_t length);

void rdma_print(const struct rdma *rdma);

#endif
