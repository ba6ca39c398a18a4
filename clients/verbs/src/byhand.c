/*
 * Copyright The Sidewarp Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Queue pairs that programs connect without rdma_cm, with SIDEWARP_VERBS_MODE=by-hand. The device poses as RoCE, and
 * its GIDs are the IPv4 addresses of this machine. A program tells its peer a GID and the number of a queue pair, and a
 * connection needs nothing else: bits 0 to 15 of the number are the TCP port of this process's listener. The LID is the
 * last 16 bits of the first address. It suffices for peers with the same first 16 bits.
 *
 * The queue pair with the lower number connects once it becomes ready to receive. The private data names both queue
 * pairs. The other one accepts once it is ready to receive and knows its peer. Neither change of state waits for the
 * peer, because programs exchange numbers before, between and after the two changes. The first post to the send queue
 * waits.
 */
#include "queues.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_SECONDS = 15, CLOSE_SECONDS = 2, MAX_GIDS = 16, MAX_QUEUE_PAIRS = 256, MAGIC = 0x53574248 };

/* A request whose queue pair does not know its peer yet. */
struct request {
  uint64_t number;
  uint32_t from;
  unsigned char address[16];
};

/* The private data of a request: the numbers of both queue pairs, in network byte order. */
struct greeting {
  uint32_t magic, to, from;
};

enum phase {
  CREATED,
  /* The peer connects. */
  WAITING,
  /* CONNECT or ACCEPT waits for its answer. */
  OPENING,
  OPEN,
  FAILED,
};

/* A queue pair, at the index that is in bits 16 to 23 of its number. */
struct entry {
  struct queue_pair* qp;
  uint64_t serial;
  enum phase phase;
  /* The program has made it ready to send. Until it is open, the state that posting checks stays IBV_QPS_RTR. */
  bool sends;
  int error;
  uint32_t peer;
  unsigned char address[16];
  /* The last request that came in phase CREATED. */
  struct request held;
};

static struct {
  /* Taken before the locks of a queue pair. Nothing is sent to the sidecar with it, but at the end of the process. */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  struct entry entries[MAX_QUEUE_PAIRS];
  uint64_t serials;
  uint32_t next_index;
  /* The session of the listener. */
  uint64_t generation;
  uint16_t port;
} hand = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static pthread_mutex_t listen_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t gids_once = PTHREAD_ONCE_INIT;
static union ibv_gid gids[MAX_GIDS];
static int gid_count;

bool by_hand_mode(void) {
  static _Atomic int mode;
  int known = atomic_load_explicit(&mode, memory_order_relaxed);
  if (known == 0) {
    const char* value = getenv("SIDEWARP_VERBS_MODE");
    known = value != NULL && strcmp(value, "by-hand") == 0 ? 1 : 2;
    if (known == 2 && value != NULL && *value != 0) {
      complain("SIDEWARP_VERBS_MODE has the unknown value %s. Use by-hand, or unset it.", value);
    }
    atomic_store(&mode, known);
  }
  return known == 1;
}

/* A cancelled thread must not end with the lock. */
static int lock(void) {
  int before;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  pthread_mutex_lock(&hand.lock);
  return before;
}

static void unlock(int before) {
  pthread_mutex_unlock(&hand.lock);
  pthread_setcancelstate(before, NULL);
}

void by_hand_after_fork(void) {
  pthread_mutex_init(&hand.lock, NULL);
  pthread_mutex_init(&listen_lock, NULL);
  pthread_cond_init(&hand.changed, NULL);
  memset(hand.entries, 0, sizeof hand.entries);
  hand.generation = 0;
}

/* --- GIDs --------------------------------------------------------------------------------------------------------- */

static void add_gids(const struct ifaddrs* each, bool loopback) {
  for (; each != NULL && gid_count < MAX_GIDS; each = each->ifa_next) {
    if (each->ifa_addr != NULL && each->ifa_addr->sa_family == AF_INET && (each->ifa_flags & IFF_UP) != 0 &&
        ((each->ifa_flags & IFF_LOOPBACK) != 0) == loopback) {
      address_encode(gids[gid_count++].raw, each->ifa_addr);
    }
  }
}

