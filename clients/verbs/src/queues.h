/*
 * Copyright The Sidewarp Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Memory regions, completion queues and work queues: what memory.c, cq.c and qp.c know of each other.
 *
 * A completion queue has ring sets. A set is a completion ring with a send ring and a receive ring, which queue pairs
 * share. Each work queue reserves room in a set for all of its work requests, so a completion ring never runs full. A
 * set is made when a work queue finds no room in the others; each has twice the room of the set before it.
 *
 * Ids of ring entries: bits 0 to 31 are the slot in the work queue; bits 32 to 47 the index of the work queue among the
 * members of its set; bits 48 to 63 count the uses of that index.
 */
#ifndef SIDEWARP_QUEUES_H
#define SIDEWARP_QUEUES_H

#include "ring-layout.h"
#include "sidewarp.h"

#include <pthread.h>
#include <stdatomic.h>

/* --- Memory ------------------------------------------------------------------------------------------------------- */

struct domain {
  struct ibv_pd base;
  uint64_t generation, number;
  _Atomic uint32_t users;
};

/* A memory region, as posting sees it. `base` is the address of the first byte in work requests. */
struct key {
  uint32_t stag;
  uint64_t region, base, length, domain;
  /* `base` is where the memory is in this process. */
  bool is_address;
};

/* Copies of keys, for one work ring. Protected by the lock of the ring. */
struct key_cache {
  uint64_t epoch;
  struct key keys[8];
};

/* Finds a key. Returns NULL if no region of this session has the STag. */
const struct key* key_find(struct key_cache* cache, uint32_t stag);

/* --- Rings -------------------------------------------------------------------------------------------------------- */

struct ring {
  struct ring_header* header;
  union ring_block* blocks;
  size_t length;
  uint64_t id, mask, next;
  /* Work rings: blocks that the sidecar had taken when this was last read. */
  uint64_t consumed;
};

struct work_ring {
  pthread_mutex_t lock;
  /* `header` is NULL until a work queue needs the ring. */
  struct ring ring;
  struct key_cache keys;
};

struct work_queue;

struct ring_set {
  struct ring_set* next;
  /* NULL: the set of a shared receive queue that no queue pair uses yet. */
  struct completion_queue* cq;
  uint64_t generation;
  int socket;
  struct ring completions;
  struct work_ring sends, receives;
  /* Work requests that fit, and those that work queues have reserved. `stale` is the part of queues that
   * have gone: their completions may still be in the ring. The lock of the completion queue protects these numbers and
   * the members. */
  uint32_t room, reserved, stale;
  struct {
    struct work_queue* queue;
    uint16_t use;
  } * members;
  uint32_t member_count;
  /* The rings have ended, and the library completes what is outstanding. */
  _Atomic bool dead;
};

/* A posted work request. */
struct slot {
  uint64_t wr_id;
  /* Receives: neighbours in order of posting, or the next free slot. */
  uint32_t previous, next;
  uint8_t opcode;
  bool done;
};

/* The send or receive queue of a queue pair, or a shared receive queue. */
struct work_queue {
  struct ring_set* set;
  struct queue_pair* qp;
  struct shared_queue* srq;
  /* Bits 32 to 63 of the ids of entries. */
  uint64_t member;
  uint32_t capacity;
  /* Work requests that a new set should have room for: the other queue of the queue pair goes there, too. */
  uint32_t expected;
  /* Sends: a power of two less 1; slot `number & mask` has send `number`. Receives: slot `capacity` heads the list. */
  uint32_t mask;
  struct slot* slots;
  /* Sends: numbers of the next and the oldest one. `head` is written under the ring's lock, `tail` under the queue's. */
  _Atomic uint32_t head, tail;
  /* Receives: protected by `lock`, as the slots. The first free slot, or `capacity`. */
  pthread_mutex_t lock;
  uint32_t free;
};

enum { TAG_SEND = 1, TAG_RECEIVE = 2 };

struct completion_queue {
  struct ibv_cq base;
  uint64_t generation;
  /* Protects the list of sets while polling, and everything that polling changes. */
  pthread_mutex_t lock;
  /* Held while a set is made. Taken before `lock`. */
  pthread_mutex_t attach_lock;
  struct ring_set *sets, *turn;
  uint32_t largest;
  /* Mode of ibv_req_notify_cq for new sets. */
  uint32_t armed;
  /* Events that the program has taken. Protected by base.mutex. */
  uint32_t events;
  _Atomic uint32_t users;
};

