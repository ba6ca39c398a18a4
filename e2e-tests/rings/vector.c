/*
 * Copyright The Sidewarp Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Prints the constants of ring-layout.h and the example records of docs/rings-vector.txt, in the format of that file.
 */
#include "ring.h"

#include <inttypes.h>

#define CONSTANT(name) constant(#name, name)

static void constant(const char* name, uint64_t value) { printf("constant %s %" PRIu64 "\n", name, value); }

static void record(const char* name, const void* bytes, size_t length) {
  printf("record %s ", name);
  for (size_t i = 0; i < length; i++) {
    printf("%02x", ((const unsigned char*)bytes)[i]);
  }
  printf("\n");
}

static void work(const char* name, struct ring_work work) {
  union ring_block blocks[WORK_MAX_BLOCKS];
  int count = ring_encode(blocks, 0, &work);
  record(name, blocks, count < 0 ? 0 : count * sizeof blocks[0]);
}

static void socket_record(const char* name, uint16_t type, uint64_t value, const void* body, size_t length) {
  unsigned char bytes[RECORD_MAX_LENGTH];
  record(name, bytes, ring_encode_record(bytes, type, value, body, length));
}

static void print_constants(void) {
  CONSTANT(RING_MAGIC);
  CONSTANT(RING_VERSION);
  CONSTANT(RING_KIND_SEND);
  CONSTANT(RING_KIND_RECEIVE);
  CONSTANT(RING_KIND_COMPLETION);
  constant("RING_MAGIC_OFFSET", offsetof(struct ring_header, magic));
  constant("RING_VERSION_OFFSET", offsetof(struct ring_header, version));
  constant("RING_KIND_OFFSET", offsetof(struct ring_header, kind));
  constant("RING_DATA_OFFSET_OFFSET", offsetof(struct ring_header, data_offset));
  constant("RING_BLOCKS_OFFSET", offsetof(struct ring_header, blocks));
  constant("RING_BLOCK_SIZE_OFFSET", offsetof(struct ring_header, block_size));
  constant("RING_RING_OFFSET", offsetof(struct ring_header, ring));
  constant("RING_COMPLETION_RING_OFFSET", offsetof(struct ring_header, completion_ring));
  constant("RING_PRODUCER_WAITS_OFFSET", offsetof(struct ring_header, producer_waits));
  constant("RING_CONSUMED_OFFSET", offsetof(struct ring_header, consumed));
  constant("RING_CONSUMER_WAITS_OFFSET", offsetof(struct ring_header, consumer_waits));
  constant("RING_STATE_OFFSET", offsetof(struct ring_header, state));
  CONSTANT(RING_DATA_OFFSET);
  CONSTANT(RING_BLOCK_SIZE);
  CONSTANT(RING_MIN_BLOCKS);
  CONSTANT(RING_WAITS_NOT);
  CONSTANT(RING_WAITS_FOR_ANY);
  CONSTANT(RING_WAITS_FOR_SOLICITED);
  CONSTANT(RING_STATE_OPEN);
  CONSTANT(RING_STATE_ENDED);
  constant("WORK_ID_OFFSET", offsetof(struct ring_entry, id));
  constant("WORK_CONNECTION_OFFSET", offsetof(struct ring_entry, connection));
  constant("WORK_OPCODE_OFFSET", offsetof(struct ring_entry, opcode));
  constant("WORK_BLOCKS_OFFSET", offsetof(struct ring_entry, blocks));
  constant("WORK_ELEMENTS_OFFSET", offsetof(struct ring_entry, elements));
  constant("WORK_TAG_OFFSET", offsetof(struct ring_entry, tag));
  constant("WORK_REMOTE_STAG_OFFSET", offsetof(struct ring_entry, remote_stag));
  constant("WORK_REMOTE_OFFSET_OFFSET", offsetof(struct ring_entry, remote_offset));
  constant("WORK_ELEMENT_OFFSET", offsetof(struct ring_entry, element));
  constant("WORK_FLAGS_OFFSET", offsetof(struct ring_entry, element.flags));
  constant("WORK_ELEMENT_REGION_OFFSET", offsetof(struct ring_element, region));
  constant("WORK_ELEMENT_OFFSET_OFFSET", offsetof(struct ring_element, offset));
  constant("WORK_ELEMENT_LENGTH_OFFSET", offsetof(struct ring_element, length));
  constant("WORK_ELEMENT_SIZE", sizeof(struct ring_element));
  constant("WORK_ELEMENT_BLOCK_OFFSET", offsetof(struct ring_elements, element));
  constant("WORK_OPERAND_OFFSET", offsetof(struct ring_operands, operand));
  constant("WORK_OPERAND_MASK_OFFSET", offsetof(struct ring_operands, operand_mask));
  constant("WORK_COMPARE_OFFSET", offsetof(struct ring_operands, compare));
  constant("WORK_COMPARE_MASK_OFFSET", offsetof(struct ring_operands, compare_mask));
  CONSTANT(WORK_OPCODE_WRITE);
  CONSTANT(WORK_OPCODE_READ);
  CONSTANT(WORK_OPCODE_SEND);
  CONSTANT(WORK_OPCODE_RECEIVE);
  CONSTANT(WORK_OPCODE_IMMEDIATE);
  CONSTANT(WORK_OPCODE_WRITE_WITH_IMMEDIATE);
  CONSTANT(WORK_OPCODE_FETCH_ADD);
  CONSTANT(WORK_OPCODE_COMPARE_SWAP);
  CONSTANT(WORK_OPCODE_LOCAL_INVALIDATE);
  CONSTANT(WORK_OPCODE_ENABLE);
  CONSTANT(WORK_OPCODE_FLUSH);
  CONSTANT(WORK_FLAG_FENCE);
  CONSTANT(WORK_FLAG_LOCAL_FENCE);
  CONSTANT(WORK_FLAG_UNSIGNALED);
  CONSTANT(WORK_FLAG_SOLICITED);
  CONSTANT(WORK_FLAG_INVALIDATE);
  CONSTANT(WORK_FLAG_WITH_FLUSH);
  CONSTANT(WORK_FLAG_SHARED);
  CONSTANT(WORK_FLAG_INLINE);
  CONSTANT(WORK_FLAGS);
  CONSTANT(WORK_MAX_ELEMENTS);
  CONSTANT(WORK_MAX_BLOCKS);
  CONSTANT(WORK_BLOCK_PAYLOAD);
  CONSTANT(WORK_MAX_INLINE);
  constant("COMPLETION_ID_OFFSET", offsetof(struct ring_completion, id));
  constant("COMPLETION_CONNECTION_OFFSET", offsetof(struct ring_completion, connection));
  constant("COMPLETION_OPCODE_OFFSET", offsetof(struct ring_completion, opcode));
  constant("COMPLETION_BLOCKS_OFFSET", offsetof(struct ring_completion, blocks));
  constant("COMPLETION_STATUS_OFFSET", offsetof(struct ring_completion, status));
  constant("COMPLETION_TAG_OFFSET", offsetof(struct ring_completion, tag));
  constant("COMPLETION_FLAGS_OFFSET", offsetof(struct ring_completion, flags));
  constant("COMPLETION_LENGTH_OFFSET", offsetof(struct ring_completion, length));
  constant("COMPLETION_RESULT_OFFSET", offsetof(struct ring_completion, result));
  constant("COMPLETION_INVALIDATED_STAG_OFFSET", offsetof(struct ring_completion, invalidated_stag));
  constant("COMPLETION_ERROR_LAYER_OFFSET", offsetof(struct ring_completion, error_layer));
  constant("COMPLETION_ERROR_TYPE_OFFSET", offsetof(struct ring_completion, error_type));
  constant("COMPLETION_ERROR_CODE_OFFSET", offsetof(struct ring_completion, error_code));
  constant("COMPLETION_ERROR_REMOTE_OFFSET", offsetof(struct ring_completion, error_remote));
  constant("COMPLETION_CODE_OFFSET", offsetof(struct ring_completion, code));
  constant("COMPLETION_RETRY_OFFSET", offsetof(struct ring_completion, retry));
  constant("COMPLETION_TEXT_LENGTH_OFFSET", offsetof(struct ring_completion, text_length));
  CONSTANT(COMPLETION_FLAG_SOLICITED);
  CONSTANT(COMPLETION_FLAG_INVALIDATED);
  CONSTANT(COMPLETION_FLAG_IMMEDIATE);
  CONSTANT(COMPLETION_FLAG_ORIGINAL);
  CONSTANT(COMPLETION_FLAG_ERROR);
  CONSTANT(COMPLETION_STATUS_SUCCESS);
  CONSTANT(COMPLETION_BLOCK_TEXT);
  CONSTANT(COMPLETION_MAX_TEXT);
  CONSTANT(COMPLETION_MAX_BLOCKS);
  CONSTANT(RECORD_VERSION);
  CONSTANT(RECORD_HELLO);
  CONSTANT(RECORD_WELCOME);
  CONSTANT(RECORD_WAKE);
  CONSTANT(RECORD_END);
  CONSTANT(RECORD_ERROR);
  constant("RECORD_HEADER", sizeof(struct ring_record));
  constant("RECORD_LENGTH_OFFSET", offsetof(struct ring_record, length));
  constant("RECORD_VERSION_OFFSET", offsetof(struct ring_record, version));
  constant("RECORD_TYPE_OFFSET", offsetof(struct ring_record, type));
  constant("RECORD_VALUE_OFFSET", offsetof(struct ring_record, value));
  CONSTANT(RECORD_MAX_LENGTH);
  CONSTANT(RECORD_TOKEN_LENGTH);
}

