/*
 * Copyright The Sidewarp Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Minimal relay over queues in shared memory and TCP, for `./sidewarp bench --only APPLICATION`. It shows the least
 * work that applications and sidecars have to do. Four processes run on two processors: one application and its relay
 * on each. The application writes entries of 64 bytes into a ring. For each entry, its relay sends a frame of the size
 * of an FPDU. The relay at the other end copies the payload into memory. There are no checks, no CRC, no RDMAP and no
 * regions. A process that finds nothing to do yields the processor. Prints a line of JSON: the latency in microseconds
 * of messages of 8 bytes, one at a time, or the rate of messages of 64 bytes per second.
 *
 *   relay write|read latency|rate CPU OTHER_CPU SECONDS
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BLOCKS = 256, DEPTH = 128, SIGNAL = 64, TURN = 128, LARGEST = 64, BUFFER = 1 << 18, SAMPLES = 1 << 21 };
enum { WRITE, REQUEST, RESPONSE };
/* Bytes around the payload in an FPDU with a tagged segment (RFC 5044, 5041), and size of an FPDU with a Read Request
 * (RFC 5040). */
enum { TAGGED = 20, READ_REQUEST = 52 };

struct block {
  _Atomic uint64_t sequence;
  uint64_t id, connection, opcode, address, region, offset, length;
};

struct side {
  struct block ring[BLOCKS];
  _Atomic uint64_t completed;
  char apart[56];
  char source[BLOCKS][LARGEST], memory[BLOCKS][LARGEST];
};

struct frame {
  uint16_t length, kind;
  uint32_t place;
};

static struct side *sides;
static size_t size;
static double round_trips[SAMPLES];

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

static void pin(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) fail("sched_setaffinity");
}

static void post(struct side *side, uint64_t index) {
  struct block *block = &side->ring[index % BLOCKS];
  block->id = index;
  block->connection = 1;
  block->opcode = 1;
  block->address = index % BLOCKS;
  block->region = 1;
  block->offset = index % BLOCKS;
  block->length = size;
  atomic_store_explicit(&block->sequence, index + 1, memory_order_release);
}

/* Returns the number of the message at this index, which is in the first 8 bytes of its memory. */
static uint64_t seen(struct side *side, uint64_t index) {
  return atomic_load_explicit((_Atomic uint64_t *)side->memory[index % BLOCKS], memory_order_acquire);
}

static size_t add(char *out, size_t end, int kind, uint32_t place, const char *payload) {
  struct frame frame = {kind == REQUEST ? READ_REQUEST : TAGGED + size, kind, place};
  memcpy(out + end, &frame, sizeof frame);
  if (kind != REQUEST) memcpy(out + end + TAGGED - 4, payload, size);
  return end + frame.length;
}

static void put(struct side *side, uint32_t place, const char *payload) {
  uint64_t first;
  memcpy(&first, payload, sizeof first);
  memcpy(side->memory[place] + sizeof first, payload + sizeof first, size - sizeof first);
  atomic_store_explicit((_Atomic uint64_t *)side->memory[place], first, memory_order_release);
}

static void send_all(int socket, const char *out, size_t length) {
  while (length > 0) {
    ssize_t sent = send(socket, out, length, MSG_NOSIGNAL);
    if (sent <= 0) exit(0);
    out += sent;
    length -= sent;
  }
}

static void relay(struct side *side, int socket, bool reads) {
  static char in[BUFFER], out[BUFFER];
  uint64_t taken = 0;
  size_t kept = 0;
  for (;;) {
    size_t end = 0;
    int count = 0;
    for (; count < TURN; count++, taken++) {
      struct block *block = &side->ring[taken % BLOCKS];
      if (atomic_load_explicit(&block->sequence, memory_order_acquire) != taken + 1) break;
      end = add(out, end, reads ? REQUEST : WRITE, block->address, side->source[block->offset]);
    }
    if (count > 0) {
      send_all(socket, out, end);
      if (!reads) atomic_fetch_add_explicit(&side->completed, count, memory_order_release);
    }
    ssize_t got = recv(socket, in + kept, BUFFER - kept, MSG_DONTWAIT);
    if (got == 0) exit(0);
    if (got > 0) kept += got;
    size_t at = 0;
    uint64_t completed = 0;
    end = 0;
    while (kept - at >= sizeof(struct frame)) {
      struct frame frame;
      memcpy(&frame, in + at, sizeof frame);
      if (kept - at < frame.length) break;
      if (frame.kind == REQUEST) {
        end = add(out, end, RESPONSE, frame.place, side->source[frame.place]);
      } else {
        put(side, frame.place, in + at + TAGGED - 4);
        completed += frame.kind == RESPONSE;
      }
      at += frame.length;
    }
    memmove(in, in + at, kept - at);
    kept -= at;
    if (end > 0) send_all(socket, out, end);
    if (completed > 0) atomic_fetch_add_explicit(&side->completed, completed, memory_order_release);
    if (count == 0 && got < 0) sched_yield();
  }
}

