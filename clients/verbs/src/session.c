/*
 * Copyright The Sidewarp Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The session of this process: one socket, one thread that reads it, requests that wait for answers, and the handlers of
 * events. A session never closes before the process ends, unless the sidecar ends it. The next session_acquire() then
 * opens another one.
 */
#include "ring-layout.h"
#include "sidewarp.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define DEFAULT_SOCKET "/run/sidewarp/api.sock"

/* The socket of the rings has the path of the API's socket and this. */
#define SOCKET_SUFFIX ".rings"

enum { BUCKETS = 256, ANSWER_SECONDS = 30, TRACKED_INITIAL = 16 };

/* A request that waits for its answer. */
struct pending {
  struct pending* next;
  uint64_t value;
  record_handler handler;
  void* argument;
};

/* The handler of an object's events. */
struct watch {
  struct watch* next;
  uint64_t object;
  record_handler handler;
  void* argument;
  uint16_t type;
};

static struct {
  /* Protects all members but `write_lock` and the atomic ones. */
  pthread_mutex_t lock;
  pthread_cond_t idle;
  /* Held while a record is written. Taken without `lock`. */
  pthread_mutex_t write_lock;
  int descriptor;
  pthread_t thread;
  /* `ending`: the thread of a lost session still runs handlers, so another session must not begin. */
  bool open, ending;
  struct control_device device;
  char volume[512], socket[sizeof((struct sockaddr_un*)0)->sun_path];
  /* 0, or why this process cannot pass its memory. */
  int memory_error;
  uint64_t values;
  struct pending* pending[BUCKETS];
  struct watch* watches[BUCKETS];
  /* The watch whose handler runs. */
  uint16_t running_type;
  uint64_t running_object;
  bool running;
  /* Descriptors that a child of fork closes. */
  int* tracked;
  size_t tracked_count, tracked_room;
  /* Numbers of the present session, the last lost one, and the last one that came from a parent. */
  _Atomic uint64_t generation, lost, inherited;
} session = {.lock = PTHREAD_MUTEX_INITIALIZER,
             .idle = PTHREAD_COND_INITIALIZER,
             .write_lock = PTHREAD_MUTEX_INITIALIZER,
             .descriptor = -1};

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
/* A program that waits for the sidecar hears once that the sidecar is missing. Protected by `opening`. */
static bool said_missing;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

/* --- Messages ----------------------------------------------------------------------------------------------------- */

void complain(const char* format, ...) {
  char line[1024] = "sidewarp: ";
  size_t begin = strlen(line);
  int error = errno;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line + begin, sizeof line - begin - 1, format, arguments);
  va_end(arguments);
  strcat(line, "\n");
  /* Not write(), where a cancelled thread would end, perhaps with a lock. */
  syscall(SYS_write, STDERR_FILENO, line, strlen(line));
  errno = error;
}

int status_to_errno(uint32_t code) {
  switch (code) {
    case 0:
      return 0;
    case 1: /* CANCELLED */
    case 10: /* ABORTED */
      return ECONNABORTED;
    case 3: /* INVALID_ARGUMENT */
    case 5: /* NOT_FOUND */
    case 9: /* FAILED_PRECONDITION */
    case 11: /* OUT_OF_RANGE */
      return EINVAL;
    case 4: /* DEADLINE_EXCEEDED */
      return ETIMEDOUT;
    case 6: /* ALREADY_EXISTS */
      return EADDRINUSE;
    case 7: /* PERMISSION_DENIED */
    case 16: /* UNAUTHENTICATED */
      return EPERM;
    case 8: /* RESOURCE_EXHAUSTED */
      return ENOMEM;
    case 12: /* UNIMPLEMENTED */
      return EOPNOTSUPP;
    case 14: /* UNAVAILABLE */
      return EAGAIN;
    default:
      return EIO;
  }
}

