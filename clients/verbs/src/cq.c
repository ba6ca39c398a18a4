/*
 * Copyright The Sidewarp Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Completion queues over ring sets, and completion channels. The descriptor of a channel is an epoll descriptor with the
 * sockets of the rings: ibv_req_notify_cq asks the sidecar for one WAKE record on each, and a WAKE is an event.
 */
#include "queues.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* gRPC status codes of work for a connection that does not exist, or is not connected. */
enum { CODE_NOT_FOUND = 5, CODE_FAILED_PRECONDITION = 9 };

enum { MIN_ROOM = 64, MIN_BLOCKS = 64, MAX_BLOCKS = 4096, MAX_MEMBERS = 1 << 16, LOOK_MS = 1000 };

struct channel {
  struct ibv_comp_channel base;
  uint64_t generation;
  /* Held while an event is taken, and while a set leaves the channel. */
  pthread_mutex_t lock;
};

/* --- Rings -------------------------------------------------------------------------------------------------------- */

static void ring_unmap(struct ring* ring) {
  if (ring->header != NULL) {
    munmap(ring->header, ring->length);
    ring->header = NULL;
  }
}

static int ring_map(struct ring* ring, const char* file, uint32_t kind) {
  char path[768];
  struct stat status;
  snprintf(path, sizeof path, "%s/%.128s", session_volume(), file);
  int descriptor = open(path, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) {
    complain("Cannot open the ring %s: %s. Mount the sidecar's shared volume, and set SIDEWARP_VOLUME to its path.", path,
             strerror(errno));
    return EIO;
  }
  struct ring_header* header = MAP_FAILED;
  if (fstat(descriptor, &status) == 0 && status.st_size >= RING_DATA_OFFSET + RING_BLOCK_SIZE) {
    header = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  }
  close(descriptor);
  if (header == MAP_FAILED) {
    complain("Cannot map the ring %s: %s.", path, strerror(errno));
    return EIO;
  }
  uint64_t needed = header->data_offset + (uint64_t)header->blocks * RING_BLOCK_SIZE;
  if (header->magic != RING_MAGIC || header->version != RING_VERSION || header->block_size != RING_BLOCK_SIZE ||
      header->kind != kind || header->blocks == 0 || (header->blocks & (header->blocks - 1)) != 0 ||
      needed > (uint64_t)status.st_size) {
    complain("The ring %s has magic 0x%x, version %u, kind %u; expected 0x%x, %d, %u. Use the library of the sidecar's "
             "version.",
             path, header->magic, header->version, header->kind, RING_MAGIC, RING_VERSION, kind);
    munmap(header, (size_t)status.st_size);
    return EPROTO;
  }
  *ring = (struct ring){.header = header,
                        .blocks = (union ring_block*)((unsigned char*)header + header->data_offset),
                        .length = (size_t)status.st_size,
                        .id = header->ring,
                        .mask = header->blocks - 1};
  return 0;
}

static void ring_destroy(uint64_t ring) {
  union record record = {.object = {.object = ring}};
  session_call(&record, CONTROL_DESTROY_RING, sizeof record.object);
}

static void send_wake(struct ring_set* set, uint64_t ring) {
  struct ring_record record = {sizeof record, RECORD_VERSION, RECORD_WAKE, ring};
  /* Not send(), where a cancelled thread would end with a lock. A failure means that the sidecar has gone, which polling
   * and the channel notice. */
  syscall(SYS_sendto, set->socket, &record, sizeof record, MSG_NOSIGNAL, NULL, 0);
}

void ring_wake(struct ring_set* set, struct ring* ring) {
  /* Either this thread sees that the sidecar waits, or the sidecar sees the entries. */
  atomic_thread_fence(memory_order_seq_cst);
  if (atomic_load_explicit(&ring->header->consumer_waits, memory_order_relaxed) != 0 &&
      atomic_exchange(&ring->header->consumer_waits, 0) != 0) {
    send_wake(set, ring->id);
  }
}

