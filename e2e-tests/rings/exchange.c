/*
 * Copyright The Sidewarp Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * One side of an exchange over two connections. The work of both connections shares three rings. exchange.py makes the
 * gRPC calls, starts this program, and talks with it over standard input and output:
 *
 *   exchange client|server SOCKET COMPLETION SEND RECEIVE FILE REGION CONNECTION CONNECTION MESSAGES
 *
 *     in   TOKEN                   in hexadecimal; not an argument, because all users can read arguments
 *     out  posted N N              number of posted receives of each connection
 *     in   connected STAG OFFSET   the peer's region
 *     out  refused TEXT            answer of the sidecar to an invalid work request
 *     out  done N N                number of all posted work requests of each connection
 *     in   end of file
 */
#include "ring.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
  CONNECTIONS = 2,
  RECEIVES = 32,
  WINDOW = 16,
  BATCH = 32,
  SLOTS = 256,
  MESSAGE = 64,
  BULK = 65536,
  /* Offsets in the region of 1 MiB: sent and received messages, target of the peer's Writes, source of Writes, sink of
   * Reads. */
  OUT = 0,
  IN = 0x10000,
  TARGET = 0x20000,
  SOURCE = 0x40000,
  COPY = 0x60000,
  COUNTER = 0x80000,
  FOUND = 0x80008,
  REGION_LENGTH = 0x100000,
  SMALL = WORK_MAX_INLINE,
};

static const uint64_t FAREWELL = 0x6661726577656c6c, NOBODY = UINT64_MAX;

static int is_client;
static struct ring completions, sends, receives;
static struct ring_socket control;
static unsigned char* memory;
static uint64_t region, connections[CONNECTIONS], messages, remote_offset;
static uint32_t remote_stag;
/* Numbers of posted work, sent and received messages, signaled work and its completions. */
static uint64_t posted[CONNECTIONS], sent[CONNECTIONS], received[CONNECTIONS], signaled, completed;
static int farewell;
static struct ring_completion last;
static char text[COMPLETION_MAX_TEXT + 1];

static void fail(const char* message) {
  fprintf(stderr, "exchange: %s\n", message);
  exit(1);
}

static int check(int result) {
  if (result < 0) {
    fail(ring_message);
  }
  return result;
}

static void expect(int condition, const char* what) {
  if (!condition) {
    snprintf(ring_message, sizeof ring_message, "%s; the last completion: id %" PRIu64 ", opcode %d, status %d: %s",
             what, last.id, last.opcode, last.status, text);
    fail(ring_message);
  }
}

static struct ring_element part(uint64_t offset, uint32_t length) {
  return (struct ring_element){region, offset, length, 0};
}

/*
 * Posts to connection `c`. Waits for free blocks without taking completions: the completion ring has room for all work
 * that can be outstanding. Releases taken completions first, because the sidecar may wait for their blocks.
 */
static void post(struct ring* ring, int c, struct ring_work work) {
  work.connection = connections[c];
  work.tag = c;
  while (check(ring_post(ring, &work)) == 0) {
    check(ring_release(&control, &completions));
    check(ring_wake(&control, ring));
    check(ring_wait_free(&control, ring, WORK_MAX_BLOCKS));
  }
  posted[c]++;
  signaled += ring == &sends && (work.flags & WORK_FLAG_UNSIGNALED) == 0;
}

static void post_receive(int c, uint64_t slot) {
  struct ring_element element = part(IN + (c * SLOTS + slot) * MESSAGE, MESSAGE);
  post(&receives, c, (struct ring_work){.id = slot, .opcode = WORK_OPCODE_RECEIVE, .elements = &element, .count = 1});
}

/* Fills in message `number` of connection `c`, as the client or the server sends it. */
static void compose(uint64_t message[MESSAGE / 8], int from_client, int c, uint64_t number) {
  for (int i = 0; i < MESSAGE / 8; i++) {
    message[i] = (uint64_t)from_client << 56 | (uint64_t)c << 48 | number << 8 | i;
  }
}

/* Sends the next message: from one element, from three, or in the entry. One of eight messages has a completion. */
static void send_message(int c) {
  uint64_t number = sent[c]++, offset = OUT + (c * SLOTS + number % SLOTS) * MESSAGE;
  struct ring_element elements[] = {part(offset, 16), part(offset + 16, 16), part(offset + 32, 32)};
  struct ring_work work = {.id = number, .opcode = WORK_OPCODE_SEND, .elements = elements, .count = 3};
  /* The slot can be written again, because the peer has answered its previous message. */
  compose((uint64_t*)(memory + offset), is_client, c, number);
  work.flags = number % 8 == 7 ? WORK_FLAG_SOLICITED : WORK_FLAG_UNSIGNALED;
  if (number % 3 == 1) {
    elements[0] = part(offset, MESSAGE);
    work.count = 1;
  } else if (number % 3 == 2) {
    work.flags |= WORK_FLAG_INLINE;
    work.count = 0;
    work.payload = memory + offset;
    work.payload_length = MESSAGE;
  }
  post(&sends, c, work);
}