int answer_error(const union record* record) {
  static const int reasons[] = {[CONTROL_REASON_REJECTED] = ECONNREFUSED,
                                [CONTROL_REASON_REFUSED] = ECONNREFUSED,
                                [CONTROL_REASON_UNREACHABLE] = EHOSTUNREACH,
                                [CONTROL_REASON_NO_ANSWER] = ETIMEDOUT,
                                [CONTROL_REASON_CLOSED] = ECONNRESET,
                                [CONTROL_REASON_PROTOCOL] = EPROTO};
  if (record == NULL || record->header.type != CONTROL_FAILED) {
    return record == NULL ? ENODEV : 0;
  }
  uint32_t reason = record->failed.reason;
  return reason > 0 && reason < sizeof reasons / sizeof *reasons ? reasons[reason] : status_to_errno(record->failed.code);
}

int failed_text(const union record* record, const char** text) {
  size_t begin = offsetof(struct control_failed, private_data) + record->failed.private_length;
  size_t length = record->failed.text_length;
  if (begin > record->header.length || length > record->header.length - begin) {
    begin = length = 0;
  }
  *text = (const char*)record->bytes + begin;
  return (int)length;
}

void complain_of(const char* what, const union record* record) {
  const char* text;
  int length = failed_text(record, &text);
  complain("%s failed: %.*s", what, length, text);
}

/* --- Input and output --------------------------------------------------------------------------------------------- */

static int read_fully(int descriptor, void* target, size_t length) {
  for (size_t done = 0; done < length;) {
    ssize_t got = recv(descriptor, (char*)target + done, length - done, 0);
    if (got == 0 || (got < 0 && errno != EINTR)) {
      return got == 0 ? ECONNRESET : errno;
    }
    done += got < 0 ? 0 : (size_t)got;
  }
  return 0;
}

static int read_record(int descriptor, union record* record) {
  int error = read_fully(descriptor, record, sizeof record->header);
  if (error != 0) {
    return error;
  }
  if (record->header.version != RECORD_VERSION || record->header.length < sizeof record->header ||
      record->header.length > sizeof *record) {
    complain("The sidecar sent a record of version %u with %u bytes. Use the library of the sidecar's version.",
             record->header.version, record->header.length);
    return EPROTO;
  }
  size_t rest = record->header.length - sizeof record->header;
  error = read_fully(descriptor, record->bytes + sizeof record->header, rest);
  /* A handler may read fields behind the end of a short record. */
  memset(record->bytes + record->header.length, 0, sizeof *record - record->header.length);
  return error;
}

static int write_fully(int descriptor, const void* source, size_t length) {
  for (size_t done = 0; done < length;) {
    ssize_t sent = send(descriptor, (const char*)source + done, length - done, MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) {
      return errno;
    }
    done += sent < 0 ? 0 : (size_t)sent;
  }
  return 0;
}

static void fill_header(union record* record, uint16_t type, size_t length, uint64_t value) {
  record->header = (struct control_header){(uint32_t)length, RECORD_VERSION, type, value};
}

static int connect_socket(const char* path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) {
    return -1;
  }
  strcpy(address.sun_path, path);
  struct timeval limit = {.tv_sec = ANSWER_SECONDS};
  setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  /* For good: the session's thread sends, too, and must not wait for a sidecar that waits until the thread reads. */
  setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  int result;
  do {
    result = connect(descriptor, (struct sockaddr*)&address, sizeof address);
  } while (result != 0 && errno == EINTR);
  if (result != 0) {
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
  }
  return descriptor;
}

static void wait_without_limit(int descriptor) {
  struct timeval none = {0};
  setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
}

