// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
//
// A peer for DDP over SCTP (RFC 5043) on the SCTP of the Linux kernel. It shares no code with Sidewarp. It carries out
// its arguments one after the other:
//
//   ddp-sctp-peer [OPTION...] listen=PORT | connect=ADDRESS:PORT:UDP-PORT [COMMAND...]
//
// It prints each event. At the first violation of RFC 5043, the DDP and RDMAP RFCs or its commands, it prints a line
// "failed: ..." and ends with status 1. At the end, every received message must have been awaited by a command.
//
// Options:
//
//     adaptation=HEX     Adaptation Layer Indication; 0 for none (default 1, DDP)
//     streams=OUT:IN     number of requested streams, and of streams that the peer may use (default 16:16)
//     fragments          let the kernel fragment user messages
//
// Commands; data is in hexadecimal digits:
//
//     stream=N           use this stream for the following commands (at first 0)
//     initiate[=DATA], accept[=DATA], reject[=DATA], terminate
//     enhanced-initiate=DATA, enhanced-accept=DATA, enhanced-reject=DATA
//                        send this session control message
//     await=FUNCTION     check that the next received message is this control message, by the same names
//     send=OCTETS        send a Send with this number of letters
//     receive            check that the next received message is a Send
//     ping=OCTETS        do a round of rping as client: offer memory to read, then memory to write, and compare
//     serve              do a round of rping as server: read the client's memory, and write it back
//     write=STAG:OCTETS  send an RDMA Write of letters to an STag in hexadecimal digits, at offset 0
//     rdmap-terminate=DATA
//                        send an RDMAP Terminate with this control field and the bytes after it
//     await-rdmap-terminate
//                        check that the next received message is an RDMAP Terminate
//     chunk=PPID:DATA, chunk-at=SSN:PPID:DATA
//                        send a user message of any kind, with the next DDP-SSN or with this DDP-SSN
//     segment=OCTETS     set the size of the largest DDP Segment to send (default: largest without fragments)
//     ordered            do not mark chunks as unordered from now on
//     hold, release      hold chunks back; send the held chunks, the last one first
//     again              print the ended session of this stream, and begin another session
//     shutdown, abort    end the association
//     await-shutdown, await-abort
//                        check that the peer ends the association in this way

#include "rdma.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSIONS 16
#define OFFER_OCTETS 16

struct peer {
    struct association_options options;
    struct association association;
    struct rdma sessions[SESSIONS];
    struct rdma *current;
    unsigned rounds;
};

static uint32_t crc32_of(const uint8_t *octets, size_t length) {
    uint32_t crc = ~0U;
    for (size_t i = 0; i < length; i++) {
        crc ^= octets[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (0xEDB88320U & -(crc & 1));
        }
    }
    return ~crc;
}

// Fills in letters that differ from round to round, and a zero byte at the end, as rping does.
static void fill(uint8_t *octets, size_t length, unsigned round) {
    for (size_t i = 0; i < length; i++) {
        octets[i] = (uint8_t)(i + 1 == length ? 0 : 'a' + (i + round) % 26);
    }
}

static uint64_t number(const char *text, int base, uint64_t most) {
    char *end;
    uint64_t value = strtoull(text, &end, base);
    if (end == text || (*end != '\0' && *end != ':') || value > most) {
        fail("%s is no number up to %" PRIu64, text, most);
    }
    return value;
}

// Returns the text after the next colon.
static const char *behind_colon(const char *text) {
    const char *colon = strchr(text, ':');
    if (colon == NULL) {
        fail("%s lacks a part", text);
    }
    return colon + 1;
}

static size_t octets_of(const char *hex, uint8_t *octets, size_t room) {
    size_t length = strlen(hex) / 2;
    if (strlen(hex) % 2 != 0 || length > room) {
        fail("%zu hexadecimal digits", strlen(hex));
    }
    for (size_t i = 0; i < length; i++) {
        if (sscanf(hex + 2 * i, "%2hhx", octets + i) != 1) {
            fail("%s is not hexadecimal", hex);
        }
    }
    return length;
}

// ---- Input

// Receives one user message. Fails if the association has ended.
static void pump(struct peer *peer) {
    static struct chunk chunk;
    if (!association_receive(&peer->association, &chunk)) {
        fail("the peer %s the association", peer->association.lost ? "aborted" : "shut down");
    }
    if (chunk.stream >= SESSIONS) {
        fail("stream %u", chunk.stream);
    }
    session_take(&peer->sessions[chunk.stream].session, &chunk);
}

static struct item *await_item(struct peer *peer, enum item_kind kind, const char *what) {
    while (peer->current->session.items == NULL) {
        pump(peer);
    }
    struct item *item = session_next_item(&peer->current->session);
    if (item->kind != kind) {
        fail("%s was awaited, not %s", what,
             item->kind == CONTROL_ITEM ? function_name(item->function)
             : item->kind == MESSAGE_ITEM ? "a Send" : "an RDMAP Terminate");
    }
    return item;
}

