/*
 * Copyright The Sidewarp Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The layout of the files and records of rings: the tables of docs/rings.md in C11.
 */
#ifndef SIDEWARP_RING_LAYOUT_H
#define SIDEWARP_RING_LAYOUT_H

#include <stdint.h>

enum {
  RING_MAGIC = 0x53575247,
  RING_VERSION = 1,
  RING_DATA_OFFSET = 512,
  RING_BLOCK_SIZE = 64,
  RING_MIN_BLOCKS = 16,
  WORK_MAX_ELEMENTS = 16,
  WORK_MAX_BLOCKS = 10,
  WORK_BLOCK_PAYLOAD = 56,
  WORK_MAX_INLINE = 256,
  COMPLETION_BLOCK_TEXT = 56,
  COMPLETION_MAX_TEXT = 448,
  COMPLETION_MAX_BLOCKS = 9,
  RECORD_VERSION = 1,
  RECORD_MAX_LENGTH = 4096,
  RECORD_TOKEN_LENGTH = 32,
};

enum { RING_KIND_SEND = 1, RING_KIND_RECEIVE = 2, RING_KIND_COMPLETION = 3 };

enum { RING_STATE_OPEN = 0, RING_STATE_ENDED = 1 };

enum { RING_WAITS_NOT = 0, RING_WAITS_FOR_ANY = 1, RING_WAITS_FOR_SOLICITED = 2 };

/* Values of Opcode in transfer.proto. */
enum {
  WORK_OPCODE_WRITE = 1,
  WORK_OPCODE_READ = 2,
  WORK_OPCODE_SEND = 3,
  WORK_OPCODE_RECEIVE = 4,
  WORK_OPCODE_IMMEDIATE = 5,
  WORK_OPCODE_WRITE_WITH_IMMEDIATE = 6,
  WORK_OPCODE_FETCH_ADD = 7,
  WORK_OPCODE_COMPARE_SWAP = 8,
  WORK_OPCODE_LOCAL_INVALIDATE = 9,
  WORK_OPCODE_ENABLE = 10,
  WORK_OPCODE_FLUSH = 11,
};

/* Values of CompletionStatus in transfer.proto. */
enum {
  COMPLETION_STATUS_SUCCESS = 1,
  COMPLETION_STATUS_FLUSHED = 2,
  COMPLETION_STATUS_LOCAL_PROTECTION_ERROR = 3,
  COMPLETION_STATUS_REMOTE_ACCESS_ERROR = 4,
  COMPLETION_STATUS_REMOTE_OPERATION_ERROR = 5,
  COMPLETION_STATUS_LOCAL_LENGTH_ERROR = 6,
  COMPLETION_STATUS_REGION_FAULT = 7,
  COMPLETION_STATUS_INVALID_REQUEST = 8,
  COMPLETION_STATUS_FATAL = 9,
};

/* Flags of work requests. */
enum {
  WORK_FLAG_FENCE = 1,
  WORK_FLAG_LOCAL_FENCE = 2,
  WORK_FLAG_UNSIGNALED = 4,
  WORK_FLAG_SOLICITED = 8,
  WORK_FLAG_INVALIDATE = 16,
  WORK_FLAG_WITH_FLUSH = 32,
  WORK_FLAG_SHARED = 64,
  WORK_FLAG_INLINE = 128,
  WORK_FLAGS = 255,
};

/* Flags of completions. */
enum {
  COMPLETION_FLAG_SOLICITED = 1,
  COMPLETION_FLAG_INVALIDATED = 2,
  COMPLETION_FLAG_IMMEDIATE = 4,
  COMPLETION_FLAG_ORIGINAL = 8,
  COMPLETION_FLAG_ERROR = 16
};

/* Types of records on the socket. */
enum { RECORD_HELLO = 1, RECORD_WELCOME = 2, RECORD_WAKE = 3, RECORD_END = 4, RECORD_ERROR = 5 };

struct ring_header {
  uint32_t magic, version, kind, data_offset, blocks, block_size;
  uint64_t ring, completion_ring;
  unsigned char padding_0[88];
  _Atomic uint32_t producer_waits;
  unsigned char padding_1[124];
  _Atomic uint64_t consumed;
  unsigned char padding_2[120];
  _Atomic uint32_t consumer_waits;
  unsigned char padding_3[60];
  _Atomic uint32_t state;
  unsigned char padding_4[60];
};

/* A local element. In element 0, `flags` holds the flags of the work request; in other elements it is zero. */
struct ring_element {
  uint64_t region, offset;
  uint32_t length, flags;
};

struct ring_entry {
  _Atomic uint64_t sequence;
  uint64_t id, connection;
  uint8_t opcode, blocks, elements, tag;
  uint32_t remote_stag;
  uint64_t remote_offset;
  struct ring_element element;
};

struct ring_operands {
  uint64_t sequence, operand, operand_mask, compare, compare_mask;
};

struct ring_elements {
  uint64_t sequence;
  struct ring_element element[2];
};

struct ring_payload {
  uint64_t sequence;
  unsigned char bytes[WORK_BLOCK_PAYLOAD];
};

struct ring_completion {
  _Atomic uint64_t sequence;
  uint64_t id, connection;
  uint8_t opcode, blocks, status, tag;
  uint32_t flags;
  uint64_t length, result;
  uint32_t invalidated_stag;
  uint8_t error_layer, error_type, error_code, error_remote;
  uint8_t code, retry;
  uint16_t text_length;
  uint32_t padding;
};

union ring_block {
  struct ring_entry entry;
  struct ring_operands operands;
  struct ring_elements elements;
  struct ring_payload payload;
  struct ring_completion completion;
  unsigned char bytes[RING_BLOCK_SIZE];
};

struct ring_record {
  uint32_t length;
  uint16_t version, type;
  uint64_t value;
};

_Static_assert(sizeof(struct ring_header) == RING_DATA_OFFSET, "the header ends where the first block begins");
_Static_assert(sizeof(union ring_block) == RING_BLOCK_SIZE, "no block is larger than another");
_Static_assert(sizeof(struct ring_record) == 16, "records have a header of 16 bytes");

#endif
