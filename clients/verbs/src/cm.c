/*
 * Copyright The Sidewarp Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * rdma_cm: identifiers, event channels and connections. Address and route resolution are local. Listening, connecting,
 * accepting, rejecting and disconnecting go to the sidecar, whose answers the session's thread turns into events.
 *
 * One lock protects all identifiers and channels. Handlers find their identifier by its serial number, so that an answer
 * for a destroyed identifier is ignored.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sidewarp.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* Limit of the time that the end of the process waits for connections that rdma_disconnect closes. */
enum { CLOSE_SECONDS = 2 };

/* Default values of the sidecar's settings. */
enum { DEFAULT_BACKLOG = 128, MAX_BACKLOG = 1024 };

/* The gRPC status code. */
enum { NOT_FOUND = 5 };

enum state {
  IDLE,
  BOUND,
  ADDRESS_RESOLVED,
  ROUTE_RESOLVED,
  LISTENING,
  /* A peer's request that the program has not answered yet. */
  REQUESTED,
  /* CONNECT or ACCEPT waits for its answer. */
  CONNECTING,
  CONNECTED,
  /* DISCONNECTED, or the failure of CONNECT or ACCEPT, was reported. */
  ENDED,
};

struct identifier {
  struct rdma_cm_id id;
  /*
   * rsocket.c of Debian's librdmacm reads these seven behind struct rdma_cm_id, so their places are those of rdma-core's
   * struct cma_id_private (releases 44 to 56): a device, which stays NULL, private data of rdma_create_ep, the number of
   * acknowledged events, an error, which stays 0, and whether the identifier is synchronous.
   */
  void* device;
  void* connect_data;
  size_t connect_length;
  int events_acknowledged;
  int connect_error;
  int synchronous;
  /* The other private fields of rdma-core, never used. */
  char reserved[256];

  struct identifier* next;
  uint64_t serial;
  enum state state;
  /* Events that rdma_get_cm_event returned. */
  int events_delivered;
  /* Value of `forks` in the process that created the identifier. */
  unsigned forks;
  uint64_t generation;
  /* Requests that came before rdma_listen. */
  struct event* held;
  /* A bound TCP socket that keeps the port until the sidecar listens, or -1. */
  int reservation;
  /* For a peer's request, `listener` is where it came from. */
  uint64_t listener, request, connection;
  /* The queue pair of CONNECT or ACCEPT. Programs can destroy it behind this file's back. */
  struct ibv_qp* qp;
  uint32_t qp_number;
  struct ibv_qp_init_attr* endpoint_attributes;
  bool disconnecting, ended_early, removed;
};

struct closing {
  uint64_t listener;
  struct closing* next;
};

struct event {
  struct rdma_cm_event event;
  struct identifier* owner;
  struct event* next;
  struct sockaddr_storage local;
  unsigned char private_data[UINT8_MAX];
};

struct channel {
  struct rdma_event_channel channel;
  struct event *first, *last;
  unsigned forks;
};

static struct {
  pthread_mutex_t lock;
  /* Signalled when an event was acknowledged, LISTEN was answered, or a connection ended. */
  pthread_cond_t changed;
  struct identifier* identifiers;
  uint64_t serials;
  /* The generation of the session whose end is watched, and its default protection domain. */
  uint64_t watched;
  struct ibv_context* context;
  struct ibv_pd* domain;
  unsigned forks;
  /* Listeners that the program has destroyed, whose requests it still answers. */
  struct closing* closing;
} cm = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static int fail(int error) {
  errno = error;
  return -1;
}

/* A cancelled thread must not end with the lock. */
static int lock(void) {
  int before;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  pthread_mutex_lock(&cm.lock);
  return before;
}

static void unlock(int before) {
  pthread_mutex_unlock(&cm.lock);
  pthread_setcancelstate(before, NULL);
}

static struct identifier* identifier_of(struct rdma_cm_id* id) { return (struct identifier*)id; }

/* Finds the identifier of a handler. */
static struct identifier* find(void* argument) {
  struct identifier* found = cm.identifiers;
  while (found != NULL && found->serial != (uint64_t)(uintptr_t)argument) {
    found = found->next;
  }
  return found;
}

static void* serial_of(const struct identifier* identifier) { return (void*)(uintptr_t)identifier->serial; }

static bool is_alive(const struct identifier* identifier) {
  return identifier->forks == cm.forks && !identifier->removed &&
         (identifier->generation == 0 || !session_is_lost(identifier->generation));
}

static socklen_t address_length(const struct sockaddr* address) {
  if (address == NULL) {
    return 0;
  }
  return address->sa_family == AF_INET    ? sizeof(struct sockaddr_in)
         : address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                          : 0;
}

static bool is_wildcard(const struct sockaddr* address) {
  return address->sa_family == AF_INET ? ((const struct sockaddr_in*)address)->sin_addr.s_addr == htonl(INADDR_ANY)
                                       : IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6*)address)->sin6_addr);
}

static void set_port(struct sockaddr* address, in_port_t port) {
  if (address->sa_family == AF_INET) {
    ((struct sockaddr_in*)address)->sin_port = port;
  } else {
    ((struct sockaddr_in6*)address)->sin6_port = port;
  }
}

/* --- Events ------------------------------------------------------------------------------------------------------- */

static struct channel* channel_of(const struct identifier* identifier) {
  return (struct channel*)identifier->id.channel;
}

/* Creates an event. Returns NULL without memory. */
static struct event* new_event(struct identifier* owner, enum rdma_cm_event_type type, int status) {
  struct event* event = calloc(1, sizeof *event);
  if (event != NULL) {
    event->owner = owner;
    event->event.id = &owner->id;
    event->event.event = type;
    event->event.status = status;
  }
  return event;
}

static void set_private_data(struct event* event, const void* data, size_t length) {
  if (length > sizeof event->private_data) {
    length = sizeof event->private_data;
  }
  if (length > 0) {
    memcpy(event->private_data, data, length);
    event->event.param.conn.private_data = event->private_data;
    event->event.param.conn.private_data_len = (uint8_t)length;
  }
}

static void append(struct channel* channel, struct event* event) {
  event->next = NULL;
  if (channel->last != NULL) {
    channel->last->next = event;
  } else {
    channel->first = event;
  }
  channel->last = event;
  counter_add(channel->channel.fd);
}

/* Queues an event. The caller holds the lock. */
static void queue(struct event* event) {
  struct channel* channel = event == NULL ? NULL : channel_of(event->owner);
  if (channel == NULL || channel->forks != cm.forks) {
    if (event != NULL) {
      free(event);
    } else {
      complain("No memory for an event of rdma_cm.");
    }
    return;
  }
  append(channel, event);
}

static void raise_event(struct identifier* identifier, enum rdma_cm_event_type type, int status) {
  queue(new_event(identifier, type, status));
}

/* Takes back one unit of the counter for an event that is removed from the queue. A reader may have taken it already. */
static void uncount(struct channel* channel) {
  uint64_t value;
  struct iovec part = {&value, sizeof value};
  struct pollfd readable = {.fd = channel->channel.fd, .events = POLLIN};
  if (preadv2(channel->channel.fd, &part, 1, -1, RWF_NOWAIT) < 0 && errno != EAGAIN && poll(&readable, 1, 0) == 1) {
    counter_take(channel->channel.fd);
  }
}