static void print_work(void) {
  struct ring_element one[] = {{3, 4096, 8192, 0}}, three[] = {{3, 0, 16, 0}, {3, 64, 32, 0}, {4, 128, 48, 0}};
  struct ring_element found[] = {{3, 256, 8, 0}}, shared[] = {{3, 512, 1024, 0}};
  const uint32_t stag = 0xa1b2c3d4;
  const char payload[] = "sixty bytes of payload stand in two blocks behind the first.";

  work("WRITE", (struct ring_work){.id = 0x1122334455667788,
                                   .connection = 5,
                                   .opcode = WORK_OPCODE_WRITE,
                                   .tag = 7,
                                   .flags = WORK_FLAG_UNSIGNALED,
                                   .remote_stag = stag,
                                   .remote_offset = 0x10000001000,
                                   .elements = one,
                                   .count = 1});
  work("SEND_SOLICITED", (struct ring_work){.id = 2,
                                            .connection = 5,
                                            .opcode = WORK_OPCODE_SEND,
                                            .flags = WORK_FLAG_SOLICITED,
                                            .elements = three,
                                            .count = 3});
  work("COMPARE_SWAP", (struct ring_work){.id = 3,
                                          .connection = 5,
                                          .opcode = WORK_OPCODE_COMPARE_SWAP,
                                          .flags = WORK_FLAG_FENCE,
                                          .remote_stag = stag,
                                          .remote_offset = 0x10000001008,
                                          .elements = found,
                                          .count = 1,
                                          .operand = 0x99,
                                          .operand_mask = -1,
                                          .compare = 0x77,
                                          .compare_mask = -1});
  work("SEND_INLINE", (struct ring_work){.id = 4,
                                         .connection = 5,
                                         .opcode = WORK_OPCODE_SEND,
                                         .flags = WORK_FLAG_INLINE,
                                         .payload = payload,
                                         .payload_length = strlen(payload)});
  work("RECEIVE_SHARED", (struct ring_work){.id = 5,
                                            .connection = 9,
                                            .opcode = WORK_OPCODE_RECEIVE,
                                            .flags = WORK_FLAG_SHARED,
                                            .elements = shared,
                                            .count = 1});
}