/* The loopback address is a GID only if there is no other. */
static void find_gids(void) {
  struct ifaddrs* all;
  if (getifaddrs(&all) != 0) {
    complain("Cannot list the addresses of this machine: %s.", strerror(errno));
    return;
  }
  add_gids(all, false);
  if (gid_count == 0) {
    add_gids(all, true);
  }
  freeifaddrs(all);
}

int by_hand_gids(void) {
  pthread_once(&gids_once, find_gids);
  return gid_count;
}

bool by_hand_gid(uint32_t index, union ibv_gid* gid) {
  if (index >= (uint32_t)by_hand_gids()) {
    return false;
  }
  *gid = gids[index];
  return true;
}

uint16_t by_hand_lid(void) {
  union ibv_gid gid;
  return by_hand_gid(0, &gid) ? (uint16_t)(gid.raw[14] << 8 | gid.raw[15]) : 0;
}

static const char* text_of(const unsigned char address[16], char text[INET6_ADDRSTRLEN]) {
  bool is_ipv4 = IN6_IS_ADDR_V4MAPPED((const struct in6_addr*)address);
  return inet_ntop(is_ipv4 ? AF_INET : AF_INET6, is_ipv4 ? address + 12 : address, text, INET6_ADDRSTRLEN);
}

/* --- Requests ----------------------------------------------------------------------------------------------------- */

static struct entry* entry_of(uint32_t number) {
  struct entry* entry = &hand.entries[number >> 16 & 0xff];
  return entry->qp != NULL && entry->qp->base.qp_num == number ? entry : NULL;
}

/* Handlers find their entry by index and serial number: an answer for a destroyed queue pair is ignored. */
static void* argument_of(const struct entry* entry) {
  return (void*)(uintptr_t)(entry->serial << 8 | (uint64_t)(entry - hand.entries));
}

static void ignore_answer(void* argument, const union record* record) {
  (void)argument;
  (void)record;
}

/* Rejects a request if there is one. Called without the lock. */
static void reject(const struct request* request) {
  union record record = {0};
  record.connect.request = request->number;
  if (request->number != 0) {
    session_send(&record, CONTROL_REJECT, sizeof record.connect, ignore_answer, NULL);
  }
}

/* Marks a queue pair as failed. The caller holds the lock. */
static void fail_entry(struct entry* entry, int error) {
  entry->phase = FAILED;
  entry->error = error;
  qp_set_state(&entry->qp->base, IBV_QPS_ERR);
  pthread_cond_broadcast(&hand.changed);
}

static void on_answer(void* argument, const union record* record) {
  uint64_t value = (uint64_t)(uintptr_t)argument;
  int before = lock();
  struct entry* entry = &hand.entries[value & 0xff];
  if (entry->qp == NULL || entry->serial != value >> 8) {
    unlock(before);
    return;
  }
  if (record == NULL) {
    fail_entry(entry, ENODEV);
  } else if (record->header.type == CONTROL_FAILED) {
    char address[INET6_ADDRSTRLEN];
    const char* text;
    int length = failed_text(record, &text);
    complain("Queue pair %u does not reach queue pair %u of %s: %.*s. Check that the peer runs with "
             "SIDEWARP_VERBS_MODE=by-hand, became ready to receive within 10 seconds, and accepts TCP connections.",
             entry->qp->base.qp_num, entry->peer, text_of(entry->address, address), length, text);
    fail_entry(entry, answer_error(record));
  } else if (!atomic_load(&entry->qp->ended)) {
    entry->phase = OPEN;
    qp_set_depths(&entry->qp->base, record->connected.ird, record->connected.ord);
    if (entry->sends) {
      qp_set_state(&entry->qp->base, IBV_QPS_RTS);
    }
  } else {
    fail_entry(entry, ECONNRESET);
  }
  pthread_cond_broadcast(&hand.changed);
  unlock(before);
}

/* Sends CONNECT or ACCEPT for a queue pair in phase OPENING. Called without the lock. */
static int start(union record* record, uint16_t type, size_t length, uint64_t connection, void* argument) {
  record->connect.connection = connection;
  record->connect.ird = record->connect.ord = CONTROL_DEPTH_UNSET;
  int error = session_send(record, type, sizeof record->connect + length, on_answer, argument);
  if (error != 0) {
    on_answer(argument, NULL);
  }
  return error;
}