/* Removes the undelivered events of an identifier. Returns them as a list in their order. The caller holds the lock. */
static struct event* take_events(struct identifier* identifier) {
  struct channel* channel = channel_of(identifier);
  struct event *taken = NULL, **end = &taken;
  if (channel == NULL || channel->forks != cm.forks) {
    return NULL;
  }
  struct event** link = &channel->first;
  channel->last = NULL;
  while (*link != NULL) {
    struct event* event = *link;
    if (event->owner == identifier) {
      *link = event->next;
      event->next = NULL;
      *end = event;
      end = &event->next;
      uncount(channel);
    } else {
      channel->last = event;
      link = &event->next;
    }
  }
  return taken;
}

/* --- The session -------------------------------------------------------------------------------------------------- */

/* Reports the end of a connection once. The caller holds the lock. */
static void end_connection(struct identifier* identifier) {
  if (identifier->state == CONNECTED) {
    identifier->state = ENDED;
    raise_event(identifier, RDMA_CM_EVENT_DISCONNECTED, 0);
    pthread_cond_broadcast(&cm.changed);
  } else if (identifier->state == CONNECTING) {
    /* The answer of CONNECT or ACCEPT comes first. */
    identifier->ended_early = true;
  }
}

static void remove_device(struct identifier* identifier) {
  if (!identifier->removed) {
    identifier->removed = true;
    end_connection(identifier);
    raise_event(identifier, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
    pthread_cond_broadcast(&cm.changed);
  }
}

static void on_session_end(void* argument, const union record* record) {
  uint64_t generation = (uint64_t)(uintptr_t)argument;
  if (record != NULL) {
    return;
  }
  int before = lock();
  for (struct identifier* each = cm.identifiers; each != NULL; each = each->next) {
    if (each->generation == generation) {
      remove_device(each);
    }
  }
  unlock(before);
}

static void before_fork(void) { pthread_mutex_lock(&cm.lock); }

static void after_fork_in_parent(void) { pthread_mutex_unlock(&cm.lock); }

/* Identifiers and channels of the parent are dead in the child. */
static void after_fork_in_child(void) {
  cm.forks++;
  cm.identifiers = NULL;
  cm.closing = NULL;
  cm.watched = 0;
  pthread_mutex_init(&cm.lock, NULL);
  pthread_cond_init(&cm.changed, NULL);
}

/* Behind the registration of session.c, because the lock of this file is taken first. */
static void register_fork(void) { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }

/* Opens the device. Returns 0, or -1 with errno. */
static int start(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  struct ibv_context* context = device_shared_context();
  if (context == NULL) {
    return -1;
  }
  pthread_once(&once, register_fork);
  uint64_t generation = session_generation();
  int before = lock();
  bool watched = cm.watched == generation;
  unlock(before);
  if (watched) {
    return 0;
  }
  if (session_watch(0, 0, on_session_end, (void*)(uintptr_t)generation) != 0) {
    return fail(ENODEV);
  }
  before = lock();
  if (cm.watched != generation) {
    cm.watched = generation;
    cm.context = context;
    cm.domain = NULL;
  }
  unlock(before);
  return 0;
}

/* Gives an identifier the device and its default protection domain. Returns 0, or -1 with errno. */
static int attach(struct identifier* identifier) {
  if (start() != 0) {
    return -1;
  }
  if (cm.domain == NULL) {
    struct ibv_pd* domain = ibv_alloc_pd(cm.context);
    if (domain == NULL) {
      return -1;
    }
    int before = lock();
    if (cm.domain == NULL) {
      cm.domain = domain;
      domain = NULL;
    }
    unlock(before);
    if (domain != NULL) {
      ibv_dealloc_pd(domain);
    }
  }
  int before = lock();
  identifier->id.verbs = cm.context;
  if (identifier->id.pd == NULL) {
    identifier->id.pd = cm.domain;
  }
  identifier->id.port_num = 1;
  identifier->id.route.addr.addr.ibaddr.pkey = htons(0xffff);
  identifier->generation = cm.watched;
  unlock(before);
  return 0;
}

/* --- Channels ----------------------------------------------------------------------------------------------------- */

struct rdma_event_channel* rdma_create_event_channel(void) {
  if (start() != 0) {
    return NULL;
  }
  struct channel* channel = calloc(1, sizeof *channel);
  if (channel == NULL) {
    return NULL;
  }
  channel->channel.fd = counter_create();
  channel->forks = cm.forks;
  if (channel->channel.fd < 0) {
    free(channel);
    return NULL;
  }
  return &channel->channel;
}

static void drop_requests(struct event* events);

void rdma_destroy_event_channel(struct rdma_event_channel* public) {
  struct channel* channel = (struct channel*)public;
  int before = lock();
  struct event* events = channel->first;
  channel->first = channel->last = NULL;
  for (struct identifier* each = cm.identifiers; each != NULL; each = each->next) {
    if (each->id.channel == public) {
      each->id.channel = NULL;
    }
  }
  unlock(before);
  drop_requests(events);
  close(channel->channel.fd);
  free(channel);
}

/* A request to a synchronous listener gets a channel of its own when the program takes it. */
static int deliver(struct event* event) {
  struct identifier* identifier = identifier_of(event->event.id);
  if (event->event.event == RDMA_CM_EVENT_CONNECT_REQUEST && event->owner->synchronous &&
      rdma_migrate_id(event->event.id, NULL) != 0) {
    return -1;
  }
  if (event->local.ss_family != AF_UNSPEC) {
    identifier->id.route.addr.src_storage = event->local;
  }
  return 0;
}

int rdma_get_cm_event(struct rdma_event_channel* public, struct rdma_cm_event** result) {
  struct channel* channel = (struct channel*)public;
  if (result == NULL) {
    return fail(EINVAL);
  }
  for (;;) {
    if (channel->forks != cm.forks) {
      return fail(ENODEV);
    }
    if (counter_take(channel->channel.fd) != 0) {
      return -1;
    }
    int before = lock();
    struct event* event = channel->first;
    if (event != NULL) {
      channel->first = event->next;
      if (channel->first == NULL) {
        channel->last = NULL;
      }
      event->next = NULL;
      event->owner->events_delivered++;
    }
    unlock(before);
    if (event == NULL) {
      continue;
    }
    if (deliver(event) != 0) {
      int error = errno;
      before = lock();
      event->owner->events_delivered--;
      unlock(before);
      drop_requests(event);
      return fail(error);
    }
    *result = &event->event;
    return 0;
  }
}

int rdma_ack_cm_event(struct rdma_cm_event* public) {
  struct event* event = (struct event*)public;
  if (event == NULL) {
    return fail(EINVAL);
  }
  int before = lock();
  event->owner->events_acknowledged++;
  pthread_cond_broadcast(&cm.changed);
  unlock(before);
  free(event);
  return 0;
}

/* Waits for the event of the present operation if the identifier is synchronous. Returns 0, or -1 with errno. */
static int complete(struct rdma_cm_id* id) {
  if (!identifier_of(id)->synchronous) {
    return 0;
  }
  if (id->event != NULL) {
    rdma_ack_cm_event(id->event);
    id->event = NULL;
  }
  if (rdma_get_cm_event(id->channel, &id->event) != 0) {
    return -1;
  }
  if (id->event->event == RDMA_CM_EVENT_DEVICE_REMOVAL) {
    return fail(ENODEV);
  }
  int status = id->event->status;
  return status == 0 ? 0 : fail(id->event->event == RDMA_CM_EVENT_REJECTED ? ECONNREFUSED : abs(status));
}

/* --- Identifiers -------------------------------------------------------------------------------------------------- */

/* Creates an identifier that is not in the list yet. */
static struct identifier* new_identifier(void* context, enum rdma_port_space space) {
  struct identifier* identifier = calloc(1, sizeof *identifier);
  if (identifier != NULL) {
    identifier->id.context = context;
    identifier->id.ps = space;
    identifier->id.qp_type = IBV_QPT_RC;
    identifier->reservation = -1;
  }
  return identifier;
}

/* The caller holds the lock. */
static void insert(struct identifier* identifier) {
  identifier->serial = ++cm.serials;
  identifier->forks = cm.forks;
  identifier->next = cm.identifiers;
  cm.identifiers = identifier;
}

static void free_identifier(struct identifier* identifier) {
  if (identifier->reservation >= 0) {
    close(identifier->reservation);
  }
  if (identifier->synchronous && identifier->id.channel != NULL) {
    rdma_destroy_event_channel(identifier->id.channel);
  }
  free(identifier->id.route.path_rec);
  free(identifier->connect_data);
  free(identifier->endpoint_attributes);
  free(identifier);
}

int rdma_create_id(struct rdma_event_channel* channel, struct rdma_cm_id** id, void* context,
                   enum rdma_port_space space) {
  if (space != RDMA_PS_TCP && space != RDMA_PS_IB) {
    return fail(refuse(EOPNOTSUPP, "rdma_cm has no port space 0x%x here, because iWARP has no datagrams. Use RDMA_PS_TCP.",
                       (unsigned)space));
  }
  if (start() != 0) {
    return -1;
  }
  struct identifier* identifier = new_identifier(context, space);
  if (identifier == NULL) {
    return -1;
  }
  identifier->synchronous = channel == NULL;
  identifier->id.channel = channel != NULL ? channel : rdma_create_event_channel();
  if (identifier->id.channel == NULL) {
    free_identifier(identifier);
    return -1;
  }
  int before = lock();
  insert(identifier);
  unlock(before);
  *id = &identifier->id;
  return 0;
}

static void ignore_answer(void* argument, const union record* record) {
  (void)argument;
  (void)record;
}

/* Answers a request of a peer that the program does not want. */
static void reject(uint64_t request, const void* data, size_t length) {
  union record record = {0};
  record.connect.request = request;
  record.connect.private_length = (uint32_t)length;
  if (length > 0) {
    memcpy(record.connect.private_data, data, length);
  }
  session_send(&record, CONTROL_REJECT, sizeof record.connect + length, ignore_answer, NULL);
}

static void disconnect(uint64_t connection, bool abort) {
  union record record = {.disconnect = {.connection = connection, .abort = abort}};
  session_send(&record, CONTROL_DISCONNECT, sizeof record.disconnect, ignore_answer, NULL);
}

/* True while a request of a listener is not answered, or the answer is under way. The caller holds the lock. */
static bool has_requests(uint64_t listener) {
  const struct identifier* each = cm.identifiers;
  while (each != NULL && (each->listener != listener || (each->state != REQUESTED && each->state != CONNECTING))) {
    each = each->next;
  }
  return each != NULL;
}

static void reject_request(void* argument, const union record* record) {
  (void)argument;
  if (record != NULL) {
    reject(record->connection_request.request, NULL, 0);
  }
}

/* Closes listeners that the program has destroyed, once their requests are answered. Called without the lock. */
static void close_listeners(void) {
  struct closing* done = NULL;
  int before = lock();
  for (struct closing** link = &cm.closing; *link != NULL;) {
    struct closing* each = *link;
    if (has_requests(each->listener)) {
      link = &each->next;
    } else {
      *link = each->next;
      each->next = done;
      done = each;
    }
  }
  unlock(before);
  while (done != NULL) {
    struct closing* next = done->next;
    union record record = {.object = {.object = done->listener}};
    session_unwatch(CONTROL_CONNECTION_REQUEST, done->listener);
    session_send(&record, CONTROL_CLOSE_LISTENER, sizeof record.object, ignore_answer, NULL);
    free(done);
    done = next;
  }
}

/* Ends a listener. The sidecar would reject its requests, so one that the program still answers closes later. */
static void end_listener(uint64_t listener) {
  session_unwatch(CONTROL_LISTENER_ENDED, listener);
  session_watch(CONTROL_CONNECTION_REQUEST, listener, reject_request, NULL);
  struct closing* closing = malloc(sizeof *closing);
  int before = lock();
  bool later = closing != NULL && has_requests(listener);
  if (later) {
    *closing = (struct closing){listener, cm.closing};
    cm.closing = closing;
  }
  unlock(before);
  if (!later) {
    union record record = {.object = {.object = listener}};
    session_unwatch(CONTROL_CONNECTION_REQUEST, listener);
    session_call(&record, CONTROL_CLOSE_LISTENER, sizeof record.object);
    free(closing);
  }
}

/* Frees events that the program will not see, and rejects requests among them. Called without the lock. */
static void drop_requests(struct event* events) {
  while (events != NULL) {
    struct event* next = events->next;
    if (events->event.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
      rdma_destroy_id(events->event.id);
    }
    free(events);
    events = next;
  }
}

int rdma_destroy_id(struct rdma_cm_id* id) {
  struct identifier* identifier = identifier_of(id);
  int before = lock();
  bool alive = is_alive(identifier), inherited = identifier->forks != cm.forks;
  struct identifier** link = &cm.identifiers;
  while (*link != NULL && *link != identifier) {
    link = &(*link)->next;
  }
  if (*link != NULL) {
    *link = identifier->next;
  }
  struct event *events = take_events(identifier), *held = identifier->held;
  enum state state = identifier->state;
  unlock(before);

  drop_requests(events);
  drop_requests(held);
  if (alive && (state == LISTENING || state == BOUND) && identifier->listener != 0) {
    end_listener(identifier->listener);
  }
  if (alive && state == REQUESTED) {
    reject(identifier->request, NULL, 0);
  }
  close_listeners();
  if (alive && (state == CONNECTING || (state == CONNECTED && !identifier->disconnecting))) {
    disconnect(identifier->connection, true);
  }
  if (id->event != NULL) {
    rdma_ack_cm_event(id->event);
    id->event = NULL;
  }
  before = lock();
  while (!inherited && identifier->events_acknowledged < identifier->events_delivered) {
    pthread_cond_wait(&cm.changed, &cm.lock);
  }
  unlock(before);
  free_identifier(identifier);
  return 0;
}

int rdma_migrate_id(struct rdma_cm_id* id, struct rdma_event_channel* public) {
  struct identifier* identifier = identifier_of(id);
  bool synchronous = public == NULL;
  if (identifier->synchronous && synchronous) {
    return fail(EINVAL);
  }
  if (identifier->forks != cm.forks) {
    return fail(ENODEV);
  }
  if (synchronous && (public = rdma_create_event_channel()) == NULL) {
    return -1;
  }
  int before = lock();
  struct rdma_event_channel* old = id->channel;
  struct event* events = take_events(identifier);
  id->channel = public;
  for (struct event* held = identifier->held; held != NULL; held = held->next) {
    held->event.id->channel = public;
  }
  while (events != NULL) {
    struct event* next = events->next;
    /* The request of a listener belongs to the channel of the listener. */
    if (events->event.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
      events->event.id->channel = public;
    }
    append((struct channel*)public, events);
    events = next;
  }
  bool was_synchronous = identifier->synchronous;
  unlock(before);
  if (was_synchronous) {
    if (id->event != NULL) {
      rdma_ack_cm_event(id->event);
      id->event = NULL;
    }
    rdma_destroy_event_channel(old);
  }
  before = lock();
  identifier->synchronous = synchronous;
  while (identifier->events_acknowledged < identifier->events_delivered) {
    pthread_cond_wait(&cm.changed, &cm.lock);
  }
  unlock(before);
  return 0;
}

struct ibv_context** rdma_get_devices(int* count) {
  struct ibv_context** list = start() == 0 ? calloc(2, sizeof *list) : NULL;
  if (list != NULL) {
    list[0] = cm.context;
  }
  if (count != NULL) {
    *count = list != NULL;
  }
  return list;
}

void rdma_free_devices(struct ibv_context** list) { free(list); }

int rdma_set_option(struct rdma_cm_id* id, int level, int option, void* value, size_t length) {
  if (!is_alive(identifier_of(id))) {
    return fail(ENODEV);
  }
  if (level != RDMA_OPTION_ID) {
    return fail(level == RDMA_OPTION_IB ? EOPNOTSUPP : ENOSYS);
  }
  /* None of them makes a difference. */
  switch (option) {
    case RDMA_OPTION_ID_TOS:
    case RDMA_OPTION_ID_ACK_TIMEOUT:
      return value != NULL && length == sizeof(uint8_t) ? 0 : fail(EINVAL);
    case RDMA_OPTION_ID_REUSEADDR:
    case RDMA_OPTION_ID_AFONLY:
      return value != NULL && length == sizeof(int) ? 0 : fail(EINVAL);
    default:
      return fail(ENOSYS);
  }
}

/* --- Addresses and routes ----------------------------------------------------------------------------------------- */

/* Binds a TCP socket, which proves that the address is local and keeps the port. Returns 0, or -1 with errno. */
static int reserve(struct identifier* identifier, struct sockaddr* address) {
  int one = 1, descriptor = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  socklen_t length = address_length(address);
  if (descriptor < 0) {
    return -1;
  }
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(descriptor, address, length) != 0 || getsockname(descriptor, address, &length) != 0) {
    int error = errno;
    close(descriptor);
    if (error == EADDRINUSE) {
      complain("Port %u is in use: ports of rdma_cm are TCP ports of the pod. Choose another port.",
               ntohs(address_port(address)));
    }
    return fail(error);
  }
  identifier->reservation = descriptor;
  return 0;
}