static void handle_receive(void) {
  uint64_t expected[MESSAGE / 8];
  int c = last.tag;
  expect(c < CONNECTIONS && last.connection == connections[c], "A receive has the wrong connection or tag");
  if (last.flags & COMPLETION_FLAG_IMMEDIATE) {
    expect(last.result == FAREWELL && (last.flags & COMPLETION_FLAG_SOLICITED) != 0, "The immediate data is wrong");
    farewell = 1;
    return;
  }
  compose(expected, !is_client, c, received[c]);
  expect(last.length == MESSAGE && memcmp(expected, memory + IN + (c * SLOTS + last.id) * MESSAGE, MESSAGE) == 0,
         "A message is wrong");
  expect(((last.flags & COMPLETION_FLAG_SOLICITED) != 0) == (received[c] % 8 == 7),
         "A message has the wrong solicited event");
  received[c]++;
  post_receive(c, last.id);
  if (!is_client) {
    send_message(c);
  }
}

/* Waits, spinning or asleep, then takes some completions. Returns 1 after the completion of send work `id`. */
static int take(uint64_t id, int asleep) {
  check(ring_wake(&control, &receives));
  check(ring_wake(&control, &sends));
  check(asleep ? ring_wait(&control, &completions, RING_WAITS_FOR_ANY, -1) : ring_spin(&control, &completions));
  int found = 0;
  /* A batch has a limit, so that blocks are released while completions keep arriving. */
  for (int i = 0; i < BATCH && !found && check(ring_take(&completions, &last, text)) == 1; i++) {
    int is_receive = last.opcode == WORK_OPCODE_RECEIVE;
    found = !is_receive && last.id == id;
    completed += !is_receive;
    expect(last.status == COMPLETION_STATUS_SUCCESS || found, "Work failed");
    if (is_receive) {
      handle_receive();
    }
  }
  check(ring_release(&control, &completions));
  return found;
}

/* Posts send work and waits for its completion. */
static void perform(int c, struct ring_work work) {
  work.id = 1000000000 + posted[c];
  post(&sends, c, work);
  while (!take(work.id, posted[c] % 2)) {
  }
}

static void exchange_messages(void) {
  while (received[0] < messages || received[1] < messages) {
    for (int c = 0; is_client && c < CONNECTIONS; c++) {
      while (sent[c] < messages && sent[c] - received[c] < WINDOW) {
        send_message(c);
      }
    }
    take(NOBODY, received[0] >= messages / 2);
  }
}

/* Writes to the peer, reads back, and does atomic operations. The final Write with Immediate ends the peer's loop. */
static void use_remote_memory(void) {
  unsigned char small[SMALL];
  struct ring_element pieces[5], whole = part(SOURCE, BULK), copy = part(COPY, BULK + SMALL), found = part(FOUND, 8);
  for (int i = 0; i < BULK; i++) {
    memory[SOURCE + i] = i * 31 + (i >> 8);
  }
  for (int i = 0; i < SMALL; i++) {
    small[i] = 255 - i;
  }
  for (int i = 0; i < 5; i++) {
    pieces[i] = part(SOURCE + i * 13000, i < 4 ? 13000 : BULK - 4 * 13000);
  }
  struct ring_work work = {.opcode = WORK_OPCODE_WRITE, .flags = WORK_FLAG_UNSIGNALED, .remote_stag = remote_stag};
  work.remote_offset = remote_offset + TARGET;
  work.elements = pieces;
  work.count = 5;
  post(&sends, 0, work);
  work.flags = WORK_FLAG_UNSIGNALED | WORK_FLAG_INLINE;
  work.remote_offset += BULK;
  work.count = 0;
  work.payload = small;
  work.payload_length = SMALL;
  post(&sends, 0, work);
  perform(0, (struct ring_work){.opcode = WORK_OPCODE_READ,
                                .remote_stag = remote_stag,
                                .remote_offset = remote_offset + TARGET,
                                .elements = &copy,
                                .count = 1});
  expect(last.status == COMPLETION_STATUS_SUCCESS && last.length == BULK + SMALL, "The Read failed");
  expect(memcmp(memory + COPY, memory + SOURCE, BULK) == 0 && memcmp(memory + COPY + BULK, small, SMALL) == 0,
         "What was read back is not what was written");

  perform(1, (struct ring_work){.opcode = WORK_OPCODE_FETCH_ADD,
                                .remote_stag = remote_stag,
                                .remote_offset = remote_offset + COUNTER,
                                .elements = &found,
                                .count = 1,
                                .operand = 5});
  expect(last.status == COMPLETION_STATUS_SUCCESS && (last.flags & COMPLETION_FLAG_ORIGINAL) && last.result == 0,
         "Fetch Add failed");
  perform(1, (struct ring_work){.opcode = WORK_OPCODE_COMPARE_SWAP,
                                .flags = WORK_FLAG_FENCE,
                                .remote_stag = remote_stag,
                                .remote_offset = remote_offset + COUNTER,
                                .operand = FAREWELL,
                                .operand_mask = -1,
                                .compare = 5,
                                .compare_mask = -1});
  expect(last.status == COMPLETION_STATUS_SUCCESS && (last.flags & COMPLETION_FLAG_ORIGINAL) && last.result == 5,
         "Compare Swap failed");
  perform(0, (struct ring_work){.opcode = WORK_OPCODE_FLUSH});
  expect(last.status == COMPLETION_STATUS_SUCCESS, "Flush failed");
  perform(1, (struct ring_work){.opcode = WORK_OPCODE_WRITE_WITH_IMMEDIATE,
                                .flags = WORK_FLAG_SOLICITED,
                                .remote_stag = remote_stag,
                                .remote_offset = remote_offset + TARGET,
                                .elements = &whole,
                                .count = 1,
                                .operand = FAREWELL});
  expect(last.status == COMPLETION_STATUS_SUCCESS, "Write with Immediate failed");
}