struct queue_pair {
  struct ibv_qp base;
  uint64_t generation, connection;
  struct work_queue sends, receives;
  struct ibv_qp_cap cap;
  bool signal_all;
  _Atomic uint64_t posts;
  _Atomic bool ended;
  /* It is connected by hand, and qp_fail was not called. */
  _Atomic bool ignores_end;
  unsigned access;
  uint32_t ird, ord;
  /* Protects the handler. `changed` is signalled at the end of the connection. */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  record_handler on_end;
  void* on_end_argument;
  /* The list of all queue pairs. */
  struct queue_pair *previous, *next;
};

struct shared_queue {
  struct ibv_srq base;
  uint64_t generation, number;
  struct work_queue receives;
  uint32_t max_sge;
  /* 0: it is not armed. */
  _Atomic uint32_t limit;
  /* Queue pairs that use it. Protected by base.mutex. */
  uint32_t users;
};

/* Entries of a completion ring that work requests do not use. */
enum { SPARE = 2 };

/* Puts a work queue into a set of `cq`. Returns 0 or an errno. */
int queue_attach(struct work_queue* queue, struct completion_queue* cq, uint16_t kind);
void queue_detach(struct work_queue* queue);
/* Makes the set of a shared receive queue, which has no completion queue yet. */
int set_create_shared(struct work_queue* queue);
void set_destroy(struct ring_set* set);
/* Gives the set of a shared receive queue to a completion queue, or takes it back with NULL. */
int set_adopt(struct ring_set* set, struct completion_queue* cq);
/* Wakes the sidecar if it sleeps. */
void ring_wake(struct ring_set* set, struct ring* ring);

/* --- Queue pairs that are connected by hand: byhand.c -------------------------------------------------------------- */

/* True with SIDEWARP_VERBS_MODE=by-hand. All other functions here are for that mode only. */
bool by_hand_mode(void);
/* Number of GIDs, and one of them. */
int by_hand_gids(void);
bool by_hand_gid(uint32_t index, union ibv_gid* gid);
uint16_t by_hand_lid(void);
/* Gives a new queue pair its number. Returns 0 or an errno. */
int by_hand_add(struct queue_pair* qp);
/* Number of the queue pair of a connection, or 0. */
uint32_t by_hand_number(uint64_t connection);
/* Begins the end of a queue pair: closes the connection behind the posted work. */
void by_hand_remove(struct queue_pair* qp);
/* Changes the state of a queue pair. Returns false if it is a change like that of other queue pairs. */
bool by_hand_modify(struct queue_pair* qp, const struct ibv_qp_attr* attributes, int mask, int* error);
/* The state that ibv_query_qp tells. */
enum ibv_qp_state by_hand_state(struct queue_pair* qp, enum ibv_qp_state state);
/* True for the completion of a receive that the program does not get, because RoCE would not notice the peer's end. */
bool by_hand_hides(const struct queue_pair* qp, const struct ring_completion* completion);
/* Waits until a queue pair can send. Returns 0 or an errno. */
int by_hand_wait(struct queue_pair* qp);
void by_hand_after_fork(void);

/* --- Calls between the parts -------------------------------------------------------------------------------------- */

/* Ends the connection of a queue pair because of an error that the sidecar does not end connections for. */
void qp_fail(struct queue_pair* qp);
uint32_t qp_number(uint64_t connection);

int cq_poll(struct ibv_cq* cq, int count, struct ibv_wc* wc);
int cq_req_notify(struct ibv_cq* cq, int solicited_only);
int qp_post_send(struct ibv_qp* qp, struct ibv_send_wr* wr, struct ibv_send_wr** bad);
int qp_post_recv(struct ibv_qp* qp, struct ibv_recv_wr* wr, struct ibv_recv_wr** bad);
int srq_post_recv(struct ibv_srq* srq, struct ibv_recv_wr* wr, struct ibv_recv_wr** bad);
struct ibv_qp* qp_create_extended(struct ibv_context* context, struct ibv_qp_init_attr_ex* attributes);

#endif