/* Returns the blocks of taken completions to the sidecar. */
static void release(struct ring_set* set) {
  struct ring* ring = &set->completions;
  atomic_store_explicit(&ring->header->consumed, ring->next, memory_order_release);
  atomic_thread_fence(memory_order_seq_cst);
  if (atomic_load_explicit(&ring->header->producer_waits, memory_order_relaxed) != 0 &&
      atomic_exchange(&ring->header->producer_waits, 0) != 0) {
    send_wake(set, ring->id);
  }
}

/* --- Sets --------------------------------------------------------------------------------------------------------- */

static uint32_t round_up(uint32_t value) {
  uint32_t power = 1;
  while (power < value) {
    power *= 2;
  }
  return power;
}

static int need_ring(struct ring_set* set, uint16_t kind, uint32_t capacity) {
  struct work_ring* ring = kind == RING_KIND_SEND ? &set->sends : &set->receives;
  if (ring->ring.header != NULL) {
    return 0;
  }
  uint32_t blocks = round_up(capacity < set->room / 2 ? set->room / 2 : capacity);
  blocks = blocks < MIN_BLOCKS ? MIN_BLOCKS : blocks > MAX_BLOCKS ? MAX_BLOCKS : blocks;
  union record record = {
      .create_work_ring = {.completion_ring = set->completions.id, .kind = kind, .blocks = blocks}};
  int error = session_call(&record, CONTROL_CREATE_WORK_RING, sizeof record.create_work_ring);
  if (error == 0) {
    struct ring mapped;
    error = ring_map(&mapped, record.ring.file, kind);
    if (error == 0) {
      ring->ring = mapped;
    } else {
      ring_destroy(record.ring.ring);
    }
  }
  return error;
}

static int set_create(struct ring_set** result, uint32_t room) {
  uint32_t limit = session_device()->max_queue_outstanding;
  uint32_t entries = round_up(room + SPARE < MIN_ROOM ? MIN_ROOM : room + SPARE);
  if (room + SPARE > limit) {
    complain("A queue needs %u work requests; the sidecar's sidewarp.limits.queue-outstanding permits %u.", room + SPARE,
             limit);
    return EINVAL;
  }
  struct ring_set* set = calloc(1, sizeof *set);
  if (set == NULL) {
    return ENOMEM;
  }
  union record record = {.create_completion_ring = {.entries = entries < limit ? entries : limit}};
  set->generation = session_generation();
  set->socket = -1;
  pthread_mutex_init(&set->sends.lock, NULL);
  pthread_mutex_init(&set->receives.lock, NULL);
  int error = session_call(&record, CONTROL_CREATE_COMPLETION_RING, sizeof record.create_completion_ring);
  if (error != 0) {
    free(set);
    return error;
  }
  set->room = record.ring.entries - SPARE;
  error = ring_map(&set->completions, record.ring.file, RING_KIND_COMPLETION);
  if (error == 0) {
    set->socket = session_connect_ring(record.ring.token);
    error = set->socket < 0 ? errno : 0;
  }
  if (error != 0) {
    ring_destroy(record.ring.ring);
    ring_unmap(&set->completions);
    free(set);
    return error;
  }
  *result = set;
  return 0;
}

void set_destroy(struct ring_set* set) {
  /* The sidecar ends the rings when their socket closes. In a child of fork both are the parent's. */
  if (!session_is_inherited(set->generation)) {
    session_close_ring(set->socket);
  }
  ring_unmap(&set->completions);
  ring_unmap(&set->sends.ring);
  ring_unmap(&set->receives.ring);
  free(set->members);
  free(set);
}

static struct channel* channel_of(struct completion_queue* cq) { return (struct channel*)cq->base.channel; }

/* Puts a set into a completion queue. */
static int set_insert(struct ring_set* set, struct completion_queue* cq) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = set};
  set->cq = cq;
  if (cq->base.channel != NULL && epoll_ctl(cq->base.channel->fd, EPOLL_CTL_ADD, set->socket, &event) != 0) {
    set->cq = NULL;
    return errno;
  }
  pthread_mutex_lock(&cq->lock);
  set->next = cq->sets;
  cq->sets = set;
  atomic_store(&set->completions.header->consumer_waits, cq->armed);
  pthread_mutex_unlock(&cq->lock);
  return 0;
}