/* Answers each Write with a Write: the passive application of a ping-pong. */
static void answer(struct side *side) {
  for (uint64_t index = 0;; index++) {
    while (seen(side, index) != index + 1) sched_yield();
    memcpy(side->source[index % BLOCKS], &(uint64_t){index + 1}, 8);
    post(side, index);
  }
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void latency(struct side *side, bool reads, double seconds) {
  double begin = now(), end = begin + seconds;
  uint64_t index = 0;
  while (index < SAMPLES) {
    double posted = now();
    if (posted > end) break;
    memcpy(side->source[index % BLOCKS], &(uint64_t){index + 1}, 8);
    post(side, index);
    if (reads) {
      while (atomic_load_explicit(&side->completed, memory_order_acquire) != index + 1) sched_yield();
    } else {
      while (seen(side, index) != index + 1) sched_yield();
    }
    round_trips[index++] = (now() - posted) * (reads ? 1e6 : 0.5e6);
  }
  qsort(round_trips, index, sizeof *round_trips, compare);
  printf("{\"p50\": %.2f, \"p99\": %.2f}\n", round_trips[index / 2], round_trips[index * 99 / 100]);
}

static void rate(struct side *side, double seconds) {
  uint64_t posted = 0;
  double begin = now(), time;
  while (posted < DEPTH) post(side, posted++);
  for (;;) {
    uint64_t completed = atomic_load_explicit(&side->completed, memory_order_acquire);
    if (posted - completed > DEPTH - SIGNAL) {
      sched_yield();
      continue;
    }
    time = now() - begin;
    if (time > seconds) {
      printf("{\"messages_per_second\": %.0f}\n", completed / time);
      return;
    }
    for (int i = 0; i < SIGNAL; i++) post(side, posted++);
  }
}

static pid_t start(int processor) {
  pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin(processor);
  }
  return child;
}

int main(int count, char **arguments) {
  if (count != 6) {
    fprintf(stderr, "usage: relay write|read latency|rate CPU OTHER_CPU SECONDS\n");
    return 2;
  }
  bool reads = strcmp(arguments[1], "read") == 0, rates = strcmp(arguments[2], "rate") == 0;
  int here = atoi(arguments[3]), there = atoi(arguments[4]);
  size = rates ? 64 : 8;
  sides = mmap(NULL, 2 * sizeof *sides, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (sides == MAP_FAILED) fail("mmap");
  int listener = socket(AF_INET, SOCK_STREAM, 0), ends[2], one = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (bind(listener, (void *)&address, length) != 0 || listen(listener, 1) != 0
      || getsockname(listener, (void *)&address, &length) != 0) fail("listen");
  ends[0] = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(ends[0], (void *)&address, length) != 0) fail("connect");
  ends[1] = accept(listener, NULL, NULL);
  for (int i = 0; i < 2; i++) setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  pid_t children[3];
  for (int i = 0; i < 2; i++) {
    children[i] = start(i == 0 ? here : there);
    if (children[i] == 0) {
      close(ends[1 - i]);
      relay(&sides[i], ends[i], reads);
    }
  }
  children[2] = reads || rates ? 0 : start(there);
  if (children[2] == 0 && !reads && !rates) answer(&sides[1]);
  pin(here);
  if (rates) {
    rate(&sides[0], atof(arguments[5]));
  } else {
    latency(&sides[0], reads, atof(arguments[5]));
  }
  fflush(stdout);
  for (int i = 0; i < 3; i++) {
    if (children[i] > 0) {
      kill(children[i], SIGKILL);
      waitpid(children[i], NULL, 0);
    }
  }
  return 0;
}