static int accept_request(uint64_t request, uint64_t connection, void* argument) {
  union record record = {0};
  record.connect.request = request;
  return start(&record, CONTROL_ACCEPT, 0, connection, argument);
}

static bool is_of_peer(const struct entry* entry, const struct request* request) {
  return request->number != 0 && request->from == entry->peer && memcmp(request->address, entry->address, 16) == 0;
}

static void on_request(void* argument, const union record* record) {
  (void)argument;
  if (record == NULL) {
    return;
  }
  const struct control_connection_request* event = &record->connection_request;
  struct greeting greeting = {0};
  if (event->private_length == sizeof greeting) {
    memcpy(&greeting, event->private_data, sizeof greeting);
  }
  struct request request = {.number = event->request, .from = ntohl(greeting.from)}, refused = request;
  memcpy(request.address, event->remote_address, sizeof request.address);
  uint64_t connection = 0;
  void* accepting = NULL;
  int before = lock();
  struct entry* entry = ntohl(greeting.magic) == MAGIC ? entry_of(ntohl(greeting.to)) : NULL;
  if (entry != NULL && entry->phase == WAITING && is_of_peer(entry, &request)) {
    entry->phase = OPENING;
    connection = entry->qp->connection;
    accepting = argument_of(entry);
    refused.number = 0;
  } else if (entry != NULL && entry->phase == CREATED) {
    refused = entry->held;
    entry->held = request;
  } else if (entry != NULL && entry->phase == WAITING) {
    char address[2][INET6_ADDRSTRLEN];
    complain("Queue pair %u expects queue pair %u of %s, and rejects queue pair %u of %s.", entry->qp->base.qp_num,
             entry->peer, text_of(entry->address, address[0]), request.from, text_of(request.address, address[1]));
  }
  unlock(before);
  if (accepting != NULL) {
    accept_request(request.number, connection, accepting);
  }
  reject(&refused);
}

static void on_listener_end(void* argument, const union record* record) {
  (void)argument;
  if (record != NULL) {
    complain("The listener for queue pairs ended: %.*s", event_text_length(record), record->event.text);
  }
}

struct listen_call {
  uint16_t port;
  int error;
  bool done;
};

/* Begins to watch the listener before the session's thread reads its first event. */
static void on_listening(void* argument, const union record* record) {
  struct listen_call* call = argument;
  int error = answer_error(record);
  if (error == 0) {
    error = session_watch(CONTROL_CONNECTION_REQUEST, record->listening.listener, on_request, NULL);
  }
  if (error == 0) {
    error = session_watch(CONTROL_LISTENER_ENDED, record->listening.listener, on_listener_end, NULL);
  }
  int before = lock();
  call->port = error == 0 ? (uint16_t)record->listening.port : 0;
  call->error = error;
  call->done = true;
  pthread_cond_broadcast(&hand.changed);
  unlock(before);
}

/* Listens if this session does not yet. Returns 0 or an errno. */
static int listen_once(uint64_t generation) {
  struct sockaddr_in any = {.sin_family = AF_INET};
  struct listen_call call = {0};
  union record record = {0};
  int cancel;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  pthread_mutex_lock(&listen_lock);
  if (hand.generation != generation) {
    address_encode(record.listen.address, (struct sockaddr*)&any);
    call.error = session_send(&record, CONTROL_LISTEN, sizeof record.listen, on_listening, &call);
    pthread_mutex_lock(&hand.lock);
    while (call.error == 0 && !call.done) {
      pthread_cond_wait(&hand.changed, &hand.lock);
    }
    if (call.error == 0) {
      hand.generation = generation;
      hand.port = call.port;
    }
    pthread_mutex_unlock(&hand.lock);
  }
  pthread_mutex_unlock(&listen_lock);
  pthread_setcancelstate(cancel, NULL);
  if (call.error != 0) {
    complain("Cannot listen for queue pairs that are connected by hand: %s.", strerror(call.error));
  }
  return call.error;
}

/* --- Queue pairs -------------------------------------------------------------------------------------------------- */

