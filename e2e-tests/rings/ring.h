/*
 * Copyright The Sidewarp Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Queues in shared memory, as docs/rings.md describes them, in C11 for Linux. Header-only: needs ring-layout.h and no
 * library.
 *
 *   post:     ring_post() for each work request, then ring_wake() once
 *   complete: ring_take() while it returns 1, at most some dozen times, then ring_release() once
 *   wait:     ring_spin() or ring_wait() for completions, ring_wait_free() for free blocks
 *
 * Only one thread may use a ring. Functions return -1 for errors; ring_message says what failed and what to do.
 */
#ifndef SIDEWARP_RING_H
#define SIDEWARP_RING_H

#include "ring-layout.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* A mapped ring. */
struct ring {
  struct ring_header* header;
  union ring_block* blocks;
  size_t length;
  uint64_t id;
  uint64_t mask;
  /* Number of the next block to write or to read. */
  uint64_t next;
  /* Completion ring: `next` at the last ring_release(). */
  uint64_t released;
};

/* A work request. Members that the opcode does not use are zero. */
struct ring_work {
  uint64_t id, connection;
  uint8_t opcode, tag;
  uint32_t flags, remote_stag;
  /* For Immediate Data, the data. */
  uint64_t remote_offset;
  /* Local elements. For Local Invalidate and Enable, one element that names the region. */
  const struct ring_element* elements;
  unsigned count;
  /* Payload that replaces the elements, with WORK_FLAG_INLINE. */
  const void* payload;
  uint32_t payload_length;
  uint64_t operand, operand_mask, compare, compare_mask;
};

/* The socket of a completion ring. The work rings of that completion ring use it, too. */
struct ring_socket {
  int descriptor;
  size_t filled;
  unsigned char bytes[RECORD_MAX_LENGTH];
};

/* Message about the last failure in this thread: what failed, and what to do. */
static _Thread_local char ring_message[640] __attribute__((unused));

__attribute__((format(printf, 1, 2), unused)) static int ring_fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(ring_message, sizeof ring_message, format, arguments);
  va_end(arguments);
  return -1;
}

/* --- Rings ------------------------------------------------------------------------------------------------------- */

/* Maps the file of a ring. */
static inline int ring_map(struct ring* ring, const char* path, uint32_t kind) {
  struct stat status;
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) {
    return ring_fail(
        "Cannot open ring %s: %s. Mount the sidecar's shared volume, and use the user that created the ring.", path,
        strerror(errno));
  }
  if (fstat(file, &status) != 0 || status.st_size < RING_DATA_OFFSET + RING_BLOCK_SIZE) {
    close(file);
    return ring_fail("Ring %s has %lld bytes, fewer than its header and a block. Create it again.", path,
                     (long long)status.st_size);
  }
  struct ring_header* header = mmap(NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  int error = errno;
  close(file);
  if (header == MAP_FAILED) {
    return ring_fail("Cannot map ring %s: %s.", path, strerror(error));
  }
  uint64_t needed = header->data_offset + (uint64_t)header->blocks * RING_BLOCK_SIZE;
  int result = 0;
  if (header->magic != RING_MAGIC || header->version != RING_VERSION || header->block_size != RING_BLOCK_SIZE) {
    result = ring_fail(
        "Ring %s has magic 0x%x, version %u, blocks of %u bytes; expected 0x%x, %d, %d. Use the ring.h of the "
        "sidecar's version.",
        path, header->magic, header->version, header->block_size, RING_MAGIC, RING_VERSION, RING_BLOCK_SIZE);
  } else if (header->kind != kind) {
    result =
        ring_fail("Ring %s is of kind %u; expected %u. Give the file of the other ring.", path, header->kind, kind);
  } else if (header->blocks == 0 || (header->blocks & (header->blocks - 1)) != 0 || needed > (uint64_t)status.st_size) {
    result = ring_fail("Ring %s has %lld bytes and %u blocks; expected a power of two and %llu bytes. Create it again.",
                       path, (long long)status.st_size, header->blocks, (unsigned long long)needed);
  }
  if (result != 0) {
    munmap(header, status.st_size);
    return result;
  }
  *ring = (struct ring){.header = header,
                        .blocks = (union ring_block*)((unsigned char*)header + header->data_offset),
                        .length = status.st_size,
                        .id = header->ring,
                        .mask = header->blocks - 1};
  return 0;
}

static inline void ring_unmap(struct ring* ring) {
  munmap(ring->header, ring->length);
  ring->header = NULL;
}

static inline union ring_block* ring_block_at(const struct ring* ring, uint64_t number) {
  return &ring->blocks[number & ring->mask];
}