/* Posts an invalid work request: no flag has this bit. The connection stays usable. */
static void be_refused(void) {
  perform(0, (struct ring_work){.opcode = WORK_OPCODE_SEND, .flags = 1u << 30});
  expect(last.status == COMPLETION_STATUS_INVALID_REQUEST && text[0] != 0,
         "A wrong work request was not refused with a text");
  printf("refused code %d, retry %d: %s\n", last.code, last.retry, text);
}

static void* map_region(const char* path) {
  int file = open(path, O_RDWR | O_CLOEXEC);
  void* mapped = file < 0 ? MAP_FAILED : mmap(NULL, REGION_LENGTH, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) {
    perror(path);
    exit(1);
  }
  close(file);
  return mapped;
}

static void read_token(unsigned char token[RECORD_TOKEN_LENGTH]) {
  for (int i = 0; i < RECORD_TOKEN_LENGTH; i++) {
    unsigned octet;
    expect(scanf("%2x", &octet) == 1, "Standard input has no token of 32 bytes in hexadecimal");
    token[i] = octet;
  }
}

int main(int count, char** arguments) {
  unsigned char token[RECORD_TOKEN_LENGTH];
  if (count != 11) {
    fail("usage: exchange client|server SOCKET COMPLETION SEND RECEIVE FILE REGION CONNECTION CONNECTION MESSAGES");
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  is_client = strcmp(arguments[1], "client") == 0;
  region = strtoull(arguments[7], NULL, 10);
  connections[0] = strtoull(arguments[8], NULL, 10);
  connections[1] = strtoull(arguments[9], NULL, 10);
  messages = strtoull(arguments[10], NULL, 10);
  read_token(token);
  check(ring_map(&completions, arguments[3], RING_KIND_COMPLETION));
  check(ring_map(&sends, arguments[4], RING_KIND_SEND));
  check(ring_map(&receives, arguments[5], RING_KIND_RECEIVE));
  memory = map_region(arguments[6]);
  check(ring_connect(&control, arguments[2], token));

  for (uint64_t slot = 0; slot < RECEIVES; slot++) {
    post_receive(0, slot);
    post_receive(1, slot);
  }
  check(ring_wake(&control, &receives));
  printf("posted %" PRIu64 " %" PRIu64 "\n", posted[0], posted[1]);
  if (scanf(" connected %" SCNu32 " %" SCNu64, &remote_stag, &remote_offset) != 2) {
    fail("Standard input does not say: connected STAG OFFSET");
  }
  printf("exchanging\n");
  exchange_messages();
  if (is_client) {
    use_remote_memory();
  }
  be_refused();
  while (completed < signaled || (!is_client && !farewell)) {
    take(NOBODY, 1);
  }
  expect(completed == signaled, "Unsignaled work has a completion");
  expect(is_client ||
             (memory[TARGET + 1000] == (unsigned char)(1000 * 31 + 3) && *(uint64_t*)(memory + COUNTER) == FAREWELL),
         "The peer's data is not here");
  printf("done %" PRIu64 " %" PRIu64 "\n", posted[0], posted[1]);
  while (getchar() != EOF) {
  }
  close(control.descriptor);
  ring_unmap(&completions);
  ring_unmap(&sends);
  ring_unmap(&receives);
  return 0;
}