int session_connect_ring(const unsigned char token[32]) {
  struct {
    struct ring_record record;
    unsigned char token[RECORD_TOKEN_LENGTH];
  } hello = {{sizeof hello, RECORD_VERSION, RECORD_HELLO, 0}, {0}};
  union record answer;
  memcpy(hello.token, token, sizeof hello.token);
  int descriptor = connect_socket(session.socket);
  if (descriptor < 0) {
    return -1;
  }
  int error = write_fully(descriptor, &hello, sizeof hello);
  if (error == 0) {
    error = read_record(descriptor, &answer);
  }
  if (error == 0 && answer.header.type != RECORD_WELCOME) {
    complain("The sidecar refuses the socket of a ring with gRPC status %llu: %.*s",
             (unsigned long long)answer.header.value, (int)(answer.header.length - sizeof answer.header),
             (const char*)answer.bytes + sizeof answer.header);
    error = EPROTO;
  }
  if (error != 0) {
    close(descriptor);
    errno = error;
    return -1;
  }
  wait_without_limit(descriptor);
  pthread_mutex_lock(&session.lock);
  if (session.tracked_count == session.tracked_room) {
    size_t room = session.tracked_room == 0 ? TRACKED_INITIAL : 2 * session.tracked_room;
    int* tracked = realloc(session.tracked, room * sizeof *tracked);
    if (tracked == NULL) {
      pthread_mutex_unlock(&session.lock);
      close(descriptor);
      errno = ENOMEM;
      return -1;
    }
    session.tracked = tracked;
    session.tracked_room = room;
  }
  session.tracked[session.tracked_count++] = descriptor;
  pthread_mutex_unlock(&session.lock);
  return descriptor;
}

void session_close_ring(int descriptor) {
  pthread_mutex_lock(&session.lock);
  for (size_t i = 0; i < session.tracked_count; i++) {
    if (session.tracked[i] == descriptor) {
      session.tracked[i] = session.tracked[--session.tracked_count];
      close(descriptor);
      break;
    }
  }
  pthread_mutex_unlock(&session.lock);
}

/* --- Answers and events ------------------------------------------------------------------------------------------- */

static struct pending* take_pending(uint64_t value) {
  struct pending** link = &session.pending[value % BUCKETS];
  while (*link != NULL && (*link)->value != value) {
    link = &(*link)->next;
  }
  struct pending* found = *link;
  if (found != NULL) {
    *link = found->next;
  }
  return found;
}

static struct watch** find_watch(uint16_t type, uint64_t object) {
  struct watch** link = &session.watches[(object ^ type) % BUCKETS];
  while (*link != NULL && ((*link)->object != object || (*link)->type != type)) {
    link = &(*link)->next;
  }
  return link;
}

/* Runs a handler without the lock, which the caller holds. */
static void run_watch(const struct watch* watch, const union record* record) {
  record_handler handler = watch->handler;
  void* argument = watch->argument;
  session.running = true;
  session.running_type = watch->type;
  session.running_object = watch->object;
  pthread_mutex_unlock(&session.lock);
  handler(argument, record);
  pthread_mutex_lock(&session.lock);
  session.running = false;
  pthread_cond_broadcast(&session.idle);
}

int event_text_length(const union record* record) {
  size_t room = record->header.length < sizeof record->event ? 0 : record->header.length - sizeof record->event;
  return (int)(record->event.text_length < room ? record->event.text_length : room);
}

static void dispatch(const union record* record) {
  uint16_t type = record->header.type;
  if (type == CONTROL_DONE || type == CONTROL_FAILED) {
    pthread_mutex_lock(&session.lock);
    struct pending* pending = take_pending(record->header.value);
    pthread_mutex_unlock(&session.lock);
    if (pending != NULL) {
      pending->handler(pending->argument, record);
      free(pending);
    }
  } else if (type == RECORD_ERROR || type == RECORD_END) {
    complain("The sidecar ended the session: %.*s", (int)(record->header.length - sizeof record->header),
             (const char*)record->bytes + sizeof record->header);
  } else if (type == CONTROL_REGION_FAULT) {
    complain("A memory region failed: %.*s", event_text_length(record), record->event.text);
  } else if (type == CONTROL_EVENTS_LOST) {
    complain("The sidecar dropped %llu events, because this process read them too late.",
             (unsigned long long)record->header.value);
  } else {
    pthread_mutex_lock(&session.lock);
    struct watch* watch = *find_watch(type, record->header.value);
    if (watch != NULL) {
      run_watch(watch, record);
    }
    pthread_mutex_unlock(&session.lock);
  }
}