/* Writes an entry into `blocks`, and returns its number of blocks. `first` is the number of its first block. */
static inline int ring_encode(union ring_block blocks[WORK_MAX_BLOCKS], uint64_t first, const struct ring_work* work) {
  int is_inline = (work->flags & WORK_FLAG_INLINE) != 0;
  int names_region = work->opcode == WORK_OPCODE_LOCAL_INVALIDATE || work->opcode == WORK_OPCODE_ENABLE;
  int count = 1;
  if (work->count > WORK_MAX_ELEMENTS) {
    return ring_fail("A work request has %u elements; at most %d fit. Post several requests.", work->count,
                     WORK_MAX_ELEMENTS);
  }
  if (is_inline && (work->count != 0 || work->payload_length > WORK_MAX_INLINE)) {
    return ring_fail(
        "An inline work request has %u bytes and %u elements; at most %d bytes and no element fit. Use a region.",
        work->payload_length, work->count, WORK_MAX_INLINE);
  }
  memset(blocks, 0, WORK_MAX_BLOCKS * RING_BLOCK_SIZE);
  struct ring_entry* entry = &blocks[0].entry;
  entry->id = work->id;
  entry->connection = work->connection;
  entry->opcode = work->opcode;
  entry->elements = names_region ? 0 : work->count;
  entry->tag = work->tag;
  entry->remote_stag = work->remote_stag;
  entry->remote_offset = work->remote_offset;
  if (work->count > 0) {
    entry->element = work->elements[0];
  }
  if (is_inline) {
    entry->element.length = work->payload_length;
  }
  entry->element.flags = work->flags;
  if (work->opcode >= WORK_OPCODE_WRITE_WITH_IMMEDIATE && work->opcode <= WORK_OPCODE_COMPARE_SWAP) {
    struct ring_operands* operands = &blocks[count++].operands;
    operands->operand = work->operand;
    operands->operand_mask = work->operand_mask;
    operands->compare = work->compare;
    operands->compare_mask = work->compare_mask;
  }
  for (unsigned i = 1; i < work->count; i += 2, count++) {
    for (unsigned j = i; j < work->count && j < i + 2; j++) {
      blocks[count].elements.element[j - i] = work->elements[j];
      blocks[count].elements.element[j - i].flags = 0;
    }
  }
  for (uint32_t done = 0; is_inline && done < work->payload_length; done += WORK_BLOCK_PAYLOAD, count++) {
    uint32_t left = work->payload_length - done;
    memcpy(blocks[count].payload.bytes, (const unsigned char*)work->payload + done,
           left < WORK_BLOCK_PAYLOAD ? left : WORK_BLOCK_PAYLOAD);
  }
  entry->blocks = count;
  for (int i = 0; i < count; i++) {
    blocks[i].payload.sequence = first + i + 1;
  }
  return count;
}

/* Returns the number of free blocks of a work ring. */
static inline uint64_t ring_free(const struct ring* ring) {
  /* Acquire: the consumer has finished its copy before this thread writes the blocks again. */
  return ring->mask + 1 - (ring->next - atomic_load_explicit(&ring->header->consumed, memory_order_acquire));
}

/* Publishes a work request. Returns 1, or 0 if the ring has too few free blocks now. */
static inline int ring_post(struct ring* ring, const struct ring_work* work) {
  union ring_block blocks[WORK_MAX_BLOCKS];
  int count = ring_encode(blocks, ring->next, work);
  if (count < 0) {
    return -1;
  }
  if (ring_free(ring) < (uint64_t)count) {
    return 0;
  }
  for (int i = 1; i < count; i++) {
    memcpy(ring_block_at(ring, ring->next + i), &blocks[i], RING_BLOCK_SIZE);
  }
  union ring_block* first = ring_block_at(ring, ring->next);
  memcpy(first->bytes + sizeof(uint64_t), blocks[0].bytes + sizeof(uint64_t), RING_BLOCK_SIZE - sizeof(uint64_t));
  /* Release: a consumer that sees this number sees all blocks of the entry. */
  atomic_store_explicit(&first->entry.sequence, ring->next + 1, memory_order_release);
  ring->next += count;
  return 1;
}

/* Returns whether a completion can be taken. */
static inline int ring_ready(const struct ring* ring) {
  return atomic_load_explicit(&ring_block_at(ring, ring->next)->completion.sequence, memory_order_acquire) ==
         ring->next + 1;
}

/*
 * Copies the next completion. Returns 1, or 0 if there is none. Copies the text with a terminating zero to `text`,
 * which has COMPLETION_MAX_TEXT + 1 bytes or is NULL. ring_release() returns the blocks to the sidecar.
 */