static void set_remove(struct ring_set* set) {
  struct completion_queue* cq = set->cq;
  if (cq->base.channel != NULL) {
    pthread_mutex_lock(&channel_of(cq)->lock);
    epoll_ctl(cq->base.channel->fd, EPOLL_CTL_DEL, set->socket, NULL);
    pthread_mutex_unlock(&channel_of(cq)->lock);
  }
  pthread_mutex_lock(&cq->lock);
  struct ring_set** link = &cq->sets;
  while (*link != set) {
    link = &(*link)->next;
  }
  *link = set->next;
  cq->turn = NULL;
  set->cq = NULL;
  pthread_mutex_unlock(&cq->lock);
}

int set_adopt(struct ring_set* set, struct completion_queue* cq) {
  if (set->cq == cq) {
    return 0;
  }
  if (set->cq != NULL) {
    set_remove(set);
  }
  return cq == NULL ? 0 : set_insert(set, cq);
}

/* Enters a work queue among the members of its set. The caller holds the lock of the completion queue. */
static int member_add(struct ring_set* set, struct work_queue* queue) {
  uint32_t index = 0;
  while (index < set->member_count && set->members[index].queue != NULL) {
    index++;
  }
  if (index == MAX_MEMBERS) {
    return ENOMEM;
  }
  if (index == set->member_count) {
    void* members = realloc(set->members, (index + 1) * sizeof *set->members);
    if (members == NULL) {
      return ENOMEM;
    }
    set->members = members;
    set->members[index].use = 0;
    set->member_count++;
  }
  set->members[index].queue = queue;
  queue->member = (uint64_t)++set->members[index].use << 48 | (uint64_t)index << 32;
  queue->set = set;
  return 0;
}

static bool has_ended(const struct ring_set* set) {
  return atomic_load_explicit(&set->dead, memory_order_relaxed) || session_is_lost(set->generation) ||
         atomic_load_explicit(&set->completions.header->state, memory_order_relaxed) == RING_STATE_ENDED;
}

int set_create_shared(struct work_queue* queue) {
  struct ring_set* set;
  int error = set_create(&set, queue->capacity);
  if (error != 0) {
    return error;
  }
  error = need_ring(set, RING_KIND_RECEIVE, queue->capacity);
  if (error == 0) {
    error = member_add(set, queue);
  }
  if (error != 0) {
    set_destroy(set);
    return error;
  }
  /* Other queues find no room. */
  set->reserved = set->room;
  return 0;
}

static bool is_empty(const struct ring* ring) {
  return atomic_load_explicit(&ring->blocks[ring->next & ring->mask].completion.sequence, memory_order_acquire) !=
         ring->next + 1;
}

/* Gives back the room of queues that have gone, once their last completions were taken. */
static void forget_stale(struct ring_set* set) {
  if (set->stale > 0 && is_empty(&set->completions)) {
    set->reserved -= set->stale;
    set->stale = 0;
  }
}

/* Finds a set with room, and reserves it. */
static struct ring_set* reserve(struct completion_queue* cq, uint32_t capacity) {
  pthread_mutex_lock(&cq->lock);
  struct ring_set* set = cq->sets;
  for (; set != NULL; set = set->next) {
    forget_stale(set);
    if (set->room - set->reserved >= capacity && !has_ended(set)) {
      set->reserved += capacity;
      break;
    }
  }
  pthread_mutex_unlock(&cq->lock);
  return set;
}