static void release_reservation(struct identifier* identifier) {
  if (identifier->reservation >= 0) {
    close(identifier->reservation);
    identifier->reservation = -1;
  }
}

int rdma_bind_addr(struct rdma_cm_id* id, struct sockaddr* address) {
  struct identifier* identifier = identifier_of(id);
  socklen_t length = address_length(address);
  if (length == 0) {
    return fail(address == NULL ? EINVAL : EAFNOSUPPORT);
  }
  if (!is_alive(identifier)) {
    return fail(ENODEV);
  }
  if (identifier->state != IDLE) {
    return fail(EINVAL);
  }
  struct sockaddr_storage bound = {0};
  memcpy(&bound, address, length);
  if (reserve(identifier, (struct sockaddr*)&bound) != 0) {
    return -1;
  }
  if (!is_wildcard(address) && attach(identifier) != 0) {
    release_reservation(identifier);
    return -1;
  }
  id->route.addr.src_storage = bound;
  identifier->state = BOUND;
  return 0;
}

/*
 * Finds the source address by the routing table, with a UDP socket that sends nothing. Returns 0, -1 with errno if the
 * source address is not usable, or a positive errno if there is no route.
 */
static int route(struct sockaddr_storage* source, struct sockaddr_storage* destination) {
  socklen_t length = address_length((struct sockaddr*)destination);
  int descriptor = socket(destination->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) {
    return errno;
  }
  int result = 0;
  if (source->ss_family != AF_UNSPEC) {
    set_port((struct sockaddr*)source, 0);
    result = bind(descriptor, (struct sockaddr*)source, address_length((struct sockaddr*)source));
  }
  int error = errno;
  if (result == 0) {
    socklen_t source_length = sizeof *source, peer_length = sizeof *destination;
    in_port_t port = destination->ss_family == AF_INET ? ((struct sockaddr_in*)destination)->sin_port
                                                       : ((struct sockaddr_in6*)destination)->sin6_port;
    if (connect(descriptor, (struct sockaddr*)destination, length) != 0 ||
        getsockname(descriptor, (struct sockaddr*)source, &source_length) != 0 ||
        getpeername(descriptor, (struct sockaddr*)destination, &peer_length) != 0) {
      result = errno;
    }
    set_port((struct sockaddr*)destination, port);
  }
  close(descriptor);
  return result < 0 ? fail(error) : result;
}