/* Completes all requests and tells all handlers that the session has ended. */
static void lose_session(void) {
  pthread_mutex_lock(&session.lock);
  session.open = false;
  session.ending = true;
  atomic_store(&session.lost, atomic_load(&session.generation));
  for (unsigned i = 0; i < BUCKETS; i++) {
    struct pending* pending;
    while ((pending = session.pending[i]) != NULL) {
      session.pending[i] = pending->next;
      pthread_mutex_unlock(&session.lock);
      pending->handler(pending->argument, NULL);
      free(pending);
      pthread_mutex_lock(&session.lock);
    }
  }
  for (unsigned i = 0; i < BUCKETS; i++) {
    struct watch* watch;
    while ((watch = session.watches[i]) != NULL) {
      session.watches[i] = watch->next;
      run_watch(watch, NULL);
      free(watch);
    }
  }
  pthread_mutex_unlock(&session.lock);
  device_lost();
  pthread_mutex_lock(&session.lock);
  session.ending = false;
  pthread_cond_broadcast(&session.idle);
  pthread_mutex_unlock(&session.lock);
}

static void* read_session(void* argument) {
  int descriptor = (int)(intptr_t)argument;
  union record record;
  while (read_record(descriptor, &record) == 0) {
    dispatch(&record);
  }
  complain("The sidecar has ended this session, or has ended itself. Work in progress fails. Start the sidecar if it does"
           " not run, and then this program again.");
  lose_session();
  pthread_mutex_lock(&session.write_lock);
  pthread_mutex_lock(&session.lock);
  close(descriptor);
  if (session.descriptor == descriptor) {
    session.descriptor = -1;
  }
  pthread_mutex_unlock(&session.lock);
  pthread_mutex_unlock(&session.write_lock);
  return NULL;
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */

/* Sends a request before the thread exists, and waits for its answer. */
static int exchange(int descriptor, union record* record, uint16_t type, size_t length, const char* what) {
  if (length > 0) {
    fill_header(record, type, length, 0);
    int error = write_fully(descriptor, record, length);
    if (error != 0) {
      complain("Cannot write to the sidecar: %s.", strerror(error));
      return ENODEV;
    }
  }
  do {
    int error = read_record(descriptor, record);
    if (error == EAGAIN) {
      complain("The sidecar did not answer for %d s. Read its log.", ANSWER_SECONDS);
    }
    if (error != 0) {
      return ENODEV;
    }
    if (record->header.type == RECORD_ERROR) {
      complain("%s: the sidecar answers: %.*s", what, (int)(record->header.length - sizeof record->header),
               (const char*)record->bytes + sizeof record->header);
      return ENODEV;
    }
  } while (record->header.type != CONTROL_DONE && record->header.type != CONTROL_FAILED);
  if (record->header.type == CONTROL_FAILED) {
    complain_of(what, record);
    return status_to_errno(record->failed.code);
  }
  return 0;
}

/* Passes a descriptor of this process's memory. */
static int pass_memory(int descriptor) {
  union record record = {0};
  if ((session.device.capabilities & CONTROL_CAPABILITY_PROCESS_MEMORY) == 0) {
    return EOPNOTSUPP;
  }
  int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
  if (memory < 0) {
    return errno;
  }
  int error = exchange(descriptor, &record, CONTROL_MEMORY, sizeof record.header, "Passing the memory of this process");
  if (error == 0) {
    char byte = 0;
    union {
      struct cmsghdr header;
      char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    control.header = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof memory), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), &memory, sizeof memory);
    ssize_t sent;
    do {
      sent = sendmsg(descriptor, &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    error = sent == 1 ? exchange(descriptor, &record, 0, 0, "Passing the memory of this process") : errno;
  }
  close(memory);
  return error;
}

int session_memory(void) {
  if (session.memory_error == 0) {
    return 0;
  }
  if (session.memory_error == EOPNOTSUPP) {
    complain("The sidecar cannot use memory of this process. Use a sidecar that can, or register memory of files in %s.",
             session.volume);
  } else if (prctl(PR_GET_DUMPABLE) != 1) {
    complain("Cannot open /proc/self/mem, because this process is not dumpable (prctl PR_SET_DUMPABLE, a set-user-ID "
             "program, or an executable that cannot be read). Make it dumpable before it opens the device.");
  } else {
    complain("Cannot pass /proc/self/mem to the sidecar: %s. Registered memory can only be of files in %s.",
             strerror(session.memory_error), session.volume);
  }
  return EPERM;
}

static int find_socket(void) {
  const char* api = getenv("SIDEWARP_API");
  if (api == NULL || api[0] == 0) {
    api = DEFAULT_SOCKET;
  }
  if (strncmp(api, "unix:", 5) == 0) {
    api += strncmp(api, "unix:///", 8) == 0 ? 7 : 5;
  }
  if (api[0] != '/') {
    complain("SIDEWARP_API is %s; RDMA needs the sidecar's Unix socket. Use unix:///PATH.", api);
    return EINVAL;
  }
  int length = snprintf(session.socket, sizeof session.socket, "%s" SOCKET_SUFFIX, api);
  if (length < 0 || (size_t)length >= sizeof session.socket) {
    complain("The path of the socket %s.rings has more than %zu bytes. Use a shorter path in SIDEWARP_API.", api,
             sizeof session.socket - 1);
    return ENAMETOOLONG;
  }
  return 0;
}

/* Length of the path of the API's socket, which begins the path of the socket of the rings. */
static int api_length(void) {
  return (int)(strlen(session.socket) - strlen(SOCKET_SUFFIX));
}

/* Says once why there is no device. */
static void explain_missing(int error) {
  if (said_missing) {
    return;
  }
  said_missing = true;
  if (error == EACCES || error == EPERM) {
    complain("No RDMA device: this user may not use the sidecar at %.*s. Run as the sidecar's user, or in its group.",
             api_length(), session.socket);
  } else {
    complain("No RDMA device: there is no sidecar at %.*s (%s). Start one, or set SIDEWARP_API to unix:///PATH.",
             api_length(), session.socket, strerror(error));
  }
}

bool session_is_possible(void) {
  pthread_mutex_lock(&opening);
  bool possible = find_socket() == 0;
  if (possible && access(session.socket, F_OK) != 0) {
    possible = false;
    explain_missing(errno);
  }
  pthread_mutex_unlock(&opening);
  return possible;
}

/* Starts the thread with all signals blocked, so that the program's own threads get them. */
static int start_thread(int descriptor) {
  sigset_t all, before;
  pthread_attr_t attributes;
  sigfillset(&all);
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&session.thread, &attributes, read_session, (void*)(intptr_t)descriptor);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return error;
}