int queue_attach(struct work_queue* queue, struct completion_queue* cq, uint16_t kind) {
  int error = 0;
  pthread_mutex_lock(&cq->attach_lock);
  struct ring_set* set = reserve(cq, queue->capacity);
  if (set == NULL) {
    uint32_t limit = session_device()->max_queue_outstanding;
    uint32_t room = 2 * cq->largest + SPARE > limit ? limit - SPARE : 2 * cq->largest;
    room = room > queue->expected ? room : queue->expected;
    error = set_create(&set, room > queue->capacity ? room : queue->capacity);
    if (error == ENOMEM && room > queue->capacity) {
      error = set_create(&set, queue->capacity);
    }
    if (error == 0) {
      set->reserved = queue->capacity;
      cq->largest = set->room > cq->largest ? set->room : cq->largest;
      error = set_insert(set, cq);
      if (error != 0) {
        set_destroy(set);
        set = NULL;
      }
    }
  }
  if (error == 0) {
    error = need_ring(set, kind, queue->capacity);
  }
  if (set != NULL) {
    pthread_mutex_lock(&cq->lock);
    error = error == 0 ? member_add(set, queue) : error;
    set->reserved -= error == 0 ? 0 : queue->capacity;
    pthread_mutex_unlock(&cq->lock);
  }
  if (error == 0) {
    atomic_fetch_add(&cq->users, 1);
  }
  pthread_mutex_unlock(&cq->attach_lock);
  return error;
}

void queue_detach(struct work_queue* queue) {
  struct ring_set* set = queue->set;
  struct completion_queue* cq = set->cq;
  if (session_is_inherited(set->generation)) {
    /* Another thread of the parent may have held the lock. */
    set->members[queue->member >> 32 & 0xffff].queue = NULL;
  } else {
    pthread_mutex_lock(&cq->lock);
    set->members[queue->member >> 32 & 0xffff].queue = NULL;
    set->stale += queue->capacity;
    pthread_mutex_unlock(&cq->lock);
    atomic_fetch_sub(&cq->users, 1);
  }
  queue->set = NULL;
}

/* --- Polling ------------------------------------------------------------------------------------------------------ */

static const enum ibv_wc_status statuses[] = {
    [COMPLETION_STATUS_SUCCESS] = IBV_WC_SUCCESS,
    [COMPLETION_STATUS_FLUSHED] = IBV_WC_WR_FLUSH_ERR,
    [COMPLETION_STATUS_LOCAL_PROTECTION_ERROR] = IBV_WC_LOC_PROT_ERR,
    [COMPLETION_STATUS_REMOTE_ACCESS_ERROR] = IBV_WC_REM_ACCESS_ERR,
    [COMPLETION_STATUS_REMOTE_OPERATION_ERROR] = IBV_WC_REM_OP_ERR,
    [COMPLETION_STATUS_LOCAL_LENGTH_ERROR] = IBV_WC_LOC_LEN_ERR,
    [COMPLETION_STATUS_REGION_FAULT] = IBV_WC_LOC_PROT_ERR,
    [COMPLETION_STATUS_INVALID_REQUEST] = IBV_WC_LOC_QP_OP_ERR,
    [COMPLETION_STATUS_FATAL] = IBV_WC_FATAL_ERR,
};

/* Retires the send `number`, and with it all earlier ones. */
static void retire_send(struct work_queue* queue, uint32_t number) {
  /* Release: the slots were read before another thread fills them again. */
  atomic_store_explicit(&queue->tail, number + 1, memory_order_release);
}

/* Takes a receive out of the list of posted ones. Returns whether it was posted. */
static bool retire_receive(struct work_queue* queue, uint32_t index, uint64_t* wr_id) {
  bool posted = false;
  pthread_mutex_lock(&queue->lock);
  struct slot* slot = index < queue->capacity ? &queue->slots[index] : NULL;
  if (slot != NULL && !slot->done) {
    posted = true;
    *wr_id = slot->wr_id;
    slot->done = true;
    queue->slots[slot->previous].next = slot->next;
    queue->slots[slot->next].previous = slot->previous;
    slot->next = queue->free;
    queue->free = index;
  }
  pthread_mutex_unlock(&queue->lock);
  return posted;
}

/* The queue pair of a receive of a shared receive queue is known by the number of its connection only. */
static uint32_t number_of(const struct work_queue* queue, uint64_t connection) {
  return queue->qp != NULL ? queue->qp->base.qp_num : connection != 0 ? qp_number(connection) : 0;
}