static void await_function(struct peer *peer, unsigned function) {
    struct item *item = await_item(peer, CONTROL_ITEM, function_name(function));
    if (item->function != function) {
        fail("%s was awaited, not %s", function_name(function), function_name(item->function));
    }
    free(item);
}

// Waits for the end of the association. Fails if a user message arrives.
static void await_end(struct peer *peer, bool abort) {
    static struct chunk chunk;
    if (association_receive(&peer->association, &chunk)) {
        fail("a chunk on stream %u, where the end of the association was awaited", chunk.stream);
    }
    if (peer->association.lost != abort) {
        fail("the association was %s", abort ? "shut down, not aborted" : "aborted, not shut down");
    }
    printf("association: %s\n", abort ? "aborted by the peer" : "shut down");
}

// ---- The messages of an rping

struct offer {
    uint64_t offset;
    uint32_t stag;
    uint32_t octets;
};

static void send_offer(struct rdma *rdma, const struct memory *memory, uint32_t octets) {
    uint8_t message[OFFER_OCTETS] = {0};
    if (memory != NULL) {
        for (int i = 0; i < 8; i++) {
            message[i] = (uint8_t)(memory->base >> (56 - 8 * i));
        }
        for (int i = 0; i < 4; i++) {
            message[8 + i] = (uint8_t)(memory->stag >> (24 - 8 * i));
            message[12 + i] = (uint8_t)(octets >> (24 - 8 * i));
        }
    }
    rdma_send(rdma, message, sizeof message);
}

static struct offer await_offer(struct peer *peer) {
    struct item *item = await_item(peer, MESSAGE_ITEM, "an offer");
    if (item->length != OFFER_OCTETS) {
        fail("an offer of %zu octets", item->length);
    }
    struct offer offer = {0};
    for (int i = 0; i < 8; i++) {
        offer.offset = offer.offset << 8 | item->octets[i];
    }
    for (int i = 0; i < 4; i++) {
        offer.stag = offer.stag << 8 | item->octets[8 + i];
        offer.octets = offer.octets << 8 | item->octets[12 + i];
    }
    free(item);
    return offer;
}

static void ping(struct peer *peer, uint32_t octets) {
    struct rdma *rdma = peer->current;
    fill(rdma->source.octets, octets, ++peer->rounds);
    memset(rdma->sink.octets, 0, octets);
    send_offer(rdma, &rdma->source, octets);
    await_offer(peer);
    send_offer(rdma, &rdma->sink, octets);
    await_offer(peer);
    if (memcmp(rdma->source.octets, rdma->sink.octets, octets) != 0) {
        fail("what was written is not what was read");
    }
    printf("stream %u: %u octets read and written by the peer, CRC-32 %08x\n", rdma->session.stream, octets,
           crc32_of(rdma->sink.octets, octets));
}

static void serve(struct peer *peer) {
    struct rdma *rdma = peer->current;
    struct offer source = await_offer(peer);
    rdma_read(rdma, source.stag, source.offset, source.octets);
    while (rdma->reading > 0) {
        pump(peer);
    }
    send_offer(rdma, NULL, 0);
    struct offer sink = await_offer(peer);
    if (sink.octets != source.octets) {
        fail("%u octets to be read, and %u to be written", source.octets, sink.octets);
    }
    rdma_write(rdma, sink.stag, sink.offset, rdma->sink.octets, sink.octets);
    send_offer(rdma, NULL, 0);
    printf("stream %u: %u octets read from the peer and written, CRC-32 %08x\n", rdma->session.stream, sink.octets,
           crc32_of(rdma->sink.octets, sink.octets));
}

// ---- Commands

static const char *const FUNCTIONS[] = {
    NULL, "initiate", "accept", "reject", "terminate", "enhanced-initiate", "enhanced-accept", "enhanced-reject",
};

// Returns the function code of a name, or 0 if the name is unknown.
static unsigned function_of(const char *name) {
    for (unsigned i = 1; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++) {
        if (strcmp(name, FUNCTIONS[i]) == 0) {
            return i;
        }
    }
    return 0;
}

static void receive_send(struct peer *peer) {
    struct item *item = await_item(peer, MESSAGE_ITEM, "a Send");
    printf("stream %u: Send of %zu octets, CRC-32 %08x\n", peer->current->session.stream, item->length,
           crc32_of(item->octets, item->length));
    free(item);
}

static void send_chunk(struct session *session, const char *text, bool at) {
    uint8_t data[MAX_MESSAGE];
    uint16_t ssn = at ? (uint16_t)number(text, 10, UINT16_MAX) : session->sent++;
    const char *protocol = at ? behind_colon(text) : text;
    size_t length = octets_of(behind_colon(protocol), data, sizeof data);
    session_send_as(session, ssn, (uint32_t)number(protocol, 10, UINT32_MAX), data, length);
}

static void open_sessions(struct peer *peer) {
    if (peer->association.fragmentation_point == 0) {
        return;
    }
    for (unsigned i = 0; i < SESSIONS; i++) {
        rdma_open(&peer->sessions[i], &peer->association, (uint16_t)i);
    }
}