static int open_session(void) {
  union record record = {0};
  int error = find_socket();
  if (error != 0) {
    return ENODEV;
  }
  int descriptor = connect_socket(session.socket);
  if (descriptor < 0) {
    explain_missing(errno);
    return ENODEV;
  }
  said_missing = false;
  snprintf(record.open.name, sizeof record.open.name, "%s", program_invocation_short_name);
  error = exchange(descriptor, &record, CONTROL_OPEN, sizeof record.open, "Opening a session");
  if (error != 0) {
    close(descriptor);
    return error;
  }
  session.device = record.device;
  session.device.version[sizeof session.device.version - 1] = 0;
  session.device.volume[sizeof session.device.volume - 1] = 0;
  const char* volume = getenv("SIDEWARP_VOLUME");
  snprintf(session.volume, sizeof session.volume, "%s",
           volume != NULL && volume[0] != 0 ? volume : session.device.volume);
  session.memory_error = pass_memory(descriptor);
  wait_without_limit(descriptor);
  pthread_mutex_lock(&session.lock);
  session.descriptor = descriptor;
  session.open = true;
  atomic_fetch_add(&session.generation, 1);
  error = start_thread(descriptor);
  if (error != 0) {
    complain("Cannot start a thread: %s.", strerror(error));
    session.open = false;
    session.descriptor = -1;
    atomic_store(&session.lost, atomic_load(&session.generation));
    close(descriptor);
  }
  pthread_mutex_unlock(&session.lock);
  return error;
}