/* Says why the sidecar refused a work request: the text stands behind the completion. */
static void explain(const struct ring_set* set, const struct ring_completion* from, const struct queue_pair* qp) {
  const struct ring* ring = &set->completions;
  char text[COMPLETION_MAX_BLOCKS * COMPLETION_BLOCK_TEXT];
  for (uint32_t i = 1; i < from->blocks; i++) {
    const union ring_block* block = &ring->blocks[(ring->next + i) & ring->mask];
    memcpy(text + (i - 1) * COMPLETION_BLOCK_TEXT, block->payload.bytes, COMPLETION_BLOCK_TEXT);
  }
  uint32_t room = (from->blocks - 1u) * COMPLETION_BLOCK_TEXT;
  complain("Queue pair %u: the sidecar refuses a work request: %.*s", qp->base.qp_num,
           (int)(from->text_length < room ? from->text_length : room), text);
}

/* Converts a completion. Returns false if the program does not get one: its queue has gone. */
static bool convert(struct ring_set* set, const struct ring_completion* from, struct ibv_wc* wc) {
  uint32_t index = from->id >> 32 & 0xffff, number = (uint32_t)from->id;
  if (index >= set->member_count || set->members[index].queue == NULL ||
      set->members[index].use != (uint16_t)(from->id >> 48)) {
    return false;
  }
  struct work_queue* queue = set->members[index].queue;
  if (by_hand_mode() && queue->qp != NULL && by_hand_hides(queue->qp, from)) {
    return false;
  }
  memset(wc, 0, sizeof *wc);
  wc->status = from->status < sizeof statuses / sizeof *statuses ? statuses[from->status] : IBV_WC_GENERAL_ERR;
  wc->vendor_err = (uint32_t)from->status << 24 | (uint32_t)from->error_layer << 16 | (uint32_t)from->error_type << 8 |
                   from->error_code;
  wc->byte_len = (uint32_t)from->length;
  wc->qp_num = number_of(queue, from->connection);
  bool is_refusal =
      from->status == COMPLETION_STATUS_INVALID_REQUEST || from->status == COMPLETION_STATUS_LOCAL_PROTECTION_ERROR;
  if (from->tag == TAG_SEND) {
    uint32_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
    if (number - tail >= atomic_load_explicit(&queue->head, memory_order_acquire) - tail) {
      return false;
    }
    struct slot* slot = &queue->slots[number & queue->mask];
    wc->wr_id = slot->wr_id;
    wc->opcode = slot->opcode;
    retire_send(queue, number);
  } else {
    if (!retire_receive(queue, number, &wc->wr_id)) {
      return false;
    }
    wc->opcode = IBV_WC_RECV;
    if (from->flags & COMPLETION_FLAG_IMMEDIATE) {
      /* As qp.c writes it: the number of bytes is in the lower half. */
      wc->opcode = IBV_WC_RECV_RDMA_WITH_IMM;
      wc->wc_flags = IBV_WC_WITH_IMM;
      wc->imm_data = htonl((uint32_t)(from->result >> 32));
      wc->byte_len = (uint32_t)from->result;
    } else if (from->flags & COMPLETION_FLAG_INVALIDATED) {
      wc->wc_flags = IBV_WC_WITH_INV;
      wc->invalidated_rkey = from->invalidated_stag;
    }
  }
  if (is_refusal && queue->qp != NULL) {
    enum ibv_qp_state state = __atomic_load_n(&queue->qp->base.state, __ATOMIC_RELAXED);
    bool is_unknown = from->code == CODE_NOT_FOUND || from->code == CODE_FAILED_PRECONDITION;
    if (is_unknown && from->status == COMPLETION_STATUS_INVALID_REQUEST &&
        (atomic_load(&queue->qp->ended) || state == IBV_QPS_ERR || state == IBV_QPS_SQD)) {
      /* The sidecar knows the connection no more, does not connect it, or closes it behind earlier work. */
      wc->status = IBV_WC_WR_FLUSH_ERR;
    } else {
      explain(set, from, queue->qp);
      qp_fail(queue->qp);
    }
  }
  return true;
}

