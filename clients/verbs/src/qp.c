/*
 * Copyright The Sidewarp Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Queue pairs and shared receive queues over work rings. A queue pair is a connection of the sidecar from the beginning
 * on, so receives can be posted before it is connected.
 *
 * Write with Immediate carries 8 bytes (RFC 7306 section 6.3): imm_data, then the number of written bytes in network byte
 * order, which the receiver's ibv_wc.byte_len tells.
 */
#include "queues.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CLOSE_SECONDS = 2, LAYER_MPA = 2 };

static struct {
  pthread_mutex_t lock;
  struct queue_pair* first;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- Slots -------------------------------------------------------------------------------------------------------- */

static int slots_create(struct work_queue* queue, uint32_t capacity, bool receives) {
  uint32_t room = 1;
  while (room < capacity) {
    room *= 2;
  }
  pthread_mutex_init(&queue->lock, NULL);
  queue->capacity = capacity;
  queue->mask = room - 1;
  queue->slots = calloc(receives ? capacity + 1 : room, sizeof *queue->slots);
  if (queue->slots == NULL) {
    return ENOMEM;
  }
  if (receives) {
    for (uint32_t i = 0; i < capacity; i++) {
      queue->slots[i].done = true;
      queue->slots[i].next = i + 1;
    }
    queue->slots[capacity].previous = queue->slots[capacity].next = capacity;
  }
  return 0;
}

/* Takes a free slot for a receive. Returns its index, or the capacity if all are in use. */
static uint32_t receive_slot(struct work_queue* queue, uint64_t wr_id) {
  pthread_mutex_lock(&queue->lock);
  uint32_t index = queue->free;
  if (index != queue->capacity) {
    struct slot *slot = &queue->slots[index], *list = &queue->slots[queue->capacity];
    queue->free = slot->next;
    *slot = (struct slot){.wr_id = wr_id, .previous = list->previous, .next = queue->capacity};
    queue->slots[list->previous].next = index;
    list->previous = index;
  }
  pthread_mutex_unlock(&queue->lock);
  return index;
}

/* --- Entries ------------------------------------------------------------------------------------------------------ */

/* An entry in the making: its blocks are in the ring, and the sequence of the first one is stored last. */
struct writer {
  struct ring_set* set;
  struct ring* ring;
  uint32_t blocks;
};

static union ring_block* block_at(const struct writer* writer, uint32_t number) {
  union ring_block* block = &writer->ring->blocks[(writer->ring->next + number) & writer->ring->mask];
  if (number > 0) {
    block->payload.sequence = writer->ring->next + number + 1;
  }
  return block;
}

/* Waits until the ring has free blocks for the longest entry. The sidecar takes what is there without a further wake. */
static int wait_for_blocks(struct writer* writer) {
  struct ring* ring = writer->ring;
  /* The sidecar writes `consumed`, so its cache line is not read for each entry. */
  while (ring->mask + 1 - (ring->next - ring->consumed) < WORK_MAX_BLOCKS) {
    uint64_t before = ring->consumed;
    ring->consumed = atomic_load_explicit(&ring->header->consumed, memory_order_acquire);
    if (ring->consumed != before) {
      continue;
    }
    if (atomic_load_explicit(&writer->set->dead, memory_order_relaxed) || session_is_lost(writer->set->generation) ||
        atomic_load_explicit(&ring->header->state, memory_order_relaxed) == RING_STATE_ENDED) {
      return ENODEV;
    }
    ring_wake(writer->set, ring);
    sched_yield();
  }
  return 0;
}

static void publish(struct writer* writer) {
  struct ring* ring = writer->ring;
  struct ring_entry* entry = &ring->blocks[ring->next & ring->mask].entry;
  entry->blocks = (uint8_t)writer->blocks;
  atomic_store_explicit(&entry->sequence, ring->next + 1, memory_order_release);
  ring->next += writer->blocks;
}

/* Writes the local elements. The sidecar refuses region 0, which a key that does not exist has. */
static void write_elements(struct writer* writer, struct key_cache* keys, const struct ibv_sge* list, int count) {
  struct ring_entry* entry = &block_at(writer, 0)->entry;
  uint32_t behind = writer->blocks, elements = 0;
  for (int i = 0; i < count; i++) {
    /* A Read has exactly one element, and may have the length 0. */
    if (list[i].length == 0 && entry->opcode != WORK_OPCODE_READ) {
      continue;
    }
    const struct key* key = key_find(keys, list[i].lkey);
    /* An address before the region gives an offset that the sidecar refuses. */
    struct ring_element element = {.length = list[i].length};
    if (key != NULL) {
      element.region = key->region;
      element.offset = list[i].addr - key->base;
    }
    if (elements == 0) {
      element.flags = entry->element.flags;
      entry->element = element;
    } else {
      struct ring_elements* block = &block_at(writer, behind + (elements - 1) / 2)->elements;
      block->element[(elements - 1) % 2] = element;
      if (elements % 2 == 1) {
        block->element[1] = (struct ring_element){0};
        writer->blocks++;
      }
    }
    elements++;
  }
  entry->elements = (uint8_t)elements;
}

/* Writes payload of `length` bytes behind the entry. */
static void write_payload(struct writer* writer, const struct ibv_sge* list, int count, uint32_t length) {
  uint32_t done = 0;
  block_at(writer, 0)->entry.element.length = length;
  for (int i = 0; i < count; i++) {
    const unsigned char* source = (const unsigned char*)(uintptr_t)list[i].addr;
    for (uint32_t copied = 0; copied < list[i].length;) {
      uint32_t place = done % WORK_BLOCK_PAYLOAD, part = WORK_BLOCK_PAYLOAD - place;
      part = part < list[i].length - copied ? part : list[i].length - copied;
      memcpy(block_at(writer, writer->blocks + done / WORK_BLOCK_PAYLOAD)->payload.bytes + place, source + copied, part);
      copied += part;
      done += part;
    }
  }
  writer->blocks += (length + WORK_BLOCK_PAYLOAD - 1) / WORK_BLOCK_PAYLOAD;
}

static uint64_t total_length(const struct ibv_sge* list, int count) {
  uint64_t total = 0;
  for (int i = 0; i < count; i++) {
    total += list[i].length;
  }
  return total;
}

/* --- Sends -------------------------------------------------------------------------------------------------------- */

static const struct {
  uint8_t opcode, completion;
  bool supported;
} opcodes[] = {
    [IBV_WR_RDMA_WRITE] = {WORK_OPCODE_WRITE, IBV_WC_RDMA_WRITE, true},
    [IBV_WR_RDMA_WRITE_WITH_IMM] = {WORK_OPCODE_WRITE_WITH_IMMEDIATE, IBV_WC_RDMA_WRITE, true},
    [IBV_WR_SEND] = {WORK_OPCODE_SEND, IBV_WC_SEND, true},
    [IBV_WR_RDMA_READ] = {WORK_OPCODE_READ, IBV_WC_RDMA_READ, true},
    [IBV_WR_ATOMIC_CMP_AND_SWP] = {WORK_OPCODE_COMPARE_SWAP, IBV_WC_COMP_SWAP, true},
    [IBV_WR_ATOMIC_FETCH_AND_ADD] = {WORK_OPCODE_FETCH_ADD, IBV_WC_FETCH_ADD, true},
    [IBV_WR_LOCAL_INV] = {WORK_OPCODE_LOCAL_INVALIDATE, IBV_WC_LOCAL_INV, true},
    [IBV_WR_SEND_WITH_INV] = {WORK_OPCODE_SEND, IBV_WC_SEND, true},
};

/* True if the payload can be copied now: the regions hold it, and no earlier Read still brings it. */
static bool can_copy(const struct queue_pair* qp, struct key_cache* keys, const struct ibv_send_wr* wr) {
  if ((wr->send_flags & IBV_SEND_FENCE) != 0) {
    return false;
  }
  for (int i = 0; i < wr->num_sge; i++) {
    const struct ibv_sge* element = &wr->sg_list[i];
    const struct key* key = element->length == 0 ? NULL : key_find(keys, element->lkey);
    if (element->length > 0 &&
        (key == NULL || key->domain != ((struct domain*)qp->base.pd)->number || !key->is_address ||
         element->addr - key->base >= key->length || key->length - (element->addr - key->base) < element->length)) {
      return false;
    }
  }
  return true;
}

static int write_send(struct queue_pair* qp, struct writer* writer, const struct ibv_send_wr* wr, uint32_t number) {
  struct key_cache* keys = &writer->set->sends.keys;
  if ((unsigned)wr->opcode >= sizeof opcodes / sizeof *opcodes || !opcodes[wr->opcode].supported) {
    return EOPNOTSUPP;
  }
  uint8_t opcode = opcodes[wr->opcode].opcode;
  if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->cap.max_send_sge ||
      (opcode == WORK_OPCODE_READ && wr->num_sge != 1)) {
    return EINVAL;
  }
  bool signaled = qp->signal_all || (wr->send_flags & IBV_SEND_SIGNALED) != 0;
  bool copies = opcode == WORK_OPCODE_SEND || opcode == WORK_OPCODE_WRITE || opcode == WORK_OPCODE_WRITE_WITH_IMMEDIATE;
  uint64_t length = total_length(wr->sg_list, wr->num_sge);
  bool wants_inline = copies && (wr->send_flags & IBV_SEND_INLINE) != 0;
  if (length > UINT32_MAX || (wants_inline && length > qp->cap.max_inline_data)) {
    return EINVAL;
  }
  uint32_t flags = (wr->send_flags & IBV_SEND_FENCE ? WORK_FLAG_FENCE : 0) |
                   (wr->send_flags & IBV_SEND_SOLICITED ? WORK_FLAG_SOLICITED : 0) |
                   (signaled ? 0 : WORK_FLAG_UNSIGNALED) |
                   (wr->opcode == IBV_WR_SEND_WITH_INV ? WORK_FLAG_INVALIDATE : 0);
  struct ring_entry* entry = &block_at(writer, 0)->entry;
  entry->id = qp->sends.member | number;
  entry->connection = qp->connection;
  entry->opcode = opcode;
  entry->elements = 0;
  entry->tag = TAG_SEND;
  entry->remote_stag = 0;
  entry->remote_offset = 0;
  entry->element = (struct ring_element){.flags = flags};
  writer->blocks = 1;
  if (opcode >= WORK_OPCODE_WRITE_WITH_IMMEDIATE && opcode <= WORK_OPCODE_COMPARE_SWAP) {
    struct ring_operands* operands = &block_at(writer, writer->blocks++)->operands;
    operands->operand_mask = operands->compare = operands->compare_mask = 0;
    operands->operand = wr->wr.atomic.compare_add;
    if (opcode == WORK_OPCODE_WRITE_WITH_IMMEDIATE) {
      operands->operand = (uint64_t)ntohl(wr->imm_data) << 32 | (uint32_t)length;
    } else if (opcode == WORK_OPCODE_COMPARE_SWAP) {
      operands->operand = wr->wr.atomic.swap;
      operands->compare = wr->wr.atomic.compare_add;
      operands->operand_mask = operands->compare_mask = UINT64_MAX;
    }
  }
  if (opcode == WORK_OPCODE_FETCH_ADD || opcode == WORK_OPCODE_COMPARE_SWAP) {
    entry->remote_stag = wr->wr.atomic.rkey;
    entry->remote_offset = wr->wr.atomic.remote_addr;
  } else if (opcode == WORK_OPCODE_LOCAL_INVALIDATE) {
    const struct key* key = key_find(keys, wr->invalidate_rkey);
    entry->element.region = key == NULL ? 0 : key->region;
    return 0;
  } else if (wr->opcode == IBV_WR_SEND_WITH_INV) {
    entry->remote_stag = wr->invalidate_rkey;
  } else if (opcode != WORK_OPCODE_SEND) {
    entry->remote_stag = wr->wr.rdma.rkey;
    entry->remote_offset = wr->wr.rdma.remote_addr;
  }
  if (copies && length > 0 && (wants_inline || (length <= WORK_MAX_INLINE && can_copy(qp, keys, wr)))) {
    entry->element.flags |= WORK_FLAG_INLINE;
    write_payload(writer, wr->sg_list, wr->num_sge, (uint32_t)length);
    return 0;
  }
  write_elements(writer, keys, wr->sg_list, wr->num_sge);
  return 0;
}