static inline int ring_take(struct ring* ring, struct ring_completion* completion, char* text) {
  if (!ring_ready(ring)) {
    return 0;
  }
  memcpy(completion, ring_block_at(ring, ring->next), sizeof *completion);
  if (completion->blocks == 0 || completion->text_length > (completion->blocks - 1) * COMPLETION_BLOCK_TEXT) {
    return ring_fail(
        "A completion has %u blocks and a text of %u bytes: the completion ring is damaged. Open a new session.",
        completion->blocks, completion->text_length);
  }
  if (text != NULL) {
    for (unsigned done = 0, i = 1; done < completion->text_length; done += COMPLETION_BLOCK_TEXT, i++) {
      unsigned left = completion->text_length - done;
      memcpy(text + done, ring_block_at(ring, ring->next + i)->payload.bytes,
             left < COMPLETION_BLOCK_TEXT ? left : COMPLETION_BLOCK_TEXT);
    }
    text[completion->text_length] = 0;
  }
  ring->next += completion->blocks;
  return 1;
}

/* --- Waking and waiting ------------------------------------------------------------------------------------------ */

/* Writes a record into `bytes`, which must be large enough, and returns its length. */
static inline size_t ring_encode_record(unsigned char* bytes, uint16_t type, uint64_t value, const void* body,
                                        size_t length) {
  struct ring_record record = {sizeof record + length, RECORD_VERSION, type, value};
  memcpy(bytes, &record, sizeof record);
  if (length > 0) {
    memcpy(bytes + sizeof record, body, length);
  }
  return record.length;
}

static inline int ring_send_record(struct ring_socket* socket, uint16_t type, uint64_t value, const void* body,
                                   size_t length) {
  unsigned char bytes[sizeof(struct ring_record) + RECORD_TOKEN_LENGTH];
  size_t total = ring_encode_record(bytes, type, value, body, length);
  for (size_t done = 0; done < total;) {
    ssize_t sent = send(socket->descriptor, bytes + done, total - done, MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) {
      return ring_fail("Cannot write to the sidecar's ring socket: %s. The sidecar has ended; open a new session.",
                       strerror(errno));
    }
    done += sent < 0 ? 0 : sent;
  }
  return 0;
}

/* Wakes the other side of a ring if its word says that it waits. */
static inline int ring_signal(struct ring_socket* socket, _Atomic uint32_t* waits, uint64_t ring) {
  /* Full fence: if the other side stored its word before this load, this load sees the word. If the other side stores
   * its word later, it sees the earlier stores of this thread. */
  atomic_thread_fence(memory_order_seq_cst);
  if (atomic_load_explicit(waits, memory_order_relaxed) == 0 || atomic_exchange(waits, 0) == 0) {
    return 0;
  }
  return ring_send_record(socket, RECORD_WAKE, ring, NULL, 0);
}

/* Wakes the sidecar if it sleeps. Call this function once after a batch of ring_post(). */
static inline int ring_wake(struct ring_socket* socket, struct ring* ring) {
  return ring_signal(socket, &ring->header->consumer_waits, ring->id);
}

/* Returns the blocks of taken completions to the sidecar. Call this function once after a batch of ring_take(). */
static inline int ring_release(struct ring_socket* socket, struct ring* ring) {
  if (ring->released == ring->next) {
    return 0;
  }
  ring->released = ring->next;
  atomic_store_explicit(&ring->header->consumed, ring->next, memory_order_release);
  return ring_signal(socket, &ring->header->producer_waits, ring->id);
}

/* Handles a record of the sidecar. */
static inline int ring_handle(const struct ring_record* record, const unsigned char* text, int* welcome) {
  int length = record->length - sizeof *record;
  if (record->type == RECORD_END) {
    return ring_fail("Ring %llu ended: %.*s. Create another one.", (unsigned long long)record->value, length, text);
  }
  if (record->type == RECORD_ERROR) {
    return ring_fail("The sidecar closes the ring socket with gRPC status %llu: %.*s.",
                     (unsigned long long)record->value, length, text);
  }
  if (record->type == RECORD_WELCOME && welcome != NULL) {
    *welcome = 1;
  }
  return 0;
}

