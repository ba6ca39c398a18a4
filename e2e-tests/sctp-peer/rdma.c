// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

#include "rdma.h"

#include <stdio.h>
#include <string.h>

// DDP control (RFC 5041 section 4.1): Tagged, Last, DDP version 1.
#define TAGGED 0x80
#define LAST 0x40
#define DDP_VERSION 0x01
#define DDP_VERSION_MASK 0x03

// RDMAP control (RFC 5040 section 4.1): RDMAP version 1, opcode.
#define RDMAP_VERSION 0x40
#define RDMAP_VERSION_MASK 0xC0
#define OPCODE_MASK 0x0F

enum opcode { WRITE = 0, READ_REQUEST = 1, READ_RESPONSE = 2, SEND = 3, RDMAP_TERMINATE = 7 };
enum queue { SEND_QUEUE = 0, READ_QUEUE = 1, TERMINATE_QUEUE = 2 };

#define TAGGED_HEADER 14
#define UNTAGGED_HEADER 18
#define READ_REQUEST_OCTETS 28

static void put32(uint8_t *target, uint32_t value) {
    for (int i = 0; i < 4; i++) {
        target[i] = (uint8_t)(value >> (24 - 8 * i));
    }
}

static void put64(uint8_t *target, uint64_t value) {
    put32(target, (uint32_t)(value >> 32));
    put32(target + 4, (uint32_t)value);
}

static uint32_t get32(const uint8_t *source) {
    return (uint32_t)source[0] << 24 | (uint32_t)source[1] << 16 | (uint32_t)source[2] << 8 | source[3];
}

static uint64_t get64(const uint8_t *source) { return (uint64_t)get32(source) << 32 | get32(source + 4); }

static void handle(struct session *session, const uint8_t *segment, size_t length);

void rdma_open(struct rdma *rdma, struct association *association, uint16_t stream) {
    memset(rdma, 0, sizeof *rdma);
    session_open(&rdma->session, association, stream, handle, rdma);
    // A user message consists of a DDP-SSN of 2 bytes and a DDP Segment.
    rdma->segment = association->fragmentation_point - 2;
    rdma->source.stag = 0x5A000000U | stream;
    rdma->source.base = 0x100000000000;
    rdma->sink.stag = 0x5B000000U | stream;
    rdma->sink.base = 0x200000000000;
}

// ---- Output

static void send_tagged(struct rdma *rdma, enum opcode opcode, uint32_t stag, uint64_t offset, const uint8_t *octets,
                        size_t length) {
    size_t done = 0;
    do {
        uint8_t segment[MAX_MESSAGE];
        size_t part = length - done;
        if (part > rdma->segment - TAGGED_HEADER) {
            part = rdma->segment - TAGGED_HEADER;
        }
        segment[0] = TAGGED | (done + part == length ? LAST : 0) | DDP_VERSION;
        segment[1] = (uint8_t)(RDMAP_VERSION | opcode);
        put32(segment + 2, stag);
        put64(segment + 6, offset + done);
        memcpy(segment + TAGGED_HEADER, octets + done, part);
        session_send(&rdma->session, PPID_SEGMENT, segment, TAGGED_HEADER + part);
        done += part;
    } while (done < length);
}

static void send_untagged(struct rdma *rdma, enum opcode opcode, enum queue queue, const uint8_t *octets, size_t length) {
    uint32_t msn = ++rdma->sent[queue];
    size_t done = 0;
    do {
        uint8_t segment[MAX_MESSAGE];
        size_t part = length - done;
        if (part > rdma->segment - UNTAGGED_HEADER) {
            part = rdma->segment - UNTAGGED_HEADER;
        }
        segment[0] = (done + part == length ? LAST : 0) | DDP_VERSION;
        segment[1] = (uint8_t)(RDMAP_VERSION | opcode);
        put32(segment + 2, 0);
        put32(segment + 6, queue);
        put32(segment + 10, msn);
        put32(segment + 14, (uint32_t)done);
        memcpy(segment + UNTAGGED_HEADER, octets + done, part);
        session_send(&rdma->session, PPID_SEGMENT, segment, UNTAGGED_HEADER + part);
        done += part;
    } while (done < length);
}

void rdma_send(struct rdma *rdma, const uint8_t *octets, size_t length) {
    send_untagged(rdma, SEND, SEND_QUEUE, octets, length);
}

void rdma_write(struct rdma *rdma, uint32_t stag, uint64_t offset, const uint8_t *octets, size_t length) {
    send_tagged(rdma, WRITE, stag, offset, octets, length);
}

void rdma_read(struct rdma *rdma, uint32_t stag, uint64_t offset, uint32_t length) {
    uint8_t request[READ_REQUEST_OCTETS];
    if (length > MEMORY_OCTETS) {
        fail("an RDMA Read of %u octets", length);
    }
    put32(request, rdma->sink.stag);
    put64(request + 4, rdma->sink.base);
    put32(request + 12, length);
    put32(request + 16, stag);
    put64(request + 20, offset);
    rdma->reading = length;
    rdma->read = 0;
    send_untagged(rdma, READ_REQUEST, READ_QUEUE, request, sizeof request);
}