static void before_fork(void) {
  pthread_mutex_lock(&opening);
  pthread_mutex_lock(&session.write_lock);
  pthread_mutex_lock(&session.lock);
}

static void after_fork_in_parent(void) {
  pthread_mutex_unlock(&session.lock);
  pthread_mutex_unlock(&session.write_lock);
  pthread_mutex_unlock(&opening);
}

/* The parent keeps the session. In the child its objects are dead, and a new session can be opened. */
static void after_fork_in_child(void) {
  if (session.descriptor >= 0) {
    close(session.descriptor);
    session.descriptor = -1;
  }
  for (size_t i = 0; i < session.tracked_count; i++) {
    close(session.tracked[i]);
  }
  session.tracked_count = 0;
  session.open = false;
  session.running = session.ending = false;
  memset(session.pending, 0, sizeof session.pending);
  memset(session.watches, 0, sizeof session.watches);
  atomic_store(&session.lost, atomic_load(&session.generation));
  atomic_store(&session.inherited, atomic_load(&session.generation));
  pthread_cond_init(&session.idle, NULL);
  pthread_mutex_init(&session.lock, NULL);
  pthread_mutex_init(&session.write_lock, NULL);
  pthread_mutex_init(&opening, NULL);
  memory_after_fork();
  device_after_fork();
  qp_after_fork();
}

static void register_fork(void) { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }

/*
 * Takes the lock when no lost session is ending. Does not wait with the lock: a fork may wait for it with locks that the
 * handlers of the lost session need.
 */
static void lock_opening(void) {
  for (;;) {
    pthread_mutex_lock(&opening);
    pthread_mutex_lock(&session.lock);
    if (!session.ending) {
      pthread_mutex_unlock(&session.lock);
      return;
    }
    pthread_mutex_unlock(&opening);
    while (session.ending) {
      pthread_cond_wait(&session.idle, &session.lock);
    }
    pthread_mutex_unlock(&session.lock);
  }
}

int session_acquire(void) {
  int cancel;
  pthread_once(&fork_once, register_fork);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  lock_opening();
  int error = session_is_lost(session_generation()) ? open_session() : 0;
  pthread_mutex_unlock(&opening);
  pthread_setcancelstate(cancel, NULL);
  return error;
}

const struct control_device* session_device(void) { return &session.device; }

const char* session_volume(void) { return session.volume; }

uint64_t session_generation(void) { return atomic_load_explicit(&session.generation, memory_order_acquire); }

bool session_is_lost(uint64_t generation) {
  return generation <= atomic_load_explicit(&session.lost, memory_order_acquire);
}

bool session_is_inherited(uint64_t generation) {
  return generation <= atomic_load_explicit(&session.inherited, memory_order_acquire);
}

/* --- Requests ----------------------------------------------------------------------------------------------------- */

int session_send(union record* record, uint16_t type, size_t length, record_handler handler, void* argument) {
  struct pending* pending = malloc(sizeof *pending);
  if (pending == NULL) {
    return ENOMEM;
  }
  /* A cancelled thread must not end with the lock. */
  int cancel;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  pthread_mutex_lock(&session.write_lock);
  pthread_mutex_lock(&session.lock);
  if (!session.open) {
    pthread_mutex_unlock(&session.lock);
    pthread_mutex_unlock(&session.write_lock);
    pthread_setcancelstate(cancel, NULL);
    free(pending);
    return ENODEV;
  }
  int descriptor = session.descriptor;
  uint64_t value = ++session.values;
  *pending = (struct pending){session.pending[value % BUCKETS], value, handler, argument};
  session.pending[value % BUCKETS] = pending;
  pthread_mutex_unlock(&session.lock);
  fill_header(record, type, length, value);
  /* If this fails, the thread sees the end of the socket, and calls the handler. */
  int error = write_fully(descriptor, record, length);
  if (error == EAGAIN) {
    complain("The sidecar took no request for %d s, so the session ends. Read its log.", ANSWER_SECONDS);
  }
  if (error != 0) {
    shutdown(descriptor, SHUT_RDWR);
  }
  pthread_mutex_unlock(&session.write_lock);
  pthread_setcancelstate(cancel, NULL);
  return 0;
}