int by_hand_add(struct queue_pair* qp) {
  int error = listen_once(qp->generation);
  if (error != 0) {
    return error;
  }
  int before = lock();
  uint32_t tries = 0, index = 0;
  do {
    index = hand.next_index++ % MAX_QUEUE_PAIRS;
  } while (hand.entries[index].qp != NULL && ++tries < MAX_QUEUE_PAIRS);
  if (tries < MAX_QUEUE_PAIRS) {
    hand.entries[index] = (struct entry){.qp = qp, .serial = ++hand.serials};
    qp->base.qp_num = index << 16 | hand.port;
  }
  unlock(before);
  if (tries == MAX_QUEUE_PAIRS) {
    complain("A process has at most %d queue pairs with SIDEWARP_VERBS_MODE=by-hand.", MAX_QUEUE_PAIRS);
    return ENOMEM;
  }
  return 0;
}

uint32_t by_hand_number(uint64_t connection) {
  uint32_t number = 0;
  int before = lock();
  for (int i = 0; i < MAX_QUEUE_PAIRS; i++) {
    const struct queue_pair* qp = hand.entries[i].qp;
    if (qp != NULL && qp->connection == connection) {
      number = qp->base.qp_num;
    }
  }
  unlock(before);
  return number;
}

void by_hand_remove(struct queue_pair* qp) {
  struct request held = {0};
  int before = lock();
  struct entry* entry = entry_of(qp->base.qp_num);
  bool is_open = false;
  if (entry != NULL && entry->qp == qp) {
    is_open = entry->phase == OPEN;
    held = entry->held;
    *entry = (struct entry){0};
  }
  unlock(before);
  reject(&held);
  if (is_open) {
    /* Programs for RoCE expect that their completed work has reached the peer, so the connection is not aborted. */
    qp_close(&qp->base);
  }
}

/* Connects, or waits for the peer. Returns 0 or an errno. */
static int open_entry(struct queue_pair* qp, const struct ibv_qp_attr* attributes, int mask) {
  const struct ibv_ah_attr* path = &attributes->ah_attr;
  uint32_t number = qp->base.qp_num, peer = attributes->dest_qp_num & 0xffffff;
  char text[INET6_ADDRSTRLEN];
  union ibv_gid own;
  if ((mask & IBV_QP_AV) == 0 || !by_hand_gid(path->is_global ? path->grh.sgid_index : 0, &own) ||
      (peer & 0xffff) == 0) {
    return EINVAL;
  }
  if (!path->is_global && path->dlid == 0) {
    complain("A queue pair needs the GID or the LID of its peer. Check that the peer runs with "
             "SIDEWARP_VERBS_MODE=by-hand, or use the program's option for a GID index, such as -x of perftest.");
    return EINVAL;
  }
  union ibv_gid gid = path->is_global ? path->grh.dgid : own;
  unsigned char* address = gid.raw;
  if (!path->is_global) {
    address[14] = (unsigned char)(path->dlid >> 8);
    address[15] = (unsigned char)path->dlid;
  }
  if (!IN6_IS_ADDR_V4MAPPED((const struct in6_addr*)address)) {
    complain("The peer's GID %s is not an IPv4 address. Check that the peer runs with SIDEWARP_VERBS_MODE=by-hand.",
             text_of(address, text));
    return EOPNOTSUPP;
  }
  int order = number != peer ? (number < peer ? -1 : 1) : memcmp(own.raw, address, sizeof own.raw);
  if (order == 0) {
    complain("Queue pair %u cannot be connected to itself.", number);
    return EOPNOTSUPP;
  }
  int before = lock();
  struct entry* entry = entry_of(number);
  if (entry == NULL || entry->phase != CREATED || atomic_load(&qp->ended)) {
    unlock(before);
    return EINVAL;
  }
  entry->peer = peer;
  memcpy(entry->address, address, sizeof entry->address);
  struct request held = entry->held;
  entry->held = (struct request){0};
  bool accepts = order > 0 && is_of_peer(entry, &held);
  entry->phase = order < 0 || accepts ? OPENING : WAITING;
  void* argument = argument_of(entry);
  atomic_store(&qp->ignores_end, true);
  qp_set_state(&qp->base, IBV_QPS_RTR);
  unlock(before);
  if (accepts) {
    return accept_request(held.number, qp->connection, argument);
  }
  reject(&held);
  if (order > 0) {
    return 0;
  }
  struct greeting greeting = {htonl(MAGIC), htonl(peer), htonl(number)};
  union record record = {0};
  memcpy(record.connect.address, address, sizeof record.connect.address);
  record.connect.port = peer & 0xffff;
  record.connect.private_length = sizeof greeting;
  memcpy(record.connect.private_data, &greeting, sizeof greeting);
  return start(&record, CONTROL_CONNECT, sizeof greeting, qp->connection, argument);
}