/* Takes the completion of an outstanding work request of a ring that has ended. */
static bool flush_one(struct work_queue* queue, struct ibv_wc* wc) {
  memset(wc, 0, sizeof *wc);
  wc->status = IBV_WC_WR_FLUSH_ERR;
  wc->qp_num = number_of(queue, 0);
  if (queue->qp != NULL && queue == &queue->qp->sends) {
    uint32_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
    if (tail == atomic_load_explicit(&queue->head, memory_order_acquire)) {
      return false;
    }
    wc->wr_id = queue->slots[tail & queue->mask].wr_id;
    wc->opcode = queue->slots[tail & queue->mask].opcode;
    retire_send(queue, tail);
    return true;
  }
  wc->opcode = IBV_WC_RECV;
  uint32_t oldest = queue->slots[queue->capacity].next;
  return oldest != queue->capacity && retire_receive(queue, oldest, &wc->wr_id);
}

static int flush(struct ring_set* set, int count, struct ibv_wc* wc) {
  int found = 0;
  for (uint32_t i = 0; i < set->member_count; i++) {
    while (found < count && set->members[i].queue != NULL && flush_one(set->members[i].queue, &wc[found])) {
      found++;
    }
  }
  return found;
}

/* Keeps posting out of a set whose rings have ended. */
static void close_set(struct ring_set* set) {
  pthread_mutex_lock(&set->sends.lock);
  pthread_mutex_lock(&set->receives.lock);
  atomic_store(&set->dead, true);
  pthread_mutex_unlock(&set->receives.lock);
  pthread_mutex_unlock(&set->sends.lock);
}

static int poll_set(struct ring_set* set, int count, struct ibv_wc* wc) {
  struct ring* ring = &set->completions;
  uint64_t begin = ring->next;
  int found = 0;
  while (found < count) {
    const struct ring_completion* entry = &ring->blocks[ring->next & ring->mask].completion;
    if (is_empty(ring)) {
      break;
    }
    struct ring_completion completion;
    memcpy(&completion, entry, sizeof completion);
    if (completion.blocks == 0 || completion.blocks > COMPLETION_MAX_BLOCKS) {
      complain("A completion has %u blocks: the completion ring is damaged.", completion.blocks);
      close_set(set);
      break;
    }
    found += convert(set, &completion, &wc[found]);
    ring->next += completion.blocks;
  }
  if (ring->next != begin) {
    release(set);
  } else {
    forget_stale(set);
  }
  if (found == 0 && has_ended(set)) {
    if (!atomic_load(&set->dead)) {
      close_set(set);
    }
    found = flush(set, count, wc);
  }
  return found;
}

int cq_poll(struct ibv_cq* base, int count, struct ibv_wc* wc) {
  struct completion_queue* cq = (struct completion_queue*)base;
  int found = 0;
  if (session_is_inherited(cq->generation)) {
    return -1;
  }
  pthread_mutex_lock(&cq->lock);
  /* Begins behind the set that had the last completion, so that a busy set cannot hold up the others. */
  struct ring_set* first = cq->turn != NULL ? cq->turn : cq->sets;
  struct ring_set* set = first;
  while (set != NULL) {
    int more = poll_set(set, count - found, wc + found);
    found += more;
    set = set->next != NULL ? set->next : cq->sets;
    if (more > 0) {
      cq->turn = set;
    }
    if (set == first || found == count) {
      break;
    }
  }
  pthread_mutex_unlock(&cq->lock);
  if (found == 0) {
    sched_yield();
  }
  return found;
}

/* --- Events ------------------------------------------------------------------------------------------------------- */

int cq_req_notify(struct ibv_cq* base, int solicited_only) {
  struct completion_queue* cq = (struct completion_queue*)base;
  uint32_t mode = solicited_only ? RING_WAITS_FOR_SOLICITED : RING_WAITS_FOR_ANY;
  if (session_is_inherited(cq->generation)) {
    return ENODEV;
  }
  pthread_mutex_lock(&cq->lock);
  cq->armed = cq->armed == RING_WAITS_FOR_ANY ? cq->armed : mode;
  for (struct ring_set* set = cq->sets; set != NULL; set = set->next) {
    _Atomic uint32_t* waits = &set->completions.header->consumer_waits;
    /* A request for all completions stays. The sidecar may swap the word to 0 at the same time: that is a WAKE. */
    if (mode == RING_WAITS_FOR_ANY || atomic_load(waits) != RING_WAITS_FOR_ANY) {
      atomic_store_explicit(waits, mode, memory_order_relaxed);
    }
  }
  pthread_mutex_unlock(&cq->lock);
  /* Either the sidecar sees the word, or the program, which polls after this call, sees the completion. */
  atomic_thread_fence(memory_order_seq_cst);
  return 0;
}