int qp_post_send(struct ibv_qp* base, struct ibv_send_wr* wr, struct ibv_send_wr** bad) {
  struct queue_pair* qp = (struct queue_pair*)base;
  struct work_queue* queue = &qp->sends;
  int error = 0;
  uint64_t posted = 0;
  *bad = wr;
  if (session_is_lost(qp->generation)) {
    return ENODEV;
  }
  if (__atomic_load_n(&base->state, __ATOMIC_RELAXED) < IBV_QPS_RTS) {
    error = by_hand_mode() ? by_hand_wait(qp) : EINVAL;
  }
  if (error != 0 || queue->set == NULL) {
    return error != 0 ? error : EINVAL;
  }
  struct ring_set* set = queue->set;
  struct writer writer = {set, &set->sends.ring, 1};
  pthread_mutex_lock(&set->sends.lock);
  for (; wr != NULL && error == 0; wr = error == 0 ? wr->next : wr) {
    uint32_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
    if (atomic_load_explicit(&set->dead, memory_order_relaxed)) {
      error = ENODEV;
    } else if (head - atomic_load_explicit(&queue->tail, memory_order_acquire) >= queue->capacity) {
      error = ENOMEM;
    } else {
      error = wait_for_blocks(&writer);
    }
    if (error == 0) {
      error = write_send(qp, &writer, wr, head);
    }
    if (error == 0) {
      queue->slots[head & queue->mask] = (struct slot){.wr_id = wr->wr_id, .opcode = opcodes[wr->opcode].completion};
      atomic_store_explicit(&queue->head, head + 1, memory_order_release);
      publish(&writer);
      posted++;
    }
    *bad = wr;
  }
  atomic_fetch_add(&qp->posts, posted);
  pthread_mutex_unlock(&set->sends.lock);
  if (posted > 0) {
    ring_wake(set, &set->sends.ring);
  }
  return error;
}

