// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of DDP (RFC 5041) and RDMAP (RFC 5040) that an rping needs.

#ifndef RDMA_H
#define RDMA_H

#include "session.h"

#define MEMORY_OCTETS 65536

// Memory of this side. A peer can read the source and write the sink.
struct memory {
    uint32_t stag;
    uint64_t base;
    uint8_t octets[MEMORY_OCTETS];
};

struct rdma {
    struct session session;
    // Size in bytes of the largest DDP Segment that is sent.
    size_t segment;
    struct memory source;
    struct memory sink;
    // Last Message Sequence Number of each queue, in both directions.
    uint32_t sent[3];
    uint32_t received[3];
    // The partly received Send.
    uint8_t message[MEMORY_OCTETS];
    uint32_t arrived;
    // Remaining bytes of the outstanding RDMA Read, and their offset in the sink.
    uint32_t reading;
    uint32_t read;
    // Numbers of placed RDMA Writes, served RDMA Reads, and bytes written by the peer.
    unsigned writes;
    unsigned reads;
    uint64_t written_octets;
};

void rdma_open(struct rdma *rdma, struct association *association, uint16_t stream);

void rdma_send(struct rdma *rdma, const uint8_t *octets, size_t length);
void rdma_write(struct rdma *rdma, uint32_t stag, uint64_t offset, const uint8_t *octets, size_t length);

// Requests the peer's memory, which is placed at the beginning of the sink. The Read is complete when `reading` is 0.
void rdma_read(struct rdma *rdma, uint32_t stag, uint64_t offset, uint32_t length);

// Sends an RDMAP Terminate: its control field, and the bytes after that field (RFC 5040 section 4.8).
void rdma_terminate(struct rdma *rdma, const uint8_t *octets, size_t length);

void rdma_print(const struct rdma *rdma);

#endif