struct ibv_comp_channel* ibv_create_comp_channel(struct ibv_context* context) {
  struct channel* channel = calloc(1, sizeof *channel);
  if (channel == NULL) {
    return NULL;
  }
  channel->generation = device_generation(context);
  channel->base.context = context;
  channel->base.fd = epoll_create1(EPOLL_CLOEXEC);
  if (channel->base.fd < 0) {
    free(channel);
    return NULL;
  }
  pthread_mutex_init(&channel->lock, NULL);
  return &channel->base;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel* channel) {
  if (channel->refcnt > 0) {
    return EBUSY;
  }
  close(channel->fd);
  free(channel);
  return 0;
}

/* True if the program wants interrupted calls to go on: all of its handlers of signals have SA_RESTART. */
static bool restarts(void) {
  for (int number = 1; number < NSIG; number++) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN &&
        (action.sa_flags & SA_RESTART) == 0) {
      return false;
    }
  }
  return true;
}

/* Reads a record of a set's socket. Returns its type, 0 if there is none, or -1 if the socket has ended. */
static int read_wake(struct ring_set* set, struct ring_record* record) {
  unsigned char rest[RECORD_MAX_LENGTH];
  ssize_t got = recv(set->socket, record, sizeof *record, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    return 0;
  }
  if (got > 0 && got < (ssize_t)sizeof *record) {
    got += recv(set->socket, (char*)record + got, sizeof *record - (size_t)got, MSG_WAITALL);
  }
  if (got != sizeof *record || record->length < sizeof *record || record->length > RECORD_MAX_LENGTH) {
    return -1;
  }
  size_t length = record->length - sizeof *record;
  if (length > 0 && recv(set->socket, rest, length, MSG_WAITALL) != (ssize_t)length) {
    return -1;
  }
  if (record->type == RECORD_ERROR) {
    complain("The sidecar ends a ring: %.*s", (int)length, (const char*)rest);
  }
  return record->type;
}

/* Takes an event if there is one. The caller holds the lock of the channel. */
static struct completion_queue* take_event(struct channel* channel) {
  struct epoll_event event;
  while (epoll_wait(channel->base.fd, &event, 1, 0) > 0) {
    struct ring_set* set = event.data.ptr;
    struct completion_queue* cq = set->cq;
    struct ring_record record;
    int type = read_wake(set, &record);
    bool is_event = type == RECORD_WAKE && record.value == set->completions.id;
    if (type < 0) {
      /* The rings have ended. Polling completes what is outstanding, which is an event if one was asked for. */
      epoll_ctl(channel->base.fd, EPOLL_CTL_DEL, set->socket, NULL);
      close_set(set);
      is_event = cq->armed != 0;
    }
    if (is_event) {
      bool armed = false;
      pthread_mutex_lock(&cq->lock);
      for (struct ring_set* each = cq->sets; each != NULL; each = each->next) {
        armed |= (each != set || type > 0) && atomic_load(&each->completions.header->consumer_waits) != 0;
      }
      cq->armed = armed ? cq->armed : 0;
      pthread_mutex_unlock(&cq->lock);
      pthread_mutex_lock(&cq->base.mutex);
      cq->events++;
      pthread_mutex_unlock(&cq->base.mutex);
      return cq;
    }
  }
  return NULL;
}

