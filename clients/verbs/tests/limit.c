/*
 * Copyright The Sidewarp Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Least cost of memory that belongs to another process. Two relays do only what a sidecar cannot avoid. One copies each
 * message out of the memory of an application, computes its CRC32C and sends it over TCP on loopback. The other checks
 * the CRC and copies the message into the memory of another application. The applications sleep.
 *
 *   limit mapped|process stream|read
 *
 * With `mapped`, the relays use memcpy on shared memory. With `process`, they use pread and pwrite of /proc/PID/mem. The
 * program prints Gbit/s of 64 KiB messages (`stream`), or microseconds of a request for 8 bytes of memory (`read`).
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <nmmintrin.h>
#include <sched.h>
#include <signal.h>
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

enum { MESSAGE = 64 << 10, BATCH = 256 << 10, AREA = 4 << 20, REQUEST = 28, SMALL = 8, SECONDS = 3, BUFFER = 4 << 20 };

#define CHECK(condition)                                  \
  do {                                                    \
    if (!(condition)) {                                   \
      perror(#condition);                                 \
      exit(1);                                            \
    }                                                     \
  } while (0)

/* Memory of an application, as a relay reaches it. */
struct memory {
  char *mapped;
  int descriptor; /* /proc/PID/mem, or -1 for a mapping */
};

static uint64_t checksum;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Starts an application that has memory and sleeps. */
static struct memory application(bool mapped) {
  char *area = mmap(NULL, AREA, PROT_READ | PROT_WRITE, (mapped ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);
  int ready[2];
  char path[64];
  CHECK(area != MAP_FAILED && pipe(ready) == 0);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    memset(area, 1, AREA);
    CHECK(write(ready[1], "", 1) == 1);
    for (;;) pause();
  }
  CHECK(read(ready[0], path, 1) == 1);
  snprintf(path, sizeof path, "/proc/%d/mem", child);
  struct memory memory = {area, mapped ? -1 : open(path, O_RDWR)};
  CHECK(mapped || memory.descriptor >= 0);
  return memory;
}

static void fetch(struct memory memory, size_t offset, char *target, size_t length) {
  if (memory.descriptor < 0) {
    memcpy(target, memory.mapped + offset, length);
  } else {
    CHECK(pread(memory.descriptor, target, length, (off_t)(uintptr_t)(memory.mapped + offset)) == (ssize_t)length);
  }
}

static void place(struct memory memory, size_t offset, const char *source, size_t length) {
  if (memory.descriptor < 0) {
    memcpy(memory.mapped + offset, source, length);
  } else {
    CHECK(pwrite(memory.descriptor, source, length, (off_t)(uintptr_t)(memory.mapped + offset)) == (ssize_t)length);
  }
}

/* As costly as a CRC32C in three parts, which processors compute side by side. The parts are not joined. */
static void add_checksum(const char *data) {
  const uint64_t *words = (const uint64_t *)data;
  uint64_t a = 0, b = 0, c = 0;
  size_t third = MESSAGE / sizeof *words / 3;
  for (size_t i = 0; i < third; i++) {
    a = _mm_crc32_u64(a, words[i]);
    b = _mm_crc32_u64(b, words[third + i]);
    c = _mm_crc32_u64(c, words[2 * third + i]);
  }
  checksum += a ^ b ^ c;
}

static void send_all(int socket, const char *data, size_t length) {
  for (size_t sent = 0; sent < length;) {
    ssize_t part = send(socket, data + sent, length - sent, 0);
    CHECK(part > 0);
    sent += (size_t)part;
  }
}

static bool receive_all(int socket, char *data, size_t length) {
  for (size_t received = 0; received < length;) {
    /* A busy relay does not sleep: it asks again, and gives the processor to others in between. */
    ssize_t part = recv(socket, data + received, length - received, MSG_DONTWAIT);
    if (part == 0) return false;
    if (part > 0) {
      received += (size_t)part;
    } else {
      sched_yield();
    }
  }
  return true;
}

static void pair_of_sockets(int ends[2]) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1, size = BUFFER;
  CHECK(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 1) == 0);
  CHECK(getsockname(listener, (struct sockaddr *)&address, &length) == 0);
  ends[0] = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(connect(ends[0], (struct sockaddr *)&address, length) == 0);
  ends[1] = accept(listener, NULL, NULL);
  CHECK(ends[1] >= 0);
  for (int i = 0; i < 2; i++) {
    setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(ends[i], SOL_SOCKET, i == 0 ? SO_SNDBUF : SO_RCVBUF, &size, sizeof size);
  }
}

static void stream(int socket, struct memory memory, char *buffer) {
  double begin = now(), end = begin + SECONDS;
  uint64_t bytes = 0;
  for (size_t at = 0; now() < end; bytes += BATCH, at = (at + BATCH) % AREA) {
    for (size_t i = 0; i < BATCH; i += MESSAGE) {
      fetch(memory, at + i, buffer + i, MESSAGE);
      add_checksum(buffer + i);
    }
    send_all(socket, buffer, BATCH);
  }
  printf("%.1f\n", (double)bytes * 8 / 1e9 / (now() - begin));
}

static void take_stream(int socket, struct memory memory, char *buffer) {
  for (size_t at = 0; receive_all(socket, buffer, BATCH); at = (at + BATCH) % AREA) {
    for (size_t i = 0; i < BATCH; i += MESSAGE) {
      add_checksum(buffer + i);
      place(memory, at + i, buffer + i, MESSAGE);
    }
  }
}

static void read_remote(int socket, struct memory memory, char *buffer) {
  double begin = now(), end = begin + SECONDS;
  uint64_t count = 0;
  for (; now() < end; count++) {
    send_all(socket, buffer, REQUEST);
    CHECK(receive_all(socket, buffer, SMALL));
    place(memory, 0, buffer, SMALL);
  }
  printf("%.1f\n", (now() - begin) * 1e6 / (double)count);
}

static void answer_reads(int socket, struct memory memory, char *buffer) {
  while (receive_all(socket, buffer, REQUEST)) {
    fetch(memory, 0, buffer, SMALL);
    send_all(socket, buffer, SMALL);
  }
}

int main(int count, char **words) {
  if (count != 3) {
    fprintf(stderr, "usage: %s mapped|process stream|read\n", words[0]);
    return 2;
  }
  bool mapped = strcmp(words[1], "mapped") == 0, streams = strcmp(words[2], "stream") == 0;
  struct memory source = application(mapped), target = application(mapped);
  static char buffer[BATCH];
  int ends[2];
  pair_of_sockets(ends);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[0]);
    (streams ? take_stream : answer_reads)(ends[1], target, buffer);
    _exit(0);
  }
  close(ends[1]);
  (streams ? stream : read_remote)(ends[0], source, buffer);
  close(ends[0]);
  waitpid(child, NULL, 0);
  return 0; /* the applications end with this process */
}
