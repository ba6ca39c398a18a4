/*
 * Copyright The Sidewarp Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Measures usrsctp alone, for `./sidewarp bench --only SCTP`. One process sends messages to another, encapsulated in
 * UDP on the loopback interface. Path MTU, buffers and unordered delivery are those of a sidecar. Prints a line of
 * JSON.
 *
 *   usrsctp-transfer throughput|latency OCTETS SECONDS crc|no-crc
 *
 * "no-crc" omits the checksum at both ends. The result is no valid SCTP, but shows the limit of the library itself.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <usrsctp.h>

enum { MAX_DATAGRAM = 65536, MAX_MESSAGE = 1 << 20, BUFFER = 4 << 20, SCTP_PORT = 5000, PATH_MTU = 65252, SAMPLES = 1 << 20 };

static int udp;
static unsigned char message[MAX_MESSAGE];
static uint32_t round_trip[SAMPLES];
static pid_t child;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

static int output(void *address, void *packet, size_t length, uint8_t tos, uint8_t set_df) {
  (void)address, (void)tos, (void)set_df;
  return send(udp, packet, length, 0) < 0 ? errno : 0;
}

static void *input(void *nothing) {
  static unsigned char packet[MAX_DATAGRAM];
  for (;;) {
    ssize_t length = recv(udp, packet, sizeof packet, 0);
    if (length > 0) {
      usrsctp_conninput(&udp, packet, length, 0);
    }
  }
  return nothing;
}

/* Opens a UDP socket on the loopback interface with a free port. */
static int open_udp(struct sockaddr_in *address) {
  int descriptor = socket(AF_INET, SOCK_DGRAM, 0), size = BUFFER;
  socklen_t length = sizeof *address;
  *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (descriptor < 0 || bind(descriptor, (struct sockaddr *)address, sizeof *address) != 0 ||
      getsockname(descriptor, (struct sockaddr *)address, &length) != 0) {
    fail("UDP");
  }
  setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
  setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  return descriptor;
}

static void set(struct socket *socket, int level, int name, const void *value, socklen_t length) {
  if (usrsctp_setsockopt(socket, level, name, value, length) != 0) {
    fail("usrsctp_setsockopt");
  }
}

static struct socket *open_sctp(bool crc) {
  int size = BUFFER, on = 1;
  struct sctp_assoc_value burst = {0};
  struct sctp_paddrparams path = {.spp_pathmtu = PATH_MTU, .spp_flags = SPP_PMTUD_DISABLE};
  struct sockaddr_conn address = {.sconn_family = AF_CONN, .sconn_port = htons(SCTP_PORT), .sconn_addr = &udp};
  pthread_t reader;