int rdma_resolve_addr(struct rdma_cm_id* id, struct sockaddr* source, struct sockaddr* destination, int timeout) {
  (void)timeout;
  struct identifier* identifier = identifier_of(id);
  socklen_t length = address_length(destination), source_length = address_length(source);
  if (length == 0 || (source != NULL && source_length == 0)) {
    return fail(destination == NULL ? EINVAL : EAFNOSUPPORT);
  }
  if (!is_alive(identifier)) {
    return fail(ENODEV);
  }
  if (identifier->state != IDLE && identifier->state != BOUND) {
    return fail(EINVAL);
  }
  struct sockaddr_storage from = {0}, to = {0};
  memcpy(&to, destination, length);
  if (identifier->state == BOUND) {
    from = id->route.addr.src_storage;
  } else if (source != NULL) {
    memcpy(&from, source, source_length);
  }
  if (identifier->state == BOUND && identifier->listener != 0) {
    /* It connects instead. */
    end_listener(identifier->listener);
    identifier->listener = 0;
    drop_requests(identifier->held);
    identifier->held = NULL;
  }
  in_port_t port = from.ss_family == AF_UNSPEC ? 0 : address_port((struct sockaddr*)&from);
  int error = route(&from, &to);
  if (error < 0 || attach(identifier) != 0) {
    return -1;
  }
  int before = lock();
  id->route.addr.dst_storage = to;
  if (error == 0) {
    set_port((struct sockaddr*)&from, port);
    id->route.addr.src_storage = from;
    identifier->state = ADDRESS_RESOLVED;
    raise_event(identifier, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
  } else {
    raise_event(identifier, RDMA_CM_EVENT_ADDR_ERROR, -error);
  }
  unlock(before);
  return complete(id);
}

/* Gives the identifier the path record that a few programs read. */
static int set_path(struct identifier* identifier) {
  if (identifier->id.route.path_rec == NULL) {
    identifier->id.route.path_rec = calloc(1, sizeof *identifier->id.route.path_rec);
    if (identifier->id.route.path_rec == NULL) {
      return -1;
    }
    identifier->id.route.path_rec->mtu = IBV_MTU_1024;
    identifier->id.route.num_paths = 1;
  }
  return 0;
}

int rdma_resolve_route(struct rdma_cm_id* id, int timeout) {
  (void)timeout;
  struct identifier* identifier = identifier_of(id);
  if (!is_alive(identifier)) {
    return fail(ENODEV);
  }
  if (identifier->state != ADDRESS_RESOLVED) {
    return fail(EINVAL);
  }
  if (set_path(identifier) != 0) {
    return -1;
  }
  int before = lock();
  identifier->state = ROUTE_RESOLVED;
  raise_event(identifier, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
  unlock(before);
  return complete(id);
}

/* --- Listening ---------------------------------------------------------------------------------------------------- */

/* Converts a number of RDMA Reads of the peer. Unset: as many as the device can do. */
static uint8_t depth_of_peer(uint32_t depth, uint32_t limit) {
  if (depth > limit) {
    depth = limit;
  }
  return depth > UINT8_MAX ? UINT8_MAX : (uint8_t)depth;
}

static void on_request(void* argument, const union record* record) {
  if (record == NULL) {
    return;
  }
  const struct control_connection_request* request = &record->connection_request;
  size_t room = sizeof *record - sizeof *request - 16;
  size_t length = request->private_length < room ? request->private_length : room;
  int before = lock();
  struct identifier* listener = find(argument);
  struct identifier* child = listener == NULL ? NULL : new_identifier(listener->id.context, listener->id.ps);
  struct event* event = child == NULL ? NULL : new_event(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
  if (event == NULL || set_path(child) != 0) {
    unlock(before);
    free(event);
    if (child != NULL) {
      free_identifier(child);
    }
    reject(request->request, NULL, 0);
    return;
  }
  child->state = REQUESTED;
  child->listener = record->header.value;
  child->request = request->request;
  child->generation = cm.watched;
  child->id.verbs = cm.context;
  child->id.pd = listener->id.pd != NULL ? listener->id.pd : cm.domain;
  child->id.port_num = 1;
  child->id.route.addr.addr.ibaddr.pkey = htons(0xffff);
  address_decode(&child->id.route.addr.dst_storage, request->remote_address, (uint16_t)request->remote_port);
  address_decode(&child->id.route.addr.src_storage, request->private_data + length, (uint16_t)request->local_port);
  insert(child);
  event->event.id = &child->id;
  event->event.listen_id = &listener->id;
  event->event.param.conn.responder_resources = depth_of_peer(request->peer_ord, session_device()->max_ird);
  event->event.param.conn.initiator_depth = depth_of_peer(request->peer_ird, session_device()->max_ord);
  set_private_data(event, request->private_data, length);
  child->id.channel = listener->id.channel;
  if (listener->state == BOUND) {
    struct event** end = &listener->held;
    while (*end != NULL) {
      end = &(*end)->next;
    }
    *end = event;
  } else {
    queue(event);
  }
  unlock(before);
}

static void on_listener_end(void* argument, const union record* record) {
  int before = lock();
  struct identifier* listener = find(argument);
  if (listener != NULL && record != NULL) {
    complain("The listener ended: %.*s", event_text_length(record), record->event.text);
    listener->listener = 0;
    remove_device(listener);
  }
  unlock(before);
}

struct listen_call {
  struct identifier* identifier;
  union record* record;
  int error;
  bool done;
};

/* Begins to watch the listener before the session's thread reads its first event. */
static void on_listening(void* argument, const union record* record) {
  struct listen_call* call = argument;
  int error = answer_error(record);
  if (error == 0) {
    void* serial = serial_of(call->identifier);
    error = session_watch(CONTROL_CONNECTION_REQUEST, record->listening.listener, on_request, serial);
    if (error == 0) {
      error = session_watch(CONTROL_LISTENER_ENDED, record->listening.listener, on_listener_end, serial);
    }
  }
  int before = lock();
  if (record != NULL) {
    memcpy(call->record, record, sizeof *record);
  }
  call->error = error;
  call->done = true;
  pthread_cond_broadcast(&cm.changed);
  unlock(before);
}

static int try_to_listen(struct identifier* identifier, union record* record, int backlog) {
  struct sockaddr* address = &identifier->id.route.addr.src_addr;
  memset(record, 0, sizeof *record);
  address_encode(record->listen.address, address);
  record->listen.port = ntohs(address_port(address));
  /* A program's small backlog must not reject requests that an RNIC would queue. 0: the sidecar's default. */
  record->listen.backlog = backlog <= DEFAULT_BACKLOG ? 0 : backlog < MAX_BACKLOG ? (uint32_t)backlog : MAX_BACKLOG;
  struct listen_call call = {.identifier = identifier, .record = record};
  int error = session_send(record, CONTROL_LISTEN, sizeof record->listen, on_listening, &call);
  if (error != 0) {
    return error;
  }
  int before = lock();
  while (!call.done) {
    pthread_cond_wait(&cm.changed, &cm.lock);
  }
  unlock(before);
  return call.error;
}

/* Begins to listen. The requests of an identifier that is only bound wait. Returns 0, or -1 with errno. */
static int begin_to_listen(struct identifier* identifier, int backlog) {
  struct rdma_cm_id* id = &identifier->id;
  /* A listener on all addresses has no device, but the identifiers of its requests have. */
  struct ibv_context* verbs = id->verbs;
  struct ibv_pd* domain = id->pd;
  if (attach(identifier) != 0) {
    return -1;
  }
  id->verbs = verbs;
  id->pd = domain;
  union record record;
  int error = try_to_listen(identifier, &record, backlog);
  if (error != 0 && error != ENODEV && identifier->reservation >= 0) {
    /* A sidecar that does not share the port of a bound socket. */
    release_reservation(identifier);
    error = try_to_listen(identifier, &record, backlog);
  }
  release_reservation(identifier);
  if (error != 0) {
    if (record.header.type == CONTROL_FAILED) {
      complain_of("Listening", &record);
    }
    return fail(error == EHOSTUNREACH ? EADDRINUSE : error);
  }
  identifier->listener = record.listening.listener;
  set_port(&id->route.addr.src_addr, htons((uint16_t)record.listening.port));
  return 0;
}

int rdma_listen(struct rdma_cm_id* id, int backlog) {
  struct identifier* identifier = identifier_of(id);
  if (!is_alive(identifier)) {
    return fail(ENODEV);
  }
  if (identifier->state == IDLE) {
    struct sockaddr_in any = {.sin_family = AF_INET};
    if (rdma_bind_addr(id, (struct sockaddr*)&any) != 0) {
      return -1;
    }
  }
  if (identifier->state != BOUND) {
    return fail(EINVAL);
  }
  if (identifier->listener == 0 && begin_to_listen(identifier, backlog) != 0) {
    return -1;
  }
  int before = lock();
  identifier->state = LISTENING;
  while (identifier->held != NULL) {
    struct event* next = identifier->held->next;
    queue(identifier->held);
    identifier->held = next;
  }
  unlock(before);
  return 0;
}

/*
 * A program that asks for the port before it listens, as qperf does, tells it to a peer that connects at once. An RNIC
 * listens soon enough, and a sidecar may not. So it begins to listen here.
 */
__be16 rdma_get_src_port(struct rdma_cm_id* id) {
  struct identifier* identifier = identifier_of(id);
  if (identifier->state == BOUND && identifier->listener == 0 && identifier->reservation >= 0 && is_alive(identifier)) {
    begin_to_listen(identifier, 0);
  }
  return address_port(&id->route.addr.src_addr);
}

__be16 rdma_get_dst_port(struct rdma_cm_id* id) { return address_port(&id->route.addr.dst_addr); }

int rdma_get_request(struct rdma_cm_id* listener, struct rdma_cm_id** id) {
  struct identifier* identifier = identifier_of(listener);
  struct rdma_cm_event* event;
  if (!identifier->synchronous) {
    return fail(EINVAL);
  }
  if (listener->event != NULL) {
    rdma_ack_cm_event(listener->event);
    listener->event = NULL;
  }
  if (rdma_get_cm_event(listener->channel, &event) != 0) {
    return -1;
  }
  int error = event->event == RDMA_CM_EVENT_CONNECT_REQUEST ? 0
              : event->event == RDMA_CM_EVENT_DEVICE_REMOVAL ? ENODEV
                                                             : EINVAL;
  if (error == 0 && identifier->endpoint_attributes != NULL) {
    struct ibv_qp_init_attr attributes = *identifier->endpoint_attributes;
    if (rdma_create_qp(event->id, listener->pd, &attributes) != 0) {
      error = errno;
    }
  }
  if (error != 0) {
    listener->event = event;
    return fail(error);
  }
  *id = event->id;
  (*id)->event = event;
  return 0;
}

/* --- Connections -------------------------------------------------------------------------------------------------- */

static struct ibv_qp* live_queue_pair(const struct identifier* identifier) {
  return identifier->qp != NULL && qp_find(identifier->qp_number) == identifier->qp ? identifier->qp : NULL;
}

static void on_end(void* argument, const union record* record) {
  (void)record;
  int before = lock();
  struct identifier* identifier = find(argument);
  if (identifier != NULL) {
    end_connection(identifier);
  }
  unlock(before);
}

/* Event and status for a failed CONNECT or ACCEPT. */
static struct event* failure(struct identifier* identifier, const union record* record, bool accepting) {
  if (record == NULL) {
    return new_event(identifier, accepting ? RDMA_CM_EVENT_CONNECT_ERROR : RDMA_CM_EVENT_UNREACHABLE, -ENODEV);
  }
  /* A request that the peer gave up is not found any more. */
  int error = accepting && record->failed.code == NOT_FOUND ? ECONNABORTED : answer_error(record);
  /* As the kernel's cma_iw_handler has it. */
  enum rdma_cm_event_type type = accepting                                      ? RDMA_CM_EVENT_CONNECT_ERROR
                                 : error == ECONNREFUSED || error == ECONNRESET ? RDMA_CM_EVENT_REJECTED
                                 : error == ETIMEDOUT                           ? RDMA_CM_EVENT_UNREACHABLE
                                                                                : RDMA_CM_EVENT_CONNECT_ERROR;
  if (type == RDMA_CM_EVENT_CONNECT_ERROR && error != ECONNABORTED) {
    complain_of(accepting ? "Accepting a connection" : "Connecting", record);
  }
  struct event* event = new_event(identifier, type, -error);
  size_t length = record->failed.private_length;
  if (event != NULL && length <= sizeof *record - sizeof record->failed) {
    set_private_data(event, record->failed.private_data, length);
  }
  return event;
}

static void on_answer(void* argument, const union record* record, bool accepting) {
  int before = lock();
  struct identifier* identifier = find(argument);
  if (identifier == NULL || identifier->state != CONNECTING) {
    unlock(before);
    return;
  }
  struct ibv_qp* qp = live_queue_pair(identifier);
  if (record == NULL || record->header.type == CONTROL_FAILED) {
    identifier->state = ENDED;
    if (qp != NULL) {
      qp_set_state(qp, IBV_QPS_ERR);
      if (record != NULL && accepting) {
        /* Flushes the posted receives. The connection of a request that the peer gave up has not begun. */
        disconnect(identifier->connection, true);
      }
    }
    queue(failure(identifier, record, accepting));
  } else {
    const struct control_connected* connected = &record->connected;
    struct event* event = new_event(identifier, RDMA_CM_EVENT_ESTABLISHED, 0);
    identifier->state = CONNECTED;
    if (qp != NULL) {
      qp_set_depths(qp, connected->ird, connected->ord);
      if (!identifier->ended_early) {
        qp_set_state(qp, IBV_QPS_RTS);
      }
    }
    if (event != NULL) {
      event->event.param.conn.responder_resources = depth_of_peer(connected->ird, UINT8_MAX);
      event->event.param.conn.initiator_depth = depth_of_peer(connected->ord, UINT8_MAX);
      event->event.param.conn.qp_num = identifier->qp_number;
      if (connected->private_length <= sizeof *record - sizeof *connected) {
        set_private_data(event, connected->private_data, connected->private_length);
      }
      address_decode(&event->local, connected->local_address, (uint16_t)connected->local_port);
    }
    queue(event);
    if (identifier->ended_early) {
      end_connection(identifier);
    }
  }
  pthread_cond_broadcast(&cm.changed);
  unlock(before);
}

static void on_connect(void* argument, const union record* record) { on_answer(argument, record, false); }

static void on_accept(void* argument, const union record* record) {
  on_answer(argument, record, true);
  close_listeners();
}

/* The queue pair of an operation: the identifier's own one, or the one whose number the program gives. */
static struct ibv_qp* queue_pair(const struct rdma_cm_id* id, const struct rdma_conn_param* parameters) {
  return id->qp != NULL ? id->qp : parameters != NULL ? qp_find(parameters->qp_num) : NULL;
}

static uint32_t depth(uint8_t value, uint32_t limit) {
  return value == RDMA_MAX_RESP_RES ? CONTROL_DEPTH_UNSET : value < limit ? value : limit;
}

/* Sends CONNECT or ACCEPT. Returns 0, or -1 with errno. */
static int open_connection(struct identifier* identifier, struct rdma_conn_param* parameters, union record* record,
                           uint16_t type) {
  struct rdma_cm_id* id = &identifier->id;
  struct ibv_qp* qp = queue_pair(id, parameters);
  if (qp == NULL) {
    return fail(EINVAL);
  }
  const struct control_device* device = session_device();
  struct control_connect* request = &record->connect;
  size_t length = identifier->connect_length;
  size_t more = parameters != NULL && parameters->private_data != NULL ? parameters->private_data_len : 0;
  if (length + more > device->max_private_data || length + more > sizeof *record - sizeof *request) {
    return fail(EINVAL);
  }
  if (length > 0) {
    memcpy(request->private_data, identifier->connect_data, length);
  }
  if (more > 0) {
    memcpy(request->private_data + length, parameters->private_data, more);
  }
  request->connection = qp_connection(qp);
  request->private_length = (uint32_t)(length + more);
  request->ird = parameters == NULL ? CONTROL_DEPTH_UNSET : depth(parameters->responder_resources, device->max_ird);
  request->ord = parameters == NULL ? CONTROL_DEPTH_UNSET : depth(parameters->initiator_depth, device->max_ord);

  int before = lock();
  enum state state = identifier->state;
  identifier->state = CONNECTING;
  identifier->qp = qp;
  identifier->qp_number = qp->qp_num;
  identifier->connection = request->connection;
  unlock(before);
  qp_on_end(qp, on_end, serial_of(identifier));
  if (type == CONTROL_ACCEPT) {
    /* The program may post before the connection is established. */
    qp_set_state(qp, IBV_QPS_RTS);
  }
  int error = session_send(record, type, sizeof *request + length + more,
                           type == CONTROL_ACCEPT ? on_accept : on_connect, serial_of(identifier));
  if (error != 0) {
    qp_set_state(qp, IBV_QPS_ERR);
    before = lock();
    identifier->state = state;
    unlock(before);
    return fail(error);
  }
  return complete(id);
}

int rdma_connect(struct rdma_cm_id* id, struct rdma_conn_param* parameters) {
  struct identifier* identifier = identifier_of(id);
  union record record = {0};
  if (!is_alive(identifier)) {
    return fail(ENODEV);
  }
  if (identifier->state != ROUTE_RESOLVED) {
    return fail(EINVAL);
  }
  release_reservation(identifier);
  address_encode(record.connect.address, &id->route.addr.dst_addr);
  record.connect.port = ntohs(address_port(&id->route.addr.dst_addr));
  return open_connection(identifier, parameters, &record, CONTROL_CONNECT);
}

int rdma_accept(struct rdma_cm_id* id, struct rdma_conn_param* parameters) {
  struct identifier* identifier = identifier_of(id);
  union record record = {0};
  if (!is_alive(identifier)) {
    return fail(ENODEV);
  }
  if (identifier->state != REQUESTED) {
    return fail(EINVAL);
  }
  record.connect.request = identifier->request;
  return open_connection(identifier, parameters, &record, CONTROL_ACCEPT);
}

int rdma_reject(struct rdma_cm_id* id, const void* data, uint8_t length) {
  struct identifier* identifier = identifier_of(id);
  int before = lock();
  bool alive = is_alive(identifier), requested = identifier->state == REQUESTED;
  if (alive && requested) {
    identifier->state = ENDED;
  }
  unlock(before);
  if (!alive || !requested) {
    return fail(alive ? EINVAL : ENODEV);
  }
  if (id->qp != NULL) {
    qp_set_state(id->qp, IBV_QPS_ERR);
  }
  reject(identifier->request, data, data == NULL ? 0 : length);
  close_listeners();
  return 0;
}

int rdma_reject_ece(struct rdma_cm_id* id, const void* data, uint8_t length) { return rdma_reject(id, data, length); }

int rdma_disconnect(struct rdma_cm_id* id) {
  struct identifier* identifier = identifier_of(id);
  int before = lock();
  bool alive = is_alive(identifier), first = !identifier->disconnecting;
  enum state state = identifier->state;
  struct ibv_qp* qp = live_queue_pair(identifier);
  bool pending = false;
  struct channel* channel = channel_of(identifier);
  for (struct event* event = channel == NULL ? NULL : channel->first; event != NULL; event = event->next) {
    pending |= event->owner == identifier;
  }
  if (state == CONNECTED || state == CONNECTING) {
    identifier->disconnecting = true;
  }
  unlock(before);
  switch (state) {
    case CONNECTING:
      if (alive && first) {
        disconnect(identifier->connection, true);
      }
      return complete(id);
    case CONNECTED:
      if (alive && first) {
        if (qp != NULL) {
          qp_close(qp);
        } else {
          disconnect(identifier->connection, false);
        }
      }
      return alive || pending ? complete(id) : fail(ENODEV);
    case ENDED:
      /* The event may wait in the queue. A synchronous identifier must not wait for a second one. */
      return !identifier->synchronous ? 0 : pending ? complete(id) : fail(EINVAL);
    default:
      return fail(alive ? EINVAL : ENODEV);
  }
}

int rdma_establish(struct rdma_cm_id* id) {
  (void)id;
  /* An iWARP device has no CONNECT_RESPONSE event, so there is nothing to confirm. */
  return fail(EINVAL);
}

int rdma_notify(struct rdma_cm_id* id, enum ibv_event_type event) {
  (void)event;
  return is_alive(identifier_of(id)) ? 0 : fail(ENODEV);
}

int rdma_init_qp_attr(struct rdma_cm_id* id, struct ibv_qp_attr* attributes, int* mask) {
  enum ibv_qp_state state = attributes->qp_state;
  if (!is_alive(identifier_of(id))) {
    return fail(ENODEV);
  }
  memset(attributes, 0, sizeof *attributes);
  attributes->qp_state = state;
  switch (state) {
    case IBV_QPS_INIT:
    case IBV_QPS_RTR:
      attributes->qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
      *mask = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS;
      return 0;
    case IBV_QPS_RTS:
      *mask = 0;
      return 0;
    default:
      return fail(EINVAL);
  }
}

/*
 * Closes connections properly before the sidecar sees the end of the process, which would abort them. A handler of a
 * signal may call exit() in a thread that has the lock.
 */
__attribute__((destructor)) static void finish(void) {
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += CLOSE_SECONDS;
  if (pthread_mutex_timedlock(&cm.lock, &limit) != 0) {
    return;
  }
  for (struct identifier* each = cm.identifiers; each != NULL; each = each->next) {
    while (each->disconnecting && each->state == CONNECTED && !each->removed &&
           pthread_cond_timedwait(&cm.changed, &cm.lock, &limit) != ETIMEDOUT) {
    }
  }
  pthread_mutex_unlock(&cm.lock);
}

/* --- Queues of an identifier -------------------------------------------------------------------------------------- */

static void destroy_completion_queues(struct rdma_cm_id* id) {
  if (id->recv_cq != NULL) {
    ibv_destroy_cq(id->recv_cq);
  }
  if (id->send_cq != NULL && id->send_cq != id->recv_cq) {
    ibv_destroy_cq(id->send_cq);
  }
  if (id->recv_cq_channel != NULL) {
    ibv_destroy_comp_channel(id->recv_cq_channel);
  }
  if (id->send_cq_channel != NULL && id->send_cq_channel != id->recv_cq_channel) {
    ibv_destroy_comp_channel(id->send_cq_channel);
  }
  id->recv_cq = id->send_cq = NULL;
  id->recv_cq_channel = id->send_cq_channel = NULL;
}

static int create_completion_queue(struct rdma_cm_id* id, uint32_t entries, struct ibv_comp_channel** channel,
                                   struct ibv_cq** queue) {
  if (entries == 0) {
    return 0;
  }
  *channel = ibv_create_comp_channel(id->verbs);
  *queue = *channel == NULL ? NULL : ibv_create_cq(id->verbs, (int)entries, id, *channel, 0);
  return *queue != NULL ? 0 : -1;
}

int rdma_create_qp_ex(struct rdma_cm_id* id, struct ibv_qp_init_attr_ex* attributes) {
  struct identifier* identifier = identifier_of(id);
  if (!is_alive(identifier)) {
    return fail(ENODEV);
  }
  if (id->qp != NULL || id->verbs == NULL) {
    return fail(EINVAL);
  }
  if (!(attributes->comp_mask & IBV_QP_INIT_ATTR_PD) || attributes->pd == NULL) {
    attributes->comp_mask |= IBV_QP_INIT_ATTR_PD;
    attributes->pd = id->pd;
  }
  if ((id->recv_cq != NULL && attributes->recv_cq != NULL && id->recv_cq != attributes->recv_cq) ||
      (id->send_cq != NULL && attributes->send_cq != NULL && id->send_cq != attributes->send_cq)) {
    return fail(EINVAL);
  }
  bool own_receive = attributes->recv_cq == NULL && id->recv_cq == NULL;
  bool own_send = attributes->send_cq == NULL && id->send_cq == NULL;
  struct ibv_qp* qp = NULL;
  if (create_completion_queue(id, own_receive ? attributes->cap.max_recv_wr : 0, &id->recv_cq_channel, &id->recv_cq) ==
          0 &&
      create_completion_queue(id, own_send ? attributes->cap.max_send_wr : 0, &id->send_cq_channel, &id->send_cq) == 0) {
    if (attributes->send_cq == NULL) {
      attributes->send_cq = id->send_cq != NULL ? id->send_cq : attributes->recv_cq;
    }
    if (attributes->recv_cq == NULL) {
      attributes->recv_cq = id->recv_cq != NULL ? id->recv_cq : attributes->send_cq;
    }
    if (attributes->srq == NULL) {
      attributes->srq = id->srq;
    }
    qp = ibv_create_qp_ex(id->verbs, attributes);
  }
  if (qp == NULL) {
    int error = errno;
    destroy_completion_queues(id);
    return fail(error);
  }
  qp_set_state(qp, IBV_QPS_INIT);
  id->pd = qp->pd;
  id->qp = qp;
  return 0;
}

int rdma_create_qp(struct rdma_cm_id* id, struct ibv_pd* domain, struct ibv_qp_init_attr* attributes) {
  struct ibv_qp_init_attr_ex extended = {0};
  memcpy(&extended, attributes, sizeof *attributes);
  extended.comp_mask = IBV_QP_INIT_ATTR_PD;
  extended.pd = domain != NULL ? domain : id->pd;
  int result = rdma_create_qp_ex(id, &extended);
  memcpy(attributes, &extended, sizeof *attributes);
  return result;
}

void rdma_destroy_qp(struct rdma_cm_id* id) {
  struct identifier* identifier = identifier_of(id);
  int before = lock();
  identifier->qp = NULL;
  unlock(before);
  if (id->qp != NULL) {
    ibv_destroy_qp(id->qp);
  }
  id->qp = NULL;
  before = lock();
  if (identifier->state == CONNECTING) {
    identifier->state = ENDED;
    raise_event(identifier, RDMA_CM_EVENT_CONNECT_ERROR, -ECONNABORTED);
  } else {
    end_connection(identifier);
  }
  unlock(before);
  destroy_completion_queues(id);
}

int rdma_create_srq_ex(struct rdma_cm_id* id, struct ibv_srq_init_attr_ex* attributes) {
  if (!(attributes->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) || id->verbs == NULL) {
    return fail(EINVAL);
  }
  if (attributes->srq_type != IBV_SRQT_BASIC) {
    return fail(EOPNOTSUPP);
  }
  struct ibv_pd* domain = attributes->comp_mask & IBV_SRQ_INIT_ATTR_PD ? attributes->pd : NULL;
  struct ibv_srq_init_attr basic = {.srq_context = attributes->srq_context, .attr = attributes->attr};
  struct ibv_srq* queue = ibv_create_srq(domain != NULL ? domain : id->pd, &basic);
  if (queue == NULL) {
    return -1;
  }
  attributes->attr = basic.attr;
  id->srq = queue;
  return 0;
}

int rdma_create_srq(struct rdma_cm_id* id, struct ibv_pd* domain, struct ibv_srq_init_attr* attributes) {
  struct ibv_srq_init_attr_ex extended = {.srq_context = attributes->srq_context,
                                          .attr = attributes->attr,
                                          .comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
                                          .srq_type = IBV_SRQT_BASIC,
                                          .pd = domain};
  int result = rdma_create_srq_ex(id, &extended);
  attributes->attr = extended.attr;
  return result;
}

void rdma_destroy_srq(struct rdma_cm_id* id) {
  ibv_destroy_srq(id->srq);
  id->srq = NULL;
  destroy_completion_queues(id);
}

/* --- Endpoints ---------------------------------------------------------------------------------------------------- */

static int create_passive_endpoint(struct rdma_cm_id* id, struct rdma_addrinfo* info, struct ibv_pd* domain,
                                   const struct ibv_qp_init_attr* attributes) {
  struct identifier* identifier = identifier_of(id);
  if (rdma_bind_addr(id, info->ai_src_addr) != 0) {
    return -1;
  }
  if (domain != NULL) {
    id->pd = domain;
  }
  if (attributes != NULL) {
    identifier->endpoint_attributes = malloc(sizeof *attributes);
    if (identifier->endpoint_attributes == NULL) {
      return -1;
    }
    *identifier->endpoint_attributes = *attributes;
    identifier->endpoint_attributes->qp_type = info->ai_qp_type;
  }
  return 0;
}

static int create_active_endpoint(struct rdma_cm_id* id, struct rdma_addrinfo* info, struct ibv_pd* domain,
                                  struct ibv_qp_init_attr* attributes) {
  struct identifier* identifier = identifier_of(id);
  if (rdma_resolve_addr(id, info->ai_src_addr, info->ai_dst_addr, 0) != 0 || rdma_resolve_route(id, 0) != 0) {
    return -1;
  }
  if (attributes != NULL) {
    attributes->qp_type = info->ai_qp_type;
    if (rdma_create_qp(id, domain, attributes) != 0) {
      return -1;
    }
  }
  if (info->ai_connect_len > 0) {
    identifier->connect_data = malloc(info->ai_connect_len);
    if (identifier->connect_data == NULL) {
      return -1;
    }
    memcpy(identifier->connect_data, info->ai_connect, info->ai_connect_len);
    identifier->connect_length = info->ai_connect_len;
  }
  return 0;
}

int rdma_create_ep(struct rdma_cm_id** id, struct rdma_addrinfo* info, struct ibv_pd* domain,
                   struct ibv_qp_init_attr* attributes) {
  struct rdma_cm_id* created;
  if (info->ai_qp_type != IBV_QPT_RC) {
    return fail(EOPNOTSUPP);
  }
  if (rdma_create_id(NULL, &created, NULL, info->ai_port_space) != 0) {
    return -1;
  }
  int result = info->ai_flags & RAI_PASSIVE ? create_passive_endpoint(created, info, domain, attributes)
                                            : create_active_endpoint(created, info, domain, attributes);
  if (result != 0) {
    int error = errno;
    rdma_destroy_ep(created);
    return fail(error);
  }
  *id = created;
  return 0;
}

void rdma_destroy_ep(struct rdma_cm_id* id) {
  if (id->qp != NULL) {
    rdma_destroy_qp(id);
  }
  if (id->srq != NULL) {
    rdma_destroy_srq(id);
  }
  rdma_destroy_id(id);
}
