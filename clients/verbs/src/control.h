/*
 * Copyright The Sidewarp Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The layout of the records on the control socket: the tables of docs/control.md in C11.
 */
#ifndef SIDEWARP_CONTROL_H
#define SIDEWARP_CONTROL_H

#include <stddef.h>
#include <stdint.h>

/* Types of requests. */
enum {
  CONTROL_OPEN = 16,
  CONTROL_MEMORY = 17,
  CONTROL_ALLOCATE_DOMAIN = 18,
  CONTROL_DEALLOCATE_DOMAIN = 19,
  CONTROL_REGISTER = 20,
  CONTROL_DEREGISTER = 21,
  CONTROL_CREATE_COMPLETION_RING = 22,
  CONTROL_CREATE_WORK_RING = 23,
  CONTROL_DESTROY_RING = 24,
  CONTROL_CREATE_SHARED_RECEIVE_QUEUE = 25,
  CONTROL_MODIFY_SHARED_RECEIVE_QUEUE = 26,
  CONTROL_DESTROY_SHARED_RECEIVE_QUEUE = 27,
  CONTROL_CREATE_CONNECTION = 28,
  CONTROL_LISTEN = 29,
  CONTROL_CLOSE_LISTENER = 30,
  CONTROL_CONNECT = 31,
  CONTROL_ACCEPT = 32,
  CONTROL_REJECT = 33,
  CONTROL_DISCONNECT = 34,
};

/* Types of answers and events. */
enum {
  CONTROL_DONE = 64,
  CONTROL_FAILED = 65,
  CONTROL_CONNECTION_REQUEST = 80,
  CONTROL_CONNECTION_CHANGED = 81,
  CONTROL_REGION_FAULT = 82,
  CONTROL_SHARED_RECEIVE_LIMIT = 83,
  CONTROL_LISTENER_ENDED = 84,
  CONTROL_DRAINING = 85,
  CONTROL_EVENTS_LOST = 86,
};

enum {
  CONTROL_ACCESS_LOCAL_WRITE = 1,
  CONTROL_ACCESS_REMOTE_READ = 2,
  CONTROL_ACCESS_REMOTE_WRITE = 4,
  CONTROL_ACCESS_REMOTE_INVALIDATE = 8,
  CONTROL_ACCESS_REMOTE_ATOMIC = 16,
};

enum { CONTROL_BACKING_PROCESS = 1, CONTROL_BACKING_FILE = 2 };

enum { CONTROL_CAPABILITY_IMMEDIATE = 1, CONTROL_CAPABILITY_ATOMIC = 2, CONTROL_CAPABILITY_PROCESS_MEMORY = 4 };

/* Values of ConnectionState in device.proto. */
enum {
  CONTROL_STATE_CONNECTING = 1,
  CONTROL_STATE_ESTABLISHED = 2,
  CONTROL_STATE_CLOSING = 3,
  CONTROL_STATE_TERMINATED = 4,
  CONTROL_STATE_CLOSED = 5,
  CONTROL_STATE_WAITING_FOR_PEER = 6,
  CONTROL_STATE_IDLE = 7,
};

enum {
  CONTROL_REASON_REJECTED = 1,
  CONTROL_REASON_REFUSED = 2,
  CONTROL_REASON_UNREACHABLE = 3,
  CONTROL_REASON_NO_ANSWER = 4,
  CONTROL_REASON_CLOSED = 5,
  CONTROL_REASON_PROTOCOL = 6,
};

#define CONTROL_DEPTH_UNSET UINT32_MAX

struct control_header {
  uint32_t length;
  uint16_t version, type;
  uint64_t value;
};

struct control_open {
  struct control_header header;
  char name[64];
};

struct control_device {
  struct control_header header;
  uint64_t domain, max_registered, max_completion_entries, max_receives;
  uint32_t max_regions, max_connections, max_listeners, max_send_queue, max_receive_queue, max_sge, max_ird, max_ord,
      max_private_data, max_queue_outstanding, max_domains, max_shared_receive_queues, capabilities, padding;
  char version[32];
  char volume[256];
};