/* --- Receives ----------------------------------------------------------------------------------------------------- */

/* Posts to the connection, or, with flag SHARED, to the shared receive queue of this number. */
static int post_receives(struct work_queue* queue, uint64_t number, uint32_t flags, uint32_t max_sge,
                         struct ibv_recv_wr* wr, struct ibv_recv_wr** bad, _Atomic uint64_t* posts) {
  struct ring_set* set = queue->set;
  struct writer writer = {set, &set->receives.ring, 1};
  int error = 0;
  uint64_t posted = 0;
  pthread_mutex_lock(&set->receives.lock);
  for (; wr != NULL && error == 0; wr = error == 0 ? wr->next : wr) {
    *bad = wr;
    if (wr->num_sge < 0 || (uint32_t)wr->num_sge > max_sge) {
      error = EINVAL;
    } else if (atomic_load_explicit(&set->dead, memory_order_relaxed)) {
      error = ENODEV;
    } else {
      error = wait_for_blocks(&writer);
    }
    struct ring_entry* entry = &block_at(&writer, 0)->entry;
    if (error == 0) {
      /* `after_posts` of a close counts the entries of the connection in both rings, so a later receive names none. */
      bool is_late = queue->qp != NULL && __atomic_load_n(&queue->qp->base.state, __ATOMIC_RELAXED) == IBV_QPS_SQD;
      entry->connection = is_late ? 0 : number;
      entry->opcode = WORK_OPCODE_RECEIVE;
      entry->tag = TAG_RECEIVE;
      entry->remote_stag = 0;
      entry->remote_offset = 0;
      entry->element = (struct ring_element){.flags = flags};
      writer.blocks = 1;
      write_elements(&writer, &set->receives.keys, wr->sg_list, wr->num_sge);
      uint32_t index = receive_slot(queue, wr->wr_id);
      error = index == queue->capacity ? ENOMEM : 0;
      entry->id = queue->member | index;
    }
    if (error == 0) {
      publish(&writer);
      posted++;
    }
  }
  if (posts != NULL) {
    atomic_fetch_add(posts, posted);
  }
  pthread_mutex_unlock(&set->receives.lock);
  if (posted > 0) {
    ring_wake(set, &set->receives.ring);
  }
  return error;
}

