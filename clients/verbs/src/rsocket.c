/*
 * Copyright The Sidewarp Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The r* functions of rsocket.h: those of the system's librdmacm, which use the rdma_cm and the verbs of this library.
 * Without that library they fail with EOPNOTSUPP. Programs that link librdmacm need the names, rpoll above all.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static void* system_library;

/* Where distributions have the library. By its name alone, the loader would find this one. */
static void open_system_library(void) {
  static const char* const paths[] = {
#ifdef __x86_64__
      "/usr/lib/x86_64-linux-gnu/librdmacm.so.1",
#elif defined __aarch64__
      "/usr/lib/aarch64-linux-gnu/librdmacm.so.1",
#endif
      "/usr/lib64/librdmacm.so.1",
      "/usr/lib/librdmacm.so.1",
  };
  for (size_t i = 0; i < sizeof paths / sizeof *paths && system_library == NULL; i++) {
    system_library = dlopen(paths[i], RTLD_LAZY | RTLD_LOCAL);
  }
}

/* Finds a function of the system's library. NULL with errno if there is none. */
static void* find(const char* name, const void* own) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  void* found = dlsym(RTLD_NEXT, name);
  if (found == NULL) {
    pthread_once(&once, open_system_library);
    found = system_library == NULL ? NULL : dlsym(system_library, name);
  }
  if (found == NULL || found == own) {
    errno = EOPNOTSUPP;
    return NULL;
  }
  return found;
}

/* True once the program has used a function of the system's library other than rpoll. */
static bool used;

#define FORWARD(type, name, parameters, arguments)                \
  type name parameters {                                          \
    static type(*found) parameters;                               \
    if (found == NULL) {                                          \
      found = find(#name, (const void*)(uintptr_t)name);          \
    }                                                             \
    used |= found != NULL;                                        \
    return found != NULL ? found arguments : (type)-1;            \
  }

FORWARD(int, rsocket, (int domain, int type, int protocol), (domain, type, protocol))
FORWARD(int, rbind, (int s, const struct sockaddr* address, socklen_t length), (s, address, length))
FORWARD(int, rlisten, (int s, int backlog), (s, backlog))
FORWARD(int, raccept, (int s, struct sockaddr* address, socklen_t* length), (s, address, length))
FORWARD(int, rconnect, (int s, const struct sockaddr* address, socklen_t length), (s, address, length))
FORWARD(int, rshutdown, (int s, int how), (s, how))
FORWARD(int, rclose, (int s), (s))
FORWARD(ssize_t, rrecv, (int s, void* data, size_t length, int flags), (s, data, length, flags))
FORWARD(ssize_t, rrecvfrom, (int s, void* data, size_t length, int flags, struct sockaddr* from, socklen_t* from_length),
        (s, data, length, flags, from, from_length))
FORWARD(ssize_t, rrecvmsg, (int s, struct msghdr* message, int flags), (s, message, flags))
FORWARD(ssize_t, rsend, (int s, const void* data, size_t length, int flags), (s, data, length, flags))
FORWARD(ssize_t, rsendto,
        (int s, const void* data, size_t length, int flags, const struct sockaddr* to, socklen_t to_length),
        (s, data, length, flags, to, to_length))
FORWARD(ssize_t, rsendmsg, (int s, const struct msghdr* message, int flags), (s, message, flags))
FORWARD(ssize_t, rread, (int s, void* data, size_t length), (s, data, length))
FORWARD(ssize_t, rreadv, (int s, const struct iovec* parts, int count), (s, parts, count))
FORWARD(ssize_t, rwrite, (int s, const void* data, size_t length), (s, data, length))
FORWARD(ssize_t, rwritev, (int s, const struct iovec* parts, int count), (s, parts, count))
FORWARD(int, rselect, (int count, fd_set* read, fd_set* write, fd_set* except, struct timeval* timeout),
        (count, read, write, except, timeout))
FORWARD(int, rgetpeername, (int s, struct sockaddr* address, socklen_t* length), (s, address, length))
FORWARD(int, rgetsockname, (int s, struct sockaddr* address, socklen_t* length), (s, address, length))
FORWARD(int, rsetsockopt, (int s, int level, int option, const void* value, socklen_t length),
        (s, level, option, value, length))
FORWARD(int, rgetsockopt, (int s, int level, int option, void* value, socklen_t* length),
        (s, level, option, value, length))
FORWARD(off_t, riomap, (int s, void* data, size_t length, int protection, int flags, off_t offset),
        (s, data, length, protection, flags, offset))
FORWARD(int, riounmap, (int s, void* data, size_t length), (s, data, length))
FORWARD(size_t, riowrite, (int s, const void* data, size_t length, off_t offset, int flags),
        (s, data, length, offset, flags))

int rfcntl(int s, int command, ...) {
  int (*found)(int, int, ...) = find("rfcntl", (const void*)(uintptr_t)rfcntl);
  va_list arguments;
  va_start(arguments, command);
  long argument = va_arg(arguments, long);
  va_end(arguments);
  return found != NULL ? found(s, command, argument) : -1;
}

int rpoll(struct pollfd* descriptors, nfds_t count, int timeout) {
  int (*found)(struct pollfd*, nfds_t, int) = used ? find("rpoll", (const void*)(uintptr_t)rpoll) : NULL;
  return found != NULL ? found(descriptors, count, timeout) : poll(descriptors, count, timeout);
}