void rdma_terminate(struct rdma *rdma, const uint8_t *octets, size_t length) {
    send_untagged(rdma, RDMAP_TERMINATE, TERMINATE_QUEUE, octets, length);
}

// ---- Input

// Returns the memory at an STag and offset. Fails if the peer may not use `length` bytes there.
static uint8_t *place(struct memory *memory, uint32_t stag, uint64_t offset, size_t length) {
    if (stag != memory->stag || offset < memory->base || offset - memory->base > MEMORY_OCTETS
        || length > MEMORY_OCTETS - (offset - memory->base)) {
        fail("no %zu octets for the peer at 0x%08x+%llu", length, stag, (unsigned long long)offset);
    }
    return memory->octets + (offset - memory->base);
}

static void handle_tagged(struct rdma *rdma, enum opcode opcode, bool last, const uint8_t *segment, size_t length) {
    if (length < TAGGED_HEADER) {
        fail("a Tagged segment of %zu octets", length);
    }
    uint64_t offset = get64(segment + 6);
    uint32_t octets = (uint32_t)(length - TAGGED_HEADER);
    memcpy(place(&rdma->sink, get32(segment + 2), offset, octets), segment + TAGGED_HEADER, octets);
    if (opcode == WRITE) {
        rdma->writes += last;
        rdma->written_octets += octets;
    } else if (opcode == READ_RESPONSE) {
        if (octets > rdma->reading || offset != rdma->sink.base + rdma->read || last != (octets == rdma->reading)) {
            fail("an RDMA Read Response that was not asked for");
        }
        rdma->reading -= octets;
        rdma->read += octets;
    } else {
        fail("opcode %u in a Tagged segment", opcode);
    }
}

static void serve_read(struct rdma *rdma, const uint8_t *request, size_t length) {
    if (length != READ_REQUEST_OCTETS) {
        fail("an RDMA Read Request of %zu octets", length);
    }
    uint32_t octets = get32(request + 12);
    const uint8_t *source = place(&rdma->source, get32(request + 16), get64(request + 20), octets);
    rdma->reads++;
    send_tagged(rdma, READ_RESPONSE, get32(request), get64(request + 4), source, octets);
}

static void print_terminate(const struct session *session, const uint8_t *message, size_t length) {
    if (length < 4) {
        fail("an RDMAP Terminate of %zu octets", length);
    }
    printf("stream %u: RDMAP Terminate, layer %u, type %u, code 0x%02x\n", session->stream, message[0] >> 4,
           message[0] & 0x0F, message[1]);
}

static void handle_untagged(struct rdma *rdma, enum opcode opcode, bool last, const uint8_t *segment, size_t length) {
    if (length < UNTAGGED_HEADER) {
        fail("an Untagged segment of %zu octets", length);
    }
    uint32_t queue = get32(segment + 6);
    uint32_t offset = get32(segment + 14);
    size_t octets = length - UNTAGGED_HEADER;
    if (queue > TERMINATE_QUEUE || get32(segment + 10) != rdma->received[queue] + 1) {
        fail("queue %u, MSN %u", queue, get32(segment + 10));
    }
    rdma->received[queue] += last;
    segment += UNTAGGED_HEADER;
    if (opcode == SEND && queue == SEND_QUEUE) {
        if (offset != rdma->arrived || octets > sizeof rdma->message - offset) {
            fail("%zu octets at offset %u of a Send", octets, offset);
        }
        memcpy(rdma->message + offset, segment, octets);
        rdma->arrived += (uint32_t)octets;
        if (last) {
            session_add_item(&rdma->session, MESSAGE_ITEM, 0, rdma->message, rdma->arrived);
            rdma->arrived = 0;
        }
    } else if (opcode == READ_REQUEST && queue == READ_QUEUE && last && offset == 0) {
        serve_read(rdma, segment, octets);
    } else if (opcode == RDMAP_TERMINATE && queue == TERMINATE_QUEUE && last && offset == 0) {
        print_terminate(&rdma->session, segment, octets);
        session_add_item(&rdma->session, TERMINATE_ITEM, 0, segment, octets);
    } else {
        fail("opcode %u in an Untagged segment of queue %u", opcode, queue);
    }
}

static void handle(struct session *session, const uint8_t *segment, size_t length) {
    if (length < 2 || (segment[0] & DDP_VERSION_MASK) != DDP_VERSION || (segment[1] & RDMAP_VERSION_MASK) != RDMAP_VERSION) {
        fail("a DDP Segment of another version, or cut off");
    }
    struct rdma *rdma = session->ulp;
    enum opcode opcode = segment[1] & OPCODE_MASK;
    bool last = (segment[0] & LAST) != 0;
    if ((segment[0] & TAGGED) != 0) {
        handle_tagged(rdma, opcode, last, segment, length);
    } else {
        handle_untagged(rdma, opcode, last, segment, length);
    }
}

void rdma_print(const struct rdma *rdma) {
    printf("stream %u: %u Sends, %u RDMA Writes of %llu octets, %u RDMA Reads served\n", rdma->session.stream,
           rdma->received[SEND_QUEUE], rdma->writes, (unsigned long long)rdma->written_octets, rdma->reads);
}