static void print_completions(void) {
  const char text[] = "the write ends behind the region of the peer; use a smaller length";
  struct ring_completion success = {.sequence = 1,
                                    .id = 5,
                                    .connection = 5,
                                    .opcode = WORK_OPCODE_RECEIVE,
                                    .blocks = 1,
                                    .status = COMPLETION_STATUS_SUCCESS,
                                    .tag = 7,
                                    .flags = COMPLETION_FLAG_SOLICITED | COMPLETION_FLAG_INVALIDATED,
                                    .length = 96,
                                    .invalidated_stag = 0xa1b2c3d4};
  record("COMPLETION_SUCCESS", &success, sizeof success);

  union ring_block failed[3] = {{.completion = {.sequence = 1,
                                                .id = 1,
                                                .connection = 5,
                                                .opcode = WORK_OPCODE_WRITE,
                                                .blocks = 3,
                                                .status = 4,
                                                .tag = 7,
                                                .flags = COMPLETION_FLAG_ERROR,
                                                .error_layer = 1,
                                                .error_type = 1,
                                                .error_code = 1,
                                                .error_remote = 1,
                                                .code = 9,
                                                .retry = 3,
                                                .text_length = strlen(text)}},
                                {.payload = {.sequence = 2}},
                                {.payload = {.sequence = 3}}};
  memcpy(failed[1].payload.bytes, text, COMPLETION_BLOCK_TEXT);
  memcpy(failed[2].payload.bytes, text + COMPLETION_BLOCK_TEXT, strlen(text) - COMPLETION_BLOCK_TEXT);
  record("COMPLETION_FAILED", failed, sizeof failed);
}

int main(void) {
  struct ring_header header = {.magic = RING_MAGIC,
                               .version = RING_VERSION,
                               .kind = RING_KIND_SEND,
                               .data_offset = RING_DATA_OFFSET,
                               .blocks = 16,
                               .block_size = RING_BLOCK_SIZE,
                               .ring = 0x202,
                               .completion_ring = 0x201};
  unsigned char token[RECORD_TOKEN_LENGTH];
  for (int i = 0; i < RECORD_TOKEN_LENGTH; i++) {
    token[i] = 0xe0 + i;
  }
  print_constants();
  record("HEADER", &header, sizeof header);
  print_work();
  print_completions();
  socket_record("HELLO", RECORD_HELLO, 0, token, sizeof token);
  socket_record("WELCOME", RECORD_WELCOME, 0x201, NULL, 0);
  socket_record("WAKE", RECORD_WAKE, 0x202, NULL, 0);
  socket_record("END", RECORD_END, 0x202, "destroyed", 9);
  socket_record("ERROR", RECORD_ERROR, 16, "wrong token", 11);
  return 0;
}
