// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
//
// DDP stream sessions (RFC 5043 section 6): order of the chunks, and control messages.

#ifndef SESSION_H
#define SESSION_H

#include "association.h"

#define PPID_SEGMENT 16
#define PPID_CONTROL 17

// Function codes (section 5.2.3, RFC 6581 section 7).
enum function {
    INITIATE = 1,
    ACCEPT = 2,
    REJECT = 3,
    TERMINATE = 4,
    ENHANCED_INITIATE = 5,
    ENHANCED_ACCEPT = 6,
    ENHANCED_REJECT = 7,
};

const char *function_name(unsigned function);

// Received items of a session that no command has taken yet, in the order of the DDP-SSNs.
enum item_kind { CONTROL_ITEM, MESSAGE_ITEM, TERMINATE_ITEM };

struct item {
    struct item *next;
    enum item_kind kind;
    // Function code of a control message.
    unsigned function;
    size_t length;
    uint8_t octets[];
};

struct session;

// A chunk that arrived before its turn, or that is held back from sending.
struct kept {
    struct kept *next;
    struct chunk chunk;
};

// Receives the DDP Segments of a session in their order.
typedef void segment_handler(struct session *session, const uint8_t *segment, size_t length);

struct session {
    struct association *association;
    segment_handler *handler;
    void *ulp;
    uint16_t stream;
    // DDP-SSN of the next chunk in each direction.
    uint16_t sent;
    uint16_t due;
    // If `ordered`, chunks are sent ordered, which section 10 forbids. If `holding`, chunks are kept and later sent in
    // reverse order, which a sender may do.
    bool ordered;
    bool holding;
    // True after a Terminate, after which no chunk may arrive.
    bool terminated;
    struct kept *early;
    struct kept *held;
    struct item *items;
    // Statistics of the received chunks; `largest` is in bytes.
    unsigned chunks;
    unsigned control_chunks;
    unsigned ordered_chunks;
    unsigned early_chunks;
    size_t largest;
};

void session_open(struct session *session, struct association *association, uint16_t stream, segment_handler *handler,
                  void *ulp);

// Sends a chunk with the next DDP-SSN, or with a given DDP-SSN.
void session_send(struct session *session, uint32_t protocol, const uint8_t *octets, size_t length);
void session_send_as(struct session *session, uint16_t ssn, uint32_t protocol, const uint8_t *octets, size_t length);
void session_send_control(struct session *session, unsigned function, const uint8_t *data, size_t length);

// Sends the chunks that were held back, the last chunk first.
void session_release(struct session *session);

void session_take(struct session *session, const struct chunk *chunk);

void session_add_item(struct session *session, enum item_kind kind, unsigned function, const uint8_t *octets, size_t length);

// Returns the oldest item, which the caller frees, or NULL if there is none.
struct item *session_next_item(struct session *session);

void session_print(const struct session *session);

#endif