bool by_hand_modify(struct queue_pair* qp, const struct ibv_qp_attr* attributes, int mask, int* error) {
  if (attributes->qp_state == IBV_QPS_RTR && (mask & IBV_QP_DEST_QPN) != 0) {
    *error = open_entry(qp, attributes, mask);
    return true;
  }
  if (attributes->qp_state != IBV_QPS_RTS) {
    return false;
  }
  int before = lock();
  struct entry* entry = entry_of(qp->base.qp_num);
  bool waits = entry != NULL && (entry->phase == WAITING || entry->phase == OPENING);
  if (waits) {
    entry->sends = true;
    *error = 0;
  }
  unlock(before);
  return waits;
}

enum ibv_qp_state by_hand_state(struct queue_pair* qp, enum ibv_qp_state state) {
  int before = lock();
  const struct entry* entry = entry_of(qp->base.qp_num);
  bool sends = entry != NULL && entry->sends;
  unlock(before);
  return state == IBV_QPS_RTR && sends ? IBV_QPS_RTS : state;
}

bool by_hand_hides(const struct queue_pair* qp, const struct ring_completion* completion) {
  return atomic_load(&qp->ignores_end) && completion->tag == TAG_RECEIVE &&
         (completion->flags & COMPLETION_FLAG_ERROR) == 0 &&
         (completion->status == COMPLETION_STATUS_FLUSHED ||
          (completion->status == COMPLETION_STATUS_INVALID_REQUEST && atomic_load(&qp->ended)));
}

int by_hand_wait(struct queue_pair* qp) {
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += WAIT_SECONDS;
  int result = 0, error = EINVAL;
  char text[INET6_ADDRSTRLEN];
  int before = lock();
  struct entry* entry = entry_of(qp->base.qp_num);
  if (entry != NULL && entry->sends) {
    while ((entry->phase == WAITING || entry->phase == OPENING) && result != ETIMEDOUT &&
           !session_is_lost(qp->generation)) {
      result = pthread_cond_timedwait(&hand.changed, &hand.lock, &limit);
    }
    error = entry->phase == OPEN                      ? 0
            : entry->phase == FAILED                  ? entry->error
            : session_is_lost(qp->generation) ? ENODEV
                                                      : ETIMEDOUT;
    if (error == ETIMEDOUT && entry->phase != FAILED) {
      complain("Queue pair %u waits for queue pair %u of %s since %d seconds. Check that the peer is ready to receive, "
               "and can connect to port %u of this machine.",
               qp->base.qp_num, entry->peer, text_of(entry->address, text), WAIT_SECONDS, qp->base.qp_num & 0xffff);
    }
  }
  unlock(before);
  return error;
}

/* Closes connections properly before the sidecar sees the end of the process, which would abort them. */
__attribute__((destructor)) static void finish(void) {
  const struct timespec pause = {.tv_nsec = 1000000};
  int before = lock();
  for (int i = 0; i < MAX_QUEUE_PAIRS; i++) {
    struct queue_pair* qp = hand.entries[i].phase == OPEN ? hand.entries[i].qp : NULL;
    if (qp != NULL && !session_is_lost(qp->generation)) {
      qp_close(&qp->base);
    }
  }
  unlock(before);
  bool closing = true;
  for (int left = CLOSE_SECONDS * 1000; left > 0 && closing; left--) {
    closing = false;
    before = lock();
    for (int i = 0; i < MAX_QUEUE_PAIRS; i++) {
      const struct queue_pair* qp = hand.entries[i].qp;
      closing |= qp != NULL && __atomic_load_n(&qp->base.state, __ATOMIC_ACQUIRE) == IBV_QPS_SQD;
    }
    unlock(before);
    nanosleep(&pause, NULL);
  }
}