int ibv_get_cq_event(struct ibv_comp_channel* base, struct ibv_cq** cq, void** cq_context) {
  struct channel* channel = (struct channel*)base;
  for (;;) {
    if (session_is_inherited(channel->generation)) {
      errno = ENODEV;
      return -1;
    }
    /* A cancelled thread must not end with the lock, or lose an event. */
    int cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    pthread_mutex_lock(&channel->lock);
    struct completion_queue* found = take_event(channel);
    if (found != NULL) {
      *cq = &found->base;
      *cq_context = found->base.cq_context;
    }
    pthread_mutex_unlock(&channel->lock);
    pthread_setcancelstate(cancel, NULL);
    if (found != NULL) {
      return 0;
    }
    if (session_is_lost(channel->generation)) {
      /* No event comes any more. The kernel says the same for a device that was removed. */
      errno = EIO;
      return -1;
    }
    if (fcntl(base->fd, F_GETFL) & O_NONBLOCK) {
      errno = EAGAIN;
      return -1;
    }
    struct pollfd descriptor = {base->fd, POLLIN, 0};
    /* The end of the session can come behind that of the rings, and does not make the descriptor readable. */
    if (poll(&descriptor, 1, LOOK_MS) < 0 && (errno != EINTR || !restarts())) {
      return -1;
    }
  }
}

void ibv_ack_cq_events(struct ibv_cq* cq, unsigned count) {
  pthread_mutex_lock(&cq->mutex);
  cq->comp_events_completed += count;
  pthread_cond_broadcast(&cq->cond);
  pthread_mutex_unlock(&cq->mutex);
}

/* --- Completion queues -------------------------------------------------------------------------------------------- */

struct ibv_cq* ibv_create_cq(struct ibv_context* context, int entries, void* cq_context, struct ibv_comp_channel* channel,
                             int vector) {
  static _Atomic uint32_t handles;
  uint64_t generation = device_generation(context);
  if (session_is_lost(generation)) {
    errno = ENODEV;
    return NULL;
  }
  if (entries < 1 || (uint64_t)entries > session_device()->max_completion_entries || vector < 0 ||
      vector >= context->num_comp_vectors) {
    errno = EINVAL;
    return NULL;
  }
  struct completion_queue* cq = calloc(1, sizeof *cq);
  if (cq == NULL) {
    return NULL;
  }
  cq->base = (struct ibv_cq){
      .context = context, .channel = channel, .cq_context = cq_context, .handle = ++handles, .cqe = entries};
  pthread_mutex_init(&cq->base.mutex, NULL);
  pthread_cond_init(&cq->base.cond, NULL);
  pthread_mutex_init(&cq->lock, NULL);
  pthread_mutex_init(&cq->attach_lock, NULL);
  cq->generation = generation;
  if (channel != NULL) {
    pthread_mutex_lock(&context->mutex);
    channel->refcnt++;
    pthread_mutex_unlock(&context->mutex);
  }
  return &cq->base;
}

int ibv_resize_cq(struct ibv_cq* cq, int entries) {
  if (entries < 1 || (uint64_t)entries > session_device()->max_completion_entries) {
    return EINVAL;
  }
  /* The rings have room for all work requests of the queue pairs, whatever the program asks for. */
  cq->cqe = entries;
  return 0;
}

int ibv_destroy_cq(struct ibv_cq* base) {
  struct completion_queue* cq = (struct completion_queue*)base;
  struct ibv_comp_channel* channel = base->channel;
  bool inherited = session_is_inherited(cq->generation);
  if (atomic_load(&cq->users) > 0 && !inherited) {
    return EBUSY;
  }
  /* The sets of a parent stay: their work queues may have gone without a trace. */
  while (cq->sets != NULL && !inherited) {
    struct ring_set* set = cq->sets;
    set_remove(set);
    /* The set of a shared receive queue lives on. Its only member is that queue. */
    bool is_shared = set->member_count > 0 && set->members[0].queue != NULL && set->members[0].queue->srq != NULL;
    if (!is_shared) {
      set_destroy(set);
    }
  }
  if (channel != NULL) {
    pthread_mutex_lock(&base->context->mutex);
    channel->refcnt--;
    pthread_mutex_unlock(&base->context->mutex);
  }
  if (!inherited) {
    pthread_mutex_lock(&base->mutex);
    while (base->comp_events_completed != cq->events) {
      pthread_cond_wait(&base->cond, &base->mutex);
    }
    pthread_mutex_unlock(&base->mutex);
    device_forget(base->context, base);
  }
  free(cq);
  return 0;
}