/* A request or an answer that names one object. */
struct control_object {
  struct control_header header;
  uint64_t object;
};

struct control_register {
  struct control_header header;
  uint64_t domain, start, length, base, connection;
  uint32_t access, backing;
  char path[256];
};

struct control_registered {
  struct control_header header;
  uint64_t region;
  uint32_t stag, padding;
};

struct control_create_completion_ring {
  struct control_header header;
  uint32_t entries, padding;
};

struct control_create_work_ring {
  struct control_header header;
  uint64_t completion_ring;
  uint32_t kind, blocks;
};

struct control_ring {
  struct control_header header;
  uint64_t ring;
  uint32_t entries, padding;
  unsigned char token[32];
  char file[128];
};

struct control_shared_receive_queue {
  struct control_header header;
  /* Create: the protection domain. Modify and the answer: the queue. */
  uint64_t object;
  uint32_t capacity, limit;
};

struct control_modify_shared_receive_queue {
  struct control_header header;
  uint64_t queue;
  uint32_t limit, padding;
};

struct control_create_connection {
  struct control_header header;
  uint64_t domain, shared_receive_queue;
  uint32_t send_queue, receive_queue;
};

struct control_listen {
  struct control_header header;
  unsigned char address[16];
  uint32_t port, backlog;
};

struct control_listening {
  struct control_header header;
  uint64_t listener;
  unsigned char address[16];
  uint32_t port, padding;
};

/* CONNECT, ACCEPT and REJECT. Private data follows. */
struct control_connect {
  struct control_header header;
  uint64_t connection, after_posts;
  union {
    unsigned char address[16];
    uint64_t request;
  };
  uint32_t port, timeout, ird, ord, private_length, padding;
  unsigned char private_data[];
};

struct control_disconnect {
  struct control_header header;
  uint64_t connection, after_posts;
  uint32_t abort, padding;
};

/* Answer to CONNECT and ACCEPT. */
struct control_connected {
  struct control_header header;
  unsigned char local_address[16];
  uint32_t local_port, ird, ord, peer_ird, peer_ord;
  unsigned char padding_0[12];
  uint32_t private_length, padding_1;
  unsigned char private_data[];
};

/* Private data, and then the text, follow. */
struct control_failed {
  struct control_header header;
  uint32_t code, retry, reason, text_length;
  unsigned char padding_0[32];
  uint32_t private_length, padding_1;
  unsigned char private_data[];
};

/* Private data, and then the local address of 16 bytes, follow. */
struct control_connection_request {
  struct control_header header;
  uint64_t request;
  uint32_t remote_port, local_port;
  unsigned char remote_address[16];
  uint32_t peer_ird, peer_ord, max_private_data, padding_0, private_length, padding_1;
  unsigned char private_data[];
};

/* CONNECTION_CHANGED, REGION_FAULT, SHARED_RECEIVE_LIMIT and LISTENER_ENDED. */
struct control_event {
  struct control_header header;
  union {
    uint32_t state, limit, code;
  };
  uint8_t error, layer, error_type, error_code, error_remote;
  unsigned char padding_0[3];
  uint32_t text_length;
  unsigned char padding_1[40];
  char text[];
};

_Static_assert(sizeof(struct control_device) == 392, "as in docs/control.md");
_Static_assert(sizeof(struct control_register) == 320, "as in docs/control.md");
_Static_assert(sizeof(struct control_ring) == 192, "as in docs/control.md");
_Static_assert(offsetof(struct control_connect, private_data) == 72, "as in docs/control.md");
_Static_assert(offsetof(struct control_connected, private_data) == 72, "as in docs/control.md");
_Static_assert(offsetof(struct control_failed, private_data) == 72, "as in docs/control.md");
_Static_assert(offsetof(struct control_connection_request, private_data) == 72, "as in docs/control.md");
_Static_assert(offsetof(struct control_event, text) == 72, "as in docs/control.md");

#endif