int qp_post_recv(struct ibv_qp* base, struct ibv_recv_wr* wr, struct ibv_recv_wr** bad) {
  struct queue_pair* qp = (struct queue_pair*)base;
  *bad = wr;
  if (session_is_lost(qp->generation)) {
    return ENODEV;
  }
  if (base->srq != NULL || qp->receives.set == NULL) {
    return EINVAL;
  }
  return post_receives(&qp->receives, qp->connection, 0, qp->cap.max_recv_sge, wr, bad, &qp->posts);
}

int srq_post_recv(struct ibv_srq* base, struct ibv_recv_wr* wr, struct ibv_recv_wr** bad) {
  struct shared_queue* srq = (struct shared_queue*)base;
  *bad = wr;
  if (session_is_lost(srq->generation)) {
    return ENODEV;
  }
  return post_receives(&srq->receives, srq->number, WORK_FLAG_SHARED, srq->max_sge, wr, bad, NULL);
}

/* --- The connection of a queue pair ------------------------------------------------------------------------------- */

uint32_t qp_number(uint64_t connection) {
  uint32_t number = connection & 0xffffff;
  if (by_hand_mode()) {
    return by_hand_number(connection);
  }
  return number > 1 ? number : number + 0xfffffe;
}

uint64_t qp_connection(struct ibv_qp* qp) { return ((struct queue_pair*)qp)->connection; }

uint64_t qp_posts(struct ibv_qp* qp) { return atomic_load(&((struct queue_pair*)qp)->posts); }

void qp_set_state(struct ibv_qp* qp, enum ibv_qp_state state) { __atomic_store_n(&qp->state, state, __ATOMIC_RELEASE); }

void qp_set_depths(struct ibv_qp* base, uint32_t ird, uint32_t ord) {
  struct queue_pair* qp = (struct queue_pair*)base;
  qp->ird = ird;
  qp->ord = ord;
}

struct ibv_qp* qp_find(uint32_t number) {
  pthread_mutex_lock(&all.lock);
  struct queue_pair* qp = all.first;
  while (qp != NULL && (qp->base.qp_num != number || session_is_lost(qp->generation))) {
    qp = qp->next;
  }
  pthread_mutex_unlock(&all.lock);
  return qp == NULL ? NULL : &qp->base;
}

void qp_after_fork(void) {
  pthread_mutex_init(&all.lock, NULL);
  by_hand_after_fork();
}

static void ignore(void* argument, const union record* record) {
  (void)argument;
  (void)record;
}

static void abort_connection(uint64_t connection) {
  union record record = {.disconnect = {.connection = connection, .abort = 1}};
  session_send(&record, CONTROL_DISCONNECT, sizeof record.disconnect, ignore, NULL);
}

