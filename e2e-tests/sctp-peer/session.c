// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *function_name(unsigned function) {
    static const char *const NAMES[] = {
        "none",   "Initiate",          "Accept",          "Reject",
        "Terminate", "Enhanced Initiate", "Enhanced Accept", "Enhanced Reject",
    };
    return function < sizeof NAMES / sizeof *NAMES ? NAMES[function] : "unknown";
}

void session_open(struct session *session, struct association *association, uint16_t stream, segment_handler *handler,
                  void *ulp) {
    *session = (struct session){.association = association, .stream = stream, .handler = handler, .ulp = ulp};
}

void session_send_as(struct session *session, uint16_t ssn, uint32_t protocol, const uint8_t *octets, size_t length) {
    struct kept *kept = calloc(1, sizeof *kept);
    if (kept == NULL || length + 2 > sizeof kept->chunk.octets) {
        fail("a chunk of %zu octets", length);
    }
    kept->chunk.stream = session->stream;
    kept->chunk.protocol = protocol;
    kept->chunk.unordered = !session->ordered;
    kept->chunk.length = length + 2;
    kept->chunk.octets[0] = (uint8_t)(ssn >> 8);
    kept->chunk.octets[1] = (uint8_t)ssn;
    memcpy(kept->chunk.octets + 2, octets, length);
    if (session->holding) {
        kept->next = session->held;
        session->held = kept;
    } else {
        association_send(session->association, &kept->chunk);
        free(kept);
    }
}

void session_send(struct session *session, uint32_t protocol, const uint8_t *octets, size_t length) {
    session_send_as(session, session->sent++, protocol, octets, length);
}

void session_release(struct session *session) {
    session->holding = false;
    while (session->held != NULL) {
        struct kept *last = session->held;
        session->held = last->next;
        association_send(session->association, &last->chunk);
        free(last);
    }
}

void session_send_control(struct session *session, unsigned function, const uint8_t *data, size_t length) {
    uint8_t message[MAX_MESSAGE];
    if (length > sizeof message - 4) {
        fail("private data of %zu octets", length);
    }
    message[0] = (uint8_t)(function >> 8);
    message[1] = (uint8_t)function;
    memcpy(message + 2, data, length);
    session_send(session, PPID_CONTROL, message, length + 2);
}

void session_add_item(struct session *session, enum item_kind kind, unsigned function, const uint8_t *octets, size_t length) {
    struct item **end = &session->items;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    struct item *item = malloc(sizeof *item + length);
    if (item == NULL) {
        fail("no memory");
    }
    *item = (struct item){.kind = kind, .function = function, .length = length};
    memcpy(item->octets, octets, length);
    *end = item;
}

struct item *session_next_item(struct session *session) {
    struct item *item = session->items;
    if (item != NULL) {
        session->items = item->next;
    }
    return item;
}

static void take_control(struct session *session, const uint8_t *message, size_t length) {
    if (length < 2) {
        fail("stream %u: a session control message of %zu octets", session->stream, length);
    }
    unsigned function = (unsigned)message[0] << 8 | message[1];
    size_t data = length - 2;
    if (data > 512 || (function == TERMINATE && data > 0)) {
        fail("stream %u: %s with %zu octets of private data", session->stream, function_name(function), data);
    }
    printf("stream %u: %s, %zu octets of private data", session->stream, function_name(function), data);
    for (size_t i = 0; i < data && i < 64; i++) {
        printf("%s%02x", i == 0 ? ": " : "", message[2 + i]);
    }
    printf("\n");
    session->control_chunks++;
    session->terminated |= function == TERMINATE;
    session_add_item(session, CONTROL_ITEM, function, message + 2, data);
}

// Handles the chunk with the next DDP-SSN.
static void take_due(struct session *session, const struct chunk *chunk) {
    if (session->terminated) {
        fail("stream %u: a chunk behind the Terminate", session->stream);
    }
    session->due++;
    if (chunk->protocol == PPID_CONTROL) {
        take_control(session, chunk->octets + 2, chunk->length - 2);
    } else if (chunk->protocol == PPID_SEGMENT) {
        session->handler(session, chunk->octets + 2, chunk->length - 2);
    } else {
        fail("stream %u: payload protocol %u", session->stream, chunk->protocol);
    }
}

static void keep(struct session *session, uint16_t ssn, const struct chunk *chunk) {
    struct kept **place = &session->early;
    while (*place != NULL) {
        uint16_t other = (uint16_t)((*place)->chunk.octets[0] << 8 | (*place)->chunk.octets[1]);
        if (other == ssn) {
            fail("stream %u: DDP-SSN %u twice", session->stream, ssn);
        }
        if ((uint16_t)(other - session->due) > (uint16_t)(ssn - session->due)) {
            break;
        }
        place = &(*place)->next;
    }
    struct kept *kept = malloc(sizeof *kept);
    if (kept == NULL) {
        fail("no memory");
    }
    kept->next = *place;
    memcpy(&kept->chunk, chunk, offsetof(struct chunk, octets) + chunk->length);
    *place = kept;
    session->early_chunks++;
}

void session_take(struct session *session, const struct chunk *chunk) {
    if (chunk->length <= 2) {
        fail("stream %u: a chunk of %zu octets", session->stream, chunk->length);
    }
    session->chunks++;
    session->ordered_chunks += !chunk->unordered;
    if (chunk->length > session->largest) {
        session->largest = chunk->length;
    }
    uint16_t ssn = (uint16_t)(chunk->octets[0] << 8 | chunk->octets[1]);
    if (ssn != session->due) {
        if ((uint16_t)(ssn - session->due) > INT16_MAX) {
            fail("stream %u: DDP-SSN %u where %u is due", session->stream, ssn, session->due);
        }
        keep(session, ssn, chunk);
        return;
    }
    take_due(session, chunk);
    while (session->early != NULL) {
        struct kept *first = session->early;
        if ((uint16_t)(first->chunk.octets[0] << 8 | first->chunk.octets[1]) != session->due) {
            break;
        }
        session->early = first->next;
        take_due(session, &first->chunk);
        free(first);
    }
}

void session_print(const struct session *session) {
    printf("stream %u: %u chunks without a gap, %u of control, %u ordered, %u before their turn, the largest of %zu octets\n",
           session->stream, session->chunks, session->control_chunks, session->ordered_chunks, session->early_chunks,
           session->largest);
    if (session->early != NULL) {
        fail("stream %u: DDP-SSN %u has not come", session->stream, session->due);
    }
}