  usrsctp_init(0, output, NULL);
  usrsctp_sysctl_set_sctp_ecn_enable(0);
  if (!crc) {
    usrsctp_enable_crc32c_offload();
  }
  usrsctp_register_address(&udp);
  if (pthread_create(&reader, NULL, input, NULL) != 0) {
    fail("pthread_create");
  }
  struct socket *socket = usrsctp_socket(AF_CONN, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
  if (socket == NULL) {
    fail("usrsctp_socket");
  }
  set(socket, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  set(socket, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
  set(socket, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &path, sizeof path);
  set(socket, IPPROTO_SCTP, SCTP_NODELAY, &on, sizeof on);
  set(socket, IPPROTO_SCTP, SCTP_MAX_BURST, &burst, sizeof burst);
  if (usrsctp_bind(socket, (struct sockaddr *)&address, sizeof address) != 0) {
    fail("usrsctp_bind");
  }
  return socket;
}

static void send_message(struct socket *socket, size_t octets) {
  struct sctp_sndinfo info = {.snd_flags = SCTP_UNORDERED, .snd_ppid = htonl(16)};
  if (usrsctp_sendv(socket, message, octets, NULL, 0, &info, sizeof info, SCTP_SENDV_SNDINFO, 0) < 0) {
    fail("usrsctp_sendv");
  }
}

/* Returns the bytes of the next message, which may arrive in parts, or 0 if the peer has shut down. */
static size_t receive(struct socket *socket) {
  size_t all = 0;
  int flags = 0;
  while ((flags & MSG_EOR) == 0) {
    socklen_t length = 0;
    unsigned int type = 0;
    ssize_t octets =
        usrsctp_recvv(socket, message + all, sizeof message - all, NULL, NULL, NULL, &length, &type, &flags);
    if (octets <= 0) {
      return 0;
    }
    all += octets;
  }
  return all;
}

/* Runs the passive side, which receives all messages, or sends each message back. */
static void serve(bool crc, bool echo, int ready) {
  struct socket *listener = open_sctp(crc);
  size_t octets, all = 0;
  double begin = 0, end = 0;
  usrsctp_listen(listener, 1);
  close(ready);
  struct socket *peer = usrsctp_accept(listener, NULL, NULL);
  while (peer != NULL && (octets = receive(peer)) > 0) {
    if (echo) {
      send_message(peer, octets);
    } else if (begin == 0) {
      begin = now();
    } else {
      all += octets;
    }
    end = echo ? 0 : now();
  }
  if (!echo) {
    printf("{\"gigabits_per_second\": %.3f}\n", all * 8 / (end - begin) / 1e9);
    fflush(stdout);
  }
}

static int compare(const void *one, const void *other) {
  uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
  return (a > b) - (a < b);
}

static void call(bool crc, bool latency, size_t octets, double seconds) {
  struct sockaddr_conn address = {.sconn_family = AF_CONN, .sconn_port = htons(SCTP_PORT), .sconn_addr = &udp};
  struct socket *socket = open_sctp(crc);
  size_t samples = 0;
  if (usrsctp_connect(socket, (struct sockaddr *)&address, sizeof address) != 0) {
    fail("usrsctp_connect");
  }
  for (double end = now() + seconds; now() < end && samples < SAMPLES;) {
    double begin = now();
    send_message(socket, octets);
    if (latency) {
      if (receive(socket) == 0) {
        fail("usrsctp_recvv");
      }
      round_trip[samples++] = (now() - begin) * 1e9;
    }
  }
  usrsctp_shutdown(socket, SHUT_WR);
  if (latency && samples > 0) {
    qsort(round_trip, samples, sizeof *round_trip, compare);
    printf("{\"p50\": %.1f, \"p99\": %.1f, \"p99_9\": %.1f}\n", round_trip[samples / 2] / 2e3,
           round_trip[samples * 99 / 100] / 2e3, round_trip[samples * 999 / 1000] / 2e3);
    fflush(stdout);
  }
}

/* Waits for the passive side. If the passive side has failed, the active side would otherwise wait for it forever. */
static void *watch(void *nothing) {
  int status;
  if (waitpid(child, &status, 0) != child) {
    fail("waitpid");
  }
  if (WIFSIGNALED(status)) {
    fprintf(stderr, "the passive side was ended by signal %d\n", WTERMSIG(status));
    _exit(1);
  }
  if (WEXITSTATUS(status) != 0) {
    fprintf(stderr, "the passive side failed\n");
    _exit(1);
  }
  return nothing;
}

int main(int count, char **arguments) {
  size_t octets = count == 5 ? strtoul(arguments[2], NULL, 10) : 0;
  double seconds = count == 5 ? strtod(arguments[3], NULL) : 0;
  if (octets < 1 || octets > MAX_MESSAGE || seconds <= 0) {
    fprintf(stderr, "usage: usrsctp-transfer throughput|latency OCTETS SECONDS crc|no-crc\n");
    return 2;
  }
  bool latency = strcmp(arguments[1], "latency") == 0, crc = strcmp(arguments[4], "crc") == 0;
  struct sockaddr_in here, there;
  int one = open_udp(&here), other = open_udp(&there), ready[2];
  if (pipe(ready) != 0) {
    fail("pipe");
  }
  child = fork();
  if (child < 0) {
    fail("fork");
  }
  close(ready[child == 0 ? 0 : 1]);
  udp = child == 0 ? other : one;
  close(child == 0 ? one : other);
  if (connect(udp, (struct sockaddr *)(child == 0 ? &here : &there), sizeof here) != 0) {
    fail("connect");
  }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    serve(crc, latency, ready[1]);
    sleep(1); /* gives the association time to end */
    _exit(0);
  }
  char nothing;
  if (read(ready[0], &nothing, 1) != 0) { /* waits until the passive side listens */
    fail("read");
  }
  pthread_t watcher;
  if (pthread_create(&watcher, NULL, watch, NULL) != 0) {
    fail("pthread_create");
  }
  call(crc, latency, octets, seconds);
  pthread_join(watcher, NULL);
  _exit(0);
}