struct call {
  union record* record;
  bool lost;
  sem_t done;
};

static void finish_call(void* argument, const union record* record) {
  struct call* call = argument;
  call->lost = record == NULL;
  if (record != NULL) {
    memcpy(call->record, record, sizeof *record);
  }
  sem_post(&call->done);
}

static const char* request_name(uint16_t type) {
  static const char* const names[] = {"Opening a session",
                                      "Passing memory",
                                      "Allocating a protection domain",
                                      "Deallocating a protection domain",
                                      "Registering memory",
                                      "Deregistering memory",
                                      "Creating a completion ring",
                                      "Creating a work ring",
                                      "Destroying a ring",
                                      "Creating a shared receive queue",
                                      "Modifying a shared receive queue",
                                      "Destroying a shared receive queue",
                                      "Creating a queue pair"};
  return type >= CONTROL_OPEN && type <= CONTROL_CREATE_CONNECTION ? names[type - CONTROL_OPEN] : NULL;
}

int session_call(union record* record, uint16_t type, size_t length) {
  struct call call = {.record = record};
  pthread_mutex_lock(&session.lock);
  bool inside = session.open && pthread_equal(pthread_self(), session.thread);
  pthread_mutex_unlock(&session.lock);
  if (inside) {
    return EDEADLK;
  }
  /* The answer is written to this thread's stack, so the thread must live until then. */
  int cancel;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  sem_init(&call.done, 0, 0);
  int error = session_send(record, type, length, finish_call, &call);
  if (error == 0) {
    while (sem_wait(&call.done) != 0) {
    }
    error = call.lost ? ENODEV : 0;
  }
  sem_destroy(&call.done);
  pthread_setcancelstate(cancel, NULL);
  if (error == 0 && record->header.type == CONTROL_FAILED) {
    error = status_to_errno(record->failed.code);
    if (request_name(type) != NULL) {
      complain_of(request_name(type), record);
    }
  }
  return error;
}

int session_watch(uint16_t type, uint64_t object, record_handler handler, void* argument) {
  if (handler == NULL) {
    session_unwatch(type, object);
    return 0;
  }
  struct watch* watch = malloc(sizeof *watch);
  if (watch == NULL) {
    return ENOMEM;
  }
  pthread_mutex_lock(&session.lock);
  if (!session.open) {
    pthread_mutex_unlock(&session.lock);
    free(watch);
    return ENODEV;
  }
  struct watch** link = find_watch(type, object);
  *watch = (struct watch){NULL, object, handler, argument, type};
  if (*link != NULL) {
    watch->next = (*link)->next;
    free(*link);
  }
  *link = watch;
  pthread_mutex_unlock(&session.lock);
  return 0;
}

void session_unwatch(uint16_t type, uint64_t object) {
  pthread_mutex_lock(&session.lock);
  struct watch** link = find_watch(type, object);
  struct watch* watch = *link;
  if (watch != NULL) {
    *link = watch->next;
    free(watch);
  }
  while (session.running && session.running_type == type && session.running_object == object &&
         !pthread_equal(pthread_self(), session.thread)) {
    pthread_cond_wait(&session.idle, &session.lock);
  }
  pthread_mutex_unlock(&session.lock);
}

/* --- Descriptors that count events -------------------------------------------------------------------------------- */

int counter_create(void) { return eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC); }

void counter_add(int descriptor) {
  uint64_t one = 1;
  /* Callers have locks, so this must not be a point where a thread is cancelled. */
  while (syscall(SYS_write, descriptor, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

int counter_take(int descriptor) {
  uint64_t value;
  return read(descriptor, &value, sizeof value) == sizeof value ? 0 : -1;
}