void qp_close(struct ibv_qp* base) {
  struct queue_pair* qp = (struct queue_pair*)base;
  enum ibv_qp_state expected = IBV_QPS_RTS;
  /* Each receive is counted, or sees the state. */
  pthread_mutex_t* receiving = qp->receives.set == NULL ? NULL : &qp->receives.set->receives.lock;
  int cancel;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  if (receiving != NULL) {
    pthread_mutex_lock(receiving);
  }
  bool closes =
      __atomic_compare_exchange_n(&base->state, &expected, IBV_QPS_SQD, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  union record record = {.disconnect = {.connection = qp->connection, .after_posts = qp_posts(base)}};
  if (receiving != NULL) {
    pthread_mutex_unlock(receiving);
  }
  pthread_setcancelstate(cancel, NULL);
  if (closes) {
    session_send(&record, CONTROL_DISCONNECT, sizeof record.disconnect, ignore, NULL);
  }
}

void qp_fail(struct queue_pair* qp) {
  atomic_store(&qp->ignores_end, false);
  qp_set_state(&qp->base, IBV_QPS_ERR);
  if (!atomic_load(&qp->ended)) {
    abort_connection(qp->connection);
  }
}

void qp_on_end(struct ibv_qp* base, record_handler handler, void* argument) {
  struct queue_pair* qp = (struct queue_pair*)base;
  pthread_mutex_lock(&qp->lock);
  qp->on_end = handler;
  qp->on_end_argument = argument;
  pthread_mutex_unlock(&qp->lock);
}

static void raise_qp_event(struct queue_pair* qp, enum ibv_event_type type) {
  struct ibv_async_event event = {.element = {.qp = &qp->base}, .event_type = type};
  device_raise(qp->base.context, &event);
}

/* Called by the session's thread for each change of the connection. */
static void connection_changed(void* argument, const union record* record) {
  struct queue_pair* qp = argument;
  uint32_t state = record == NULL ? CONTROL_STATE_CLOSED : record->event.state;
  if (state != CONTROL_STATE_TERMINATED && state != CONTROL_STATE_CLOSED) {
    return;
  }
  pthread_mutex_lock(&qp->lock);
  qp_set_state(&qp->base, IBV_QPS_ERR);
  if (atomic_exchange(&qp->ended, true)) {
    pthread_mutex_unlock(&qp->lock);
    return;
  }
  record_handler handler = qp->on_end;
  void* handler_argument = qp->on_end_argument;
  qp->on_end = NULL;
  pthread_cond_broadcast(&qp->changed);
  pthread_mutex_unlock(&qp->lock);
  if (handler != NULL) {
    handler(handler_argument, record);
  }
  if (record != NULL && state == CONTROL_STATE_TERMINATED) {
    /* An error of the program or its peer, such as a missing receive. A lost connection is told by events. */
    if (record->event.error == 1 && record->event.layer != LAYER_MPA) {
      complain("Queue pair %u: %.*s", qp->base.qp_num, event_text_length(record), record->event.text);
    }
    raise_qp_event(qp, IBV_EVENT_QP_FATAL);
  }
  if (record != NULL && qp->base.srq != NULL) {
    raise_qp_event(qp, IBV_EVENT_QP_LAST_WQE_REACHED);
  }
}

/* --- Queue pairs -------------------------------------------------------------------------------------------------- */

static int check_capabilities(const struct ibv_qp_init_attr* attributes) {
  const struct control_device* device = session_device();
  const struct ibv_qp_cap* cap = &attributes->cap;
  bool receives = attributes->srq == NULL;
  if (attributes->qp_type != IBV_QPT_RC) {
    return refuse(EOPNOTSUPP, "No queue pair of type %d: iWARP has reliable connections (RC) only. Use the program's "
                  "option for RC, such as -c RC of perftest.", attributes->qp_type);
  }
  if (attributes->send_cq == NULL || attributes->recv_cq == NULL) {
    return EINVAL;
  }
  if (cap->max_send_wr > device->max_send_queue || cap->max_send_sge > device->max_sge ||
      cap->max_inline_data > WORK_MAX_INLINE ||
      (receives && (cap->max_recv_wr > device->max_receive_queue || cap->max_recv_sge > device->max_sge))) {
    return refuse(EINVAL, "A queue pair wants %u sends, %u receives, %u and %u elements and %u bytes inline; at most %u, "
                  "%u, %u and %d are possible. Ask for less, or raise sidewarp.limits.send-queue, receive-queue or sge.",
                  cap->max_send_wr, receives ? cap->max_recv_wr : 0, cap->max_send_sge, receives ? cap->max_recv_sge : 0,
                  cap->max_inline_data, device->max_send_queue, device->max_receive_queue, device->max_sge,
                  WORK_MAX_INLINE);
  }
  return 0;
}

/* Lets the receive completion queue of a queue pair have the completions of its shared receive queue. */
static int share_receives(struct shared_queue* srq, struct completion_queue* cq) {
  int error = 0;
  pthread_mutex_lock(&srq->base.mutex);
  if (srq->receives.set->cq != cq) {
    error = srq->users == 0 ? set_adopt(srq->receives.set, cq) : EOPNOTSUPP;
    if (error == EOPNOTSUPP) {
      complain("Queue pairs with one shared receive queue need the same completion queue for receives.");
    }
  }
  if (error == 0) {
    srq->users++;
    atomic_fetch_add(&cq->users, 1);
  }
  pthread_mutex_unlock(&srq->base.mutex);
  return error;
}

static void unshare_receives(struct shared_queue* srq) {
  pthread_mutex_lock(&srq->base.mutex);
  srq->users--;
  if (!session_is_inherited(srq->generation)) {
    atomic_fetch_sub(&srq->receives.set->cq->users, 1);
  }
  pthread_mutex_unlock(&srq->base.mutex);
}

/* Creates what the sidecar and the completion queues have of a queue pair. */
static int connect_queues(struct queue_pair* qp, struct domain* domain) {
  struct shared_queue* srq = (struct shared_queue*)qp->base.srq;
  union record record = {0};
  record.create_connection.domain = domain->number;
  record.create_connection.shared_receive_queue = srq == NULL ? 0 : srq->number;
  record.create_connection.send_queue = qp->sends.capacity;
  record.create_connection.receive_queue = srq == NULL ? qp->receives.capacity : 0;
  int error = session_call(&record, CONTROL_CREATE_CONNECTION, sizeof record.create_connection);
  if (error != 0) {
    return error;
  }
  qp->connection = record.object.object;
  error = by_hand_mode() ? by_hand_add(qp) : 0;
  if (error != 0) {
    return error;
  }
  qp->base.qp_num = qp_number(qp->connection);
  qp->base.handle = qp->base.qp_num;
  if (srq == NULL && qp->base.send_cq == qp->base.recv_cq) {
    qp->sends.expected = qp->sends.capacity + qp->receives.capacity;
  }
  error = queue_attach(&qp->sends, (struct completion_queue*)qp->base.send_cq, RING_KIND_SEND);
  if (error == 0 && srq == NULL) {
    error = queue_attach(&qp->receives, (struct completion_queue*)qp->base.recv_cq, RING_KIND_RECEIVE);
  }
  if (error == 0 && srq != NULL) {
    error = share_receives(srq, (struct completion_queue*)qp->base.recv_cq);
  }
  if (error == 0) {
    error = session_watch(CONTROL_CONNECTION_CHANGED, qp->connection, connection_changed, qp);
    if (error != 0 && srq != NULL) {
      unshare_receives(srq);
    }
  }
  return error;
}

/* Waits for the end of a graceful close that rdma_disconnect has begun, for a short time. */
static void wait_for_close(struct queue_pair* qp) {
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += CLOSE_SECONDS;
  pthread_mutex_lock(&qp->lock);
  while (__atomic_load_n(&qp->base.state, __ATOMIC_ACQUIRE) == IBV_QPS_SQD &&
         pthread_cond_timedwait(&qp->changed, &qp->lock, &limit) != ETIMEDOUT) {
  }
  pthread_mutex_unlock(&qp->lock);
}

/* Gives back all of a queue pair but its share of a shared receive queue. */
static void dispose(struct queue_pair* qp) {
  if (by_hand_mode()) {
    by_hand_remove(qp);
  }
  if (qp->connection != 0 && !atomic_load(&qp->ended) && !session_is_lost(qp->generation)) {
    union record record = {.disconnect = {.connection = qp->connection, .abort = 1}};
    session_call(&record, CONTROL_DISCONNECT, sizeof record.disconnect);
  }
  if (qp->sends.set != NULL) {
    queue_detach(&qp->sends);
  }
  if (qp->receives.set != NULL) {
    queue_detach(&qp->receives);
  }
  free(qp->sends.slots);
  free(qp->receives.slots);
  free(qp);
}

struct ibv_qp* ibv_create_qp(struct ibv_pd* pd, struct ibv_qp_init_attr* attributes) {
  struct domain* domain = (struct domain*)pd;
  int error = session_is_lost(domain->generation) ? ENODEV : check_capabilities(attributes);
  struct queue_pair* qp = error == 0 ? calloc(1, sizeof *qp) : NULL;
  if (qp == NULL) {
    errno = error == 0 ? ENOMEM : error;
    return NULL;
  }
  qp->base = (struct ibv_qp){.context = pd->context,
                             .qp_context = attributes->qp_context,
                             .pd = pd,
                             .send_cq = attributes->send_cq,
                             .recv_cq = attributes->recv_cq,
                             .srq = attributes->srq,
                             .qp_type = IBV_QPT_RC};
  pthread_mutex_init(&qp->base.mutex, NULL);
  pthread_cond_init(&qp->base.cond, NULL);
  pthread_mutex_init(&qp->lock, NULL);
  pthread_cond_init(&qp->changed, NULL);
  qp->generation = domain->generation;
  qp->cap = attributes->cap;
  qp->signal_all = attributes->sq_sig_all != 0;
  if (attributes->srq != NULL) {
    qp->cap.max_recv_wr = qp->cap.max_recv_sge = 0;
  }
  qp->sends.qp = qp->receives.qp = qp;
  error = slots_create(&qp->sends, qp->cap.max_send_wr > 0 ? qp->cap.max_send_wr : 1, false);
  if (error == 0) {
    error = slots_create(&qp->receives, qp->cap.max_recv_wr > 0 ? qp->cap.max_recv_wr : 1, true);
  }
  if (error == 0) {
    error = connect_queues(qp, domain);
  }
  if (error != 0) {
    dispose(qp);
    errno = error;
    return NULL;
  }
  qp->cap.max_inline_data = WORK_MAX_INLINE;
  attributes->cap = qp->cap;
  atomic_fetch_add(&domain->users, 1);
  pthread_mutex_lock(&all.lock);
  qp->next = all.first;
  if (all.first != NULL) {
    all.first->previous = qp;
  }
  all.first = qp;
  pthread_mutex_unlock(&all.lock);
  return &qp->base;
}

struct ibv_qp* qp_create_extended(struct ibv_context* context, struct ibv_qp_init_attr_ex* attributes) {
  (void)context;
  if ((attributes->comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || attributes->pd == NULL) {
    errno = EINVAL;
    return NULL;
  }
  /* Programs that want ibv_wr_* or flags fall back to ibv_create_qp. */
  bool is_plain = (attributes->comp_mask & ~(uint32_t)(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS)) == 0 &&
                  ((attributes->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) == 0 || attributes->create_flags == 0);
  if (!is_plain) {
    errno = EOPNOTSUPP;
    return NULL;
  }
  /* The extended structure begins with the fields of the plain one. */
  return ibv_create_qp(attributes->pd, (struct ibv_qp_init_attr*)attributes);
}

int ibv_modify_qp(struct ibv_qp* base, struct ibv_qp_attr* attributes, int mask) {
  struct queue_pair* qp = (struct queue_pair*)base;
  if (session_is_lost(qp->generation)) {
    return ENODEV;
  }
  if ((mask & IBV_QP_DEST_QPN) && !by_hand_mode()) {
    return refuse(EOPNOTSUPP, "This program connects queue pairs by itself, which iWARP does not permit. Use its option "
                  "for rdma_cm, such as -R of perftest, or SIDEWARP_VERBS_MODE=by-hand at both ends.");
  }
  if (mask & IBV_QP_ACCESS_FLAGS) {
    qp->access = attributes->qp_access_flags;
  }
  if (mask & IBV_QP_MAX_QP_RD_ATOMIC) {
    qp->ord = attributes->max_rd_atomic;
  }
  if (mask & IBV_QP_MAX_DEST_RD_ATOMIC) {
    qp->ird = attributes->max_dest_rd_atomic;
  }
  if ((mask & IBV_QP_STATE) == 0) {
    return 0;
  }
  int error;
  if (by_hand_mode() && by_hand_modify(qp, attributes, mask, &error)) {
    return error;
  }
  enum ibv_qp_state now = __atomic_load_n(&base->state, __ATOMIC_ACQUIRE);
  switch (attributes->qp_state) {
    case IBV_QPS_INIT:
    case IBV_QPS_RTR:
    case IBV_QPS_RTS:
      if (now > attributes->qp_state || atomic_load(&qp->ended)) {
        return EINVAL;
      }
      qp_set_state(base, attributes->qp_state);
      return 0;
    case IBV_QPS_RESET:
      /* A connection cannot be used again. */
      if (now > IBV_QPS_INIT) {
        return EOPNOTSUPP;
      }
      qp_set_state(base, IBV_QPS_RESET);
      return 0;
    case IBV_QPS_SQD:
      /* On an iWARP device this is the state of a connection that closes. rsocket asks for it. */
      qp_close(base);
      return now == IBV_QPS_RTS || now == IBV_QPS_SQD ? 0 : EINVAL;
    case IBV_QPS_ERR:
      qp_fail(qp);
      return 0;
    default:
      return EOPNOTSUPP;
  }
}

int ibv_query_qp(struct ibv_qp* base, struct ibv_qp_attr* attributes, int mask, struct ibv_qp_init_attr* init) {
  struct queue_pair* qp = (struct queue_pair*)base;
  (void)mask;
  enum ibv_qp_state state = __atomic_load_n(&base->state, __ATOMIC_ACQUIRE);
  /* A new queue pair of an RNIC is initialized, and takes receives. */
  state = by_hand_mode() ? by_hand_state(qp, state) : state == IBV_QPS_RESET ? IBV_QPS_INIT : state;
  *attributes = (struct ibv_qp_attr){.qp_state = state,
                                     .cur_qp_state = state,
                                     .path_mtu = IBV_MTU_4096,
                                     .qp_access_flags = qp->access,
                                     .cap = qp->cap,
                                     .max_rd_atomic = (uint8_t)qp->ord,
                                     .max_dest_rd_atomic = (uint8_t)qp->ird,
                                     .port_num = 1};
  *init = (struct ibv_qp_init_attr){.qp_context = base->qp_context,
                                    .send_cq = base->send_cq,
                                    .recv_cq = base->recv_cq,
                                    .srq = base->srq,
                                    .cap = qp->cap,
                                    .qp_type = base->qp_type,
                                    .sq_sig_all = qp->signal_all};
  return 0;
}

int ibv_destroy_qp(struct ibv_qp* base) {
  struct queue_pair* qp = (struct queue_pair*)base;
  bool inherited = session_is_inherited(qp->generation);
  pthread_mutex_lock(&all.lock);
  if (qp->previous != NULL) {
    qp->previous->next = qp->next;
  } else {
    all.first = qp->next;
  }
  if (qp->next != NULL) {
    qp->next->previous = qp->previous;
  }
  pthread_mutex_unlock(&all.lock);
  if (!inherited) {
    if (by_hand_mode()) {
      by_hand_remove(qp);
    }
    wait_for_close(qp);
    session_unwatch(CONTROL_CONNECTION_CHANGED, qp->connection);
    device_forget(base->context, base);
  }
  if (base->srq != NULL) {
    unshare_receives((struct shared_queue*)base->srq);
  }
  if (!inherited) {
    atomic_fetch_sub(&((struct domain*)base->pd)->users, 1);
  }
  dispose(qp);
  return 0;
}

/* ibv_wr_* are refused when a queue pair is created. */
struct ibv_qp_ex* ibv_qp_to_qp_ex(struct ibv_qp* qp) {
  (void)qp;
  return NULL;
}

int ibv_query_qp_data_in_order(struct ibv_qp* qp, enum ibv_wr_opcode opcode, uint32_t flags) {
  (void)qp;
  (void)opcode;
  (void)flags;
  return 0;
}

/* --- Shared receive queues ---------------------------------------------------------------------------------------- */

static void limit_reached(void* argument, const union record* record) {
  struct shared_queue* srq = argument;
  struct ibv_async_event event = {.element = {.srq = &srq->base}, .event_type = IBV_EVENT_SRQ_LIMIT_REACHED};
  if (record != NULL) {
    atomic_store(&srq->limit, 0);
    device_raise(srq->base.context, &event);
  }
}

struct ibv_srq* ibv_create_srq(struct ibv_pd* pd, struct ibv_srq_init_attr* attributes) {
  static _Atomic uint32_t handles;
  struct domain* domain = (struct domain*)pd;
  const struct control_device* device = session_device();
  uint32_t capacity = attributes->attr.max_wr > 0 ? attributes->attr.max_wr : 1;
  int error = session_is_lost(domain->generation)                                              ? ENODEV
              : capacity > device->max_receive_queue || attributes->attr.max_sge > device->max_sge ? EINVAL
                                                                                                   : 0;
  struct shared_queue* srq = error == 0 ? calloc(1, sizeof *srq) : NULL;
  if (srq == NULL) {
    errno = error == 0 ? ENOMEM : error;
    return NULL;
  }
  srq->base = (struct ibv_srq){
      .context = pd->context, .srq_context = attributes->srq_context, .pd = pd, .handle = ++handles};
  pthread_mutex_init(&srq->base.mutex, NULL);
  pthread_cond_init(&srq->base.cond, NULL);
  srq->generation = domain->generation;
  srq->max_sge = attributes->attr.max_sge > 0 ? attributes->attr.max_sge : 1;
  srq->receives.srq = srq;
  union record record = {.shared_receive_queue = {.object = domain->number, .capacity = capacity}};
  error = slots_create(&srq->receives, capacity, true);
  if (error == 0) {
    error = session_call(&record, CONTROL_CREATE_SHARED_RECEIVE_QUEUE, sizeof record.shared_receive_queue);
  }
  if (error == 0) {
    srq->number = record.shared_receive_queue.object;
    error = set_create_shared(&srq->receives);
  }
  if (error == 0) {
    error = session_watch(CONTROL_SHARED_RECEIVE_LIMIT, srq->number, limit_reached, srq);
  }
  if (error != 0) {
    if (srq->number != 0 && !session_is_lost(srq->generation)) {
      record.object.object = srq->number;
      session_call(&record, CONTROL_DESTROY_SHARED_RECEIVE_QUEUE, sizeof record.object);
    }
    if (srq->receives.set != NULL) {
      set_destroy(srq->receives.set);
    }
    free(srq->receives.slots);
    free(srq);
    errno = error;
    return NULL;
  }
  attributes->attr.max_wr = capacity;
  attributes->attr.max_sge = srq->max_sge;
  atomic_fetch_add(&domain->users, 1);
  return &srq->base;
}

int ibv_modify_srq(struct ibv_srq* base, struct ibv_srq_attr* attributes, int mask) {
  struct shared_queue* srq = (struct shared_queue*)base;
  if (session_is_lost(srq->generation)) {
    return ENODEV;
  }
  if (mask & IBV_SRQ_MAX_WR) {
    return EOPNOTSUPP;
  }
  if ((mask & IBV_SRQ_LIMIT) == 0) {
    return 0;
  }
  union record record = {.modify_shared_receive_queue = {.queue = srq->number, .limit = attributes->srq_limit}};
  /* Before the request, because the event that disarms the limit can come before its answer. */
  uint32_t before = atomic_exchange(&srq->limit, attributes->srq_limit);
  int error = session_call(&record, CONTROL_MODIFY_SHARED_RECEIVE_QUEUE, sizeof record.modify_shared_receive_queue);
  if (error != 0) {
    atomic_store(&srq->limit, before);
  }
  return error;
}

int ibv_query_srq(struct ibv_srq* base, struct ibv_srq_attr* attributes) {
  struct shared_queue* srq = (struct shared_queue*)base;
  *attributes = (struct ibv_srq_attr){
      .max_wr = srq->receives.capacity, .max_sge = srq->max_sge, .srq_limit = atomic_load(&srq->limit)};
  return 0;
}

int ibv_destroy_srq(struct ibv_srq* base) {
  struct shared_queue* srq = (struct shared_queue*)base;
  bool inherited = session_is_inherited(srq->generation);
  if (srq->users > 0 && !inherited) {
    return EBUSY;
  }
  if (!session_is_lost(srq->generation)) {
    union record record = {.object = {.object = srq->number}};
    int error = session_call(&record, CONTROL_DESTROY_SHARED_RECEIVE_QUEUE, sizeof record.object);
    if (error != 0 && error != ENODEV) {
      return error;
    }
  }
  if (!inherited) {
    session_unwatch(CONTROL_SHARED_RECEIVE_LIMIT, srq->number);
    device_forget(base->context, base);
    set_adopt(srq->receives.set, NULL);
    atomic_fetch_sub(&((struct domain*)base->pd)->users, 1);
  }
  set_destroy(srq->receives.set);
  free(srq->receives.slots);
  free(srq);
  return 0;
}
