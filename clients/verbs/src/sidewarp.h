/*
 * Copyright The Sidewarp Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The interfaces between the parts of the library:
 *
 *   - session.c   the control socket: requests, answers and events; one session for each process
 *   - device.c    ibv_get_device_list, ibv_open_device, queries, async events
 *   - memory.c    protection domains and memory regions
 *   - cq.c        completion queues over completion rings, completion channels
 *   - qp.c        queue pairs and shared receive queues over work rings
 *   - byhand.c    queue pairs that programs connect without rdma_cm, on request
 *   - cm.c        rdma_cm: identifiers, event channels, connections
 *   - addrinfo.c  rdma_getaddrinfo and names of addresses
 *   - strings.c   names of statuses, events and states
 *   - refused.c   functions that an iWARP device or this library does not have: EOPNOTSUPP
 *
 * Locks, outermost first: a cm identifier, a queue pair, a completion queue, the session. The thread of the session calls
 * handlers with no lock held.
 */
#ifndef SIDEWARP_H
#define SIDEWARP_H

#include "control.h"

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* --- Session ------------------------------------------------------------------------------------------------------ */

/* Room for the longest record. */
union record {
  struct control_header header;
  struct control_open open;
  struct control_device device;
  struct control_object object;
  struct control_register registering;
  struct control_registered registered;
  struct control_create_completion_ring create_completion_ring;
  struct control_create_work_ring create_work_ring;
  struct control_ring ring;
  struct control_shared_receive_queue shared_receive_queue;
  struct control_modify_shared_receive_queue modify_shared_receive_queue;
  struct control_create_connection create_connection;
  struct control_listen listen;
  struct control_listening listening;
  struct control_connect connect;
  struct control_disconnect disconnect;
  struct control_connected connected;
  struct control_failed failed;
  struct control_connection_request connection_request;
  struct control_event event;
  unsigned char bytes[4096];
};

/* Called by the session's thread. `record` is the answer or the event; NULL: the session has ended. */
typedef void (*record_handler)(void* argument, const union record* record);

/*
 * Opens the session of this process if it is not open or was lost. Returns 0 or an errno: ENODEV without a sidecar. Says
 * on standard error what failed. A session stays open until the process ends.
 */
int session_acquire(void);
/* True if the sidecar's socket exists. Says on standard error what is missing. */
bool session_is_possible(void);
/* The limits of the device. */
const struct control_device* session_device(void);
/* Path of the shared volume in this process. */
const char* session_volume(void);
/* 0 if the sidecar can use memory of this process, or EPERM, and a line on standard error that says why not. */
int session_memory(void);
/* True once the sidecar has gone or the session has ended, and in a child of fork for objects of its parent. */
bool session_is_lost(uint64_t generation);
/* True in a child of fork for objects of its parent, whose rings and descriptors the child must not touch. */
bool session_is_inherited(uint64_t generation);
/* Number of the present session, never 0. Objects keep it and compare. */
uint64_t session_generation(void);

/*
 * Sends a request and waits for its answer, which replaces the request in `record`. Fills `value`, `version` and `type`
 * of the header. Returns 0, or an errno that fits the status of FAILED; ENODEV if the session is lost.
 */
int session_call(union record* record, uint16_t type, size_t length);
/* Sends a request. The handler is called exactly once, unless the result is not 0. */
int session_send(union record* record, uint16_t type, size_t length, record_handler handler, void* argument);
/* Errno for a gRPC status code. */
int status_to_errno(uint32_t code);
/* Errno for an answer: ENODEV for NULL, 0 for DONE. */
int answer_error(const union record* record);
/* Returns the length of the text of FAILED, which never exceeds the record, and stores where it begins. */
int failed_text(const union record* record, const char** text);
/*
 * Sets the handler of events whose value is this object; NULL removes it. No handler runs any more after a removal. Can be
 * called by a handler: no event behind the present record is missed. Type 0 and object 0 hear of the session's end only.
 * The end of the session removes the handler after a call with NULL. Returns 0, ENOMEM, or ENODEV if it is lost.
 */