/* Reads the records that have arrived, without waiting. Fails if the sidecar or a ring has ended. */
static inline int ring_look(struct ring_socket* socket, int* welcome) {
  for (;;) {
    ssize_t got =
        recv(socket->descriptor, socket->bytes + socket->filled, sizeof socket->bytes - socket->filled, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
      return 0;
    }
    if (got <= 0) {
      return ring_fail("The sidecar closed the ring socket: it has ended, or was killed. Open a new session.");
    }
    socket->filled += got;
    struct ring_record record;
    size_t done = 0;
    while (socket->filled - done >= sizeof record) {
      memcpy(&record, socket->bytes + done, sizeof record);
      if (record.length < sizeof record || record.length > RECORD_MAX_LENGTH || record.version != RECORD_VERSION) {
        return ring_fail(
            "A record of the ring socket has version %u and %u bytes; expected %d and %zu to %d. Use the ring.h of the "
            "sidecar's version.",
            record.version, record.length, RECORD_VERSION, sizeof record, RECORD_MAX_LENGTH);
      }
      if (socket->filled - done < record.length) {
        break;
      }
      if (ring_handle(&record, socket->bytes + done + sizeof record, welcome) != 0) {
        return -1;
      }
      done += record.length;
    }
    memmove(socket->bytes, socket->bytes + done, socket->filled - done);
    socket->filled -= done;
  }
}

/* Sleeps until a record arrives, at most for `milliseconds`; -1 means no limit. */
static inline int ring_sleep(struct ring_socket* socket, int milliseconds) {
  struct pollfd descriptor = {socket->descriptor, POLLIN, 0};
  if (poll(&descriptor, 1, milliseconds) < 0 && errno != EINTR) {
    return ring_fail("Cannot wait for the ring socket: %s.", strerror(errno));
  }
  return ring_look(socket, NULL);
}

/* Connects to the socket of a completion ring, sends the token, and waits for the answer. */
static inline int ring_connect(struct ring_socket* socket_, const char* path,
                               const unsigned char token[RECORD_TOKEN_LENGTH]) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int welcome = 0;
  if (strlen(path) >= sizeof address.sun_path) {
    return ring_fail("The path of the ring socket has %zu bytes; at most %zu fit. Use a relative path: %s",
                     strlen(path), sizeof address.sun_path - 1, path);
  }
  strcpy(address.sun_path, path);
  socket_->filled = 0;
  socket_->descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_->descriptor < 0 || connect(socket_->descriptor, (struct sockaddr*)&address, sizeof address) != 0) {
    return ring_fail("Cannot connect to the ring socket %s: %s. Is the sidecar running?", path, strerror(errno));
  }
  if (ring_send_record(socket_, RECORD_HELLO, 0, token, RECORD_TOKEN_LENGTH) != 0) {
    return -1;
  }
  struct pollfd descriptor = {socket_->descriptor, POLLIN, 0};
  while (!welcome) {
    int ready = poll(&descriptor, 1, 10000);
    if (ready == 0) {
      return ring_fail("The sidecar did not answer on the ring socket %s for 10 s. Read its log.", path);
    }
    if (ready > 0 && ring_look(socket_, &welcome) != 0) {
      return -1;
    }
  }
  return 0;
}

/* Sleeps until there is a completion, at most for `milliseconds`; -1 means no limit. Returns whether there is one. */
static inline int ring_wait(struct ring_socket* socket, struct ring* ring, uint32_t mode, int milliseconds) {
  for (;;) {
    atomic_store_explicit(&ring->header->consumer_waits, mode, memory_order_relaxed);
    /* Full fence: either this side sees the completion, or the sidecar sees the word. */
    atomic_thread_fence(memory_order_seq_cst);
    int result = ring_ready(ring) ? 0 : ring_sleep(socket, milliseconds);
    if (result != 0 || ring_ready(ring) || milliseconds >= 0) {
      atomic_store_explicit(&ring->header->consumer_waits, RING_WAITS_NOT, memory_order_relaxed);
      return result != 0 ? result : ring_ready(ring);
    }
  }
}

/* Sleeps until a work ring has at least `blocks` free blocks. */
static inline int ring_wait_free(struct ring_socket* socket, struct ring* ring, uint64_t blocks) {
  int result = 0;
  while (result == 0 && ring_free(ring) < blocks) {
    atomic_store_explicit(&ring->header->producer_waits, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (ring_free(ring) < blocks) {
      result = ring_sleep(socket, -1);
    }
  }
  atomic_store_explicit(&ring->header->producer_waits, 0, memory_order_relaxed);
  return result;
}

static inline int64_t ring_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Polls until there is a completion, and returns 1. Reads the socket every millisecond, because only the socket shows
 * that the sidecar has ended. */
static inline int ring_spin(struct ring_socket* socket, struct ring* ring) {
  int64_t look = ring_nanoseconds() + 1000000;
  while (!ring_ready(ring)) {
    if (ring_nanoseconds() >= look) {
      if (ring_look(socket, NULL) != 0) {
        return -1;
      }
      look = ring_nanoseconds() + 1000000;
    }
  }
  return 1;
}

#endif