static bool begin(struct peer *peer, const char *name, const char *value) {
    if (strcmp(name, "adaptation") == 0) {
        peer->options.adaptation = (uint32_t)number(value, 16, UINT32_MAX);
    } else if (strcmp(name, "streams") == 0) {
        peer->options.outbound = (uint16_t)number(value, 10, UINT16_MAX);
        peer->options.inbound = (uint16_t)number(behind_colon(value), 10, UINT16_MAX);
    } else if (strcmp(name, "fragments") == 0) {
        peer->options.fragments = true;
    } else if (strcmp(name, "listen") == 0) {
        peer->association = association_accept((uint16_t)number(value, 10, UINT16_MAX), &peer->options);
        open_sessions(peer);
    } else if (strcmp(name, "connect") == 0) {
        const char *port = behind_colon(value);
        char address[64];
        snprintf(address, sizeof address, "%.*s", (int)(port - 1 - value), value);
        peer->association = association_connect(address, (uint16_t)number(port, 10, UINT16_MAX),
                                                (uint16_t)number(behind_colon(port), 10, UINT16_MAX), &peer->options);
        open_sessions(peer);
    } else {
        return false;
    }
    return true;
}

static bool end(struct peer *peer, const char *name) {
    if (strcmp(name, "shutdown") == 0 || strcmp(name, "abort") == 0) {
        association_close(&peer->association, strcmp(name, "abort") == 0);
    } else if (strcmp(name, "await-shutdown") == 0 || strcmp(name, "await-abort") == 0) {
        await_end(peer, strcmp(name, "await-abort") == 0);
    } else if (strcmp(name, "again") == 0) {
        struct rdma *rdma = peer->current;
        session_print(&rdma->session);
        rdma_print(rdma);
        rdma_open(rdma, &peer->association, rdma->session.stream);
    } else {
        return false;
    }
    return true;
}

static bool act(struct peer *peer, const char *name, const char *value) {
    static uint8_t data[MEMORY_OCTETS];
    struct rdma *rdma = peer->current;
    struct session *session = &rdma->session;
    if (strcmp(name, "stream") == 0) {
        peer->current = &peer->sessions[number(value, 10, SESSIONS - 1)];
    } else if (function_of(name) != 0) {
        session_send_control(session, function_of(name), data, octets_of(value, data, sizeof data));
    } else if (strcmp(name, "await") == 0) {
        await_function(peer, function_of(value));
    } else if (strcmp(name, "send") == 0) {
        size_t length = number(value, 10, sizeof data);
        fill(data, length, 0);
        rdma_send(rdma, data, length);
    } else if (strcmp(name, "receive") == 0) {
        receive_send(peer);
    } else if (strcmp(name, "ping") == 0) {
        ping(peer, (uint32_t)number(value, 10, MEMORY_OCTETS));
    } else if (strcmp(name, "serve") == 0) {
        serve(peer);
    } else if (strcmp(name, "write") == 0) {
        size_t length = number(behind_colon(value), 10, sizeof data);
        fill(data, length, 0);
        rdma_write(rdma, (uint32_t)number(value, 16, UINT32_MAX), 0, data, length);
    } else if (strcmp(name, "rdmap-terminate") == 0) {
        rdma_terminate(rdma, data, octets_of(value, data, sizeof data));
    } else if (strcmp(name, "await-rdmap-terminate") == 0) {
        free(await_item(peer, TERMINATE_ITEM, "an RDMAP Terminate"));
    } else if (strcmp(name, "chunk") == 0 || strcmp(name, "chunk-at") == 0) {
        send_chunk(session, value, strcmp(name, "chunk-at") == 0);
    } else if (strcmp(name, "segment") == 0) {
        rdma->segment = number(value, 10, MAX_MESSAGE - 2);
    } else if (strcmp(name, "ordered") == 0) {
        session->ordered = true;
    } else if (strcmp(name, "hold") == 0) {
        session->holding = true;
    } else if (strcmp(name, "release") == 0) {
        session_release(session);
    } else {
        return false;
    }
    return true;
}

int main(int count, char **arguments) {
    static struct peer peer = {.options = {.adaptation = ADAPTATION_DDP, .outbound = 16, .inbound = 16}};
    peer.current = &peer.sessions[0];
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < count; i++) {
        char *value = strchr(arguments[i], '=');
        if (value != NULL) {
            *value++ = '\0';
        }
        const char *name = arguments[i];
        const char *text = value == NULL ? "" : value;
        if (!begin(&peer, name, text) && !end(&peer, name) && !act(&peer, name, text)) {
            fail("unknown command %s", name);
        }
    }
    for (unsigned i = 0; i < SESSIONS; i++) {
        const struct rdma *rdma = &peer.sessions[i];
        if (rdma->session.items != NULL) {
            fail("something has come on stream %u that was not awaited", i);
        }
        if (rdma->session.chunks > 0) {
            session_print(&rdma->session);
            rdma_print(rdma);
        }
    }
    printf("done\n");
    return 0;
}