int session_watch(uint16_t type, uint64_t object, record_handler handler, void* argument);
/* Removes the handler. The handler does not run any more when this function returns, except in its own thread. */
void session_unwatch(uint16_t type, uint64_t object);
/* Connects the socket of a completion ring. Returns a descriptor that a child of fork closes, or -1 with errno. */
int session_connect_ring(const unsigned char token[32]);
void session_close_ring(int descriptor);

/* Number of bytes of an event's text that are in the record. */
int event_text_length(const union record* record);
/* Frees locks that other threads may have had when the process forked. Called in the child. */
void memory_after_fork(void);
void device_after_fork(void);
void qp_after_fork(void);

/* Writes what failed, and the text of FAILED, to standard error. */
void complain_of(const char* what, const union record* record);
/* Writes a line to standard error: "sidewarp: ...". */
void complain(const char* format, ...) __attribute__((format(printf, 1, 2)));
/* Writes a line to standard error that begins so, and is the error number. */
#define refuse(error, ...) (complain(__VA_ARGS__), (error))

/* --- Device ------------------------------------------------------------------------------------------------------- */

#define DEVICE_NAME "sidewarp0"

/* The only device. Zeros follow it: libmlx5 and libefa read a private field behind struct ibv_device. */
struct ibv_device* device_get(void);
/* The context that rdma_cm gives to its identifiers. Opened once, never closed. NULL with errno. */
struct ibv_context* device_shared_context(void);
/* The session in which the context was opened. */
uint64_t device_generation(struct ibv_context* context);
/* Queues an asynchronous event for ibv_get_async_event. */
void device_raise(struct ibv_context* context, const struct ibv_async_event* event);
/* Removes the queued events of an object that is about to be destroyed, and waits for those that the program has taken. */
void device_forget(struct ibv_context* context, const void* element);
/* Raises IBV_EVENT_DEVICE_FATAL in all contexts of a lost session. */
void device_lost(void);

/* --- Descriptors that count events -------------------------------------------------------------------------------- */

/* An eventfd in semaphore mode: readable while events wait. Returns the descriptor or -1. */
int counter_create(void);
void counter_add(int descriptor);
/* Takes one. Blocks unless the descriptor is O_NONBLOCK. Returns 0, or -1 with errno. */
int counter_take(int descriptor);

/* --- Queue pairs, as rdma_cm sees them ---------------------------------------------------------------------------- */

/* Number of the sidecar's connection behind a queue pair. It exists from ibv_create_qp on. */
uint64_t qp_connection(struct ibv_qp* qp);
/* Number of work requests that were posted to the connection, for `after_posts`. */
uint64_t qp_posts(struct ibv_qp* qp);
/* Sets the state that ibv_query_qp tells and that posting checks. IBV_QPS_ERR lets the sidecar's FLUSHED completions come. */
void qp_set_state(struct ibv_qp* qp, enum ibv_qp_state state);
/*
 * Sets the function that hears of the end of the connection: CONNECTION_CHANGED with TERMINATED or CLOSED, once, or NULL
 * for the end of the session. Called by the session's thread, behind qp_set_state(IBV_QPS_ERR).
 */
void qp_on_end(struct ibv_qp* qp, record_handler handler, void* argument);
/* The queue pair with this number, or NULL. For programs that give rdma_connect a number instead of a queue pair. */
struct ibv_qp* qp_find(uint32_t number);
/* Begins a graceful close behind the posted work, once: the state becomes IBV_QPS_SQD, and then IBV_QPS_ERR. */
void qp_close(struct ibv_qp* qp);
/* Depths that ibv_query_qp reports once the connection is established. */
void qp_set_depths(struct ibv_qp* qp, uint32_t ird, uint32_t ord);

/* --- Addresses ---------------------------------------------------------------------------------------------------- */

/* The port of a socket address, in network byte order. */
uint16_t address_port(const struct sockaddr* address);
/* Converts to and from the 16 bytes of docs/control.md. */
int address_encode(unsigned char bytes[16], const struct sockaddr* address);
void address_decode(struct sockaddr_storage* address, const unsigned char bytes[16], uint16_t port);

#endif
