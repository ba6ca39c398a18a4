/*
 * Copyright The Sidewarp Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tests of verbs with both ends in one process. Link it with -libverbs -lrdmacm, and run it with the library in front and
 * a sidecar behind: `verbs` runs all tests, `verbs NAME` one of them. Prints the name of each test that passed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT_MS = 20000, QUIET_MS = 200, AREA = 1 << 20, MAX_END_WR = 64, ALL_ACCESS = 15 };

#define CHECK(condition)                                                                                    \
  do {                                                                                                      \
    if (!(condition)) {                                                                                     \
      fprintf(stderr, "%s:%d: not true: %s (errno %d, %s)\n", __FILE__, __LINE__, #condition, errno, strerror(errno)); \
      exit(1);                                                                                              \
    }                                                                                                       \
  } while (0)

/* One side of a connection, with its own memory. */
struct end {
  struct rdma_cm_id* id;
  struct ibv_cq* cq;
  struct ibv_mr* mr;
  unsigned char* memory;
};

static struct ibv_context* context;
static struct ibv_pd* domain;
static struct rdma_event_channel* events;

static long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct rdma_cm_id* expect(enum rdma_cm_event_type type) {
  struct rdma_cm_event* event;
  struct pollfd each = {.fd = events->fd, .events = POLLIN};
  CHECK(poll(&each, 1, LIMIT_MS) == 1);
  CHECK(rdma_get_cm_event(events, &event) == 0);
  if (event->event != type) {
    fprintf(stderr, "event %s; expected %s\n", rdma_event_str(event->event), rdma_event_str(type));
    exit(1);
  }
  struct rdma_cm_id* id = event->id;
  CHECK(rdma_ack_cm_event(event) == 0);
  return id;
}

static void create_queue_pair(struct end* end, struct ibv_srq* srq) {
  struct ibv_qp_init_attr attributes = {.send_cq = end->cq,
                                        .recv_cq = end->cq,
                                        .srq = srq,
                                        .cap = {.max_send_wr = MAX_END_WR,
                                                .max_recv_wr = srq == NULL ? MAX_END_WR : 0,
                                                .max_send_sge = 8,
                                                .max_recv_sge = 4,
                                                .max_inline_data = 200},
                                        .qp_type = IBV_QPT_RC};
  CHECK(rdma_create_qp(end->id, domain, &attributes) == 0);
  CHECK(attributes.cap.max_inline_data >= 200);
}

static void create_end(struct end* end, struct ibv_cq* cq) {
  end->cq = cq != NULL ? cq : ibv_create_cq(context, 4 * MAX_END_WR, end, NULL, 0);
  CHECK(end->cq != NULL);
  end->memory = calloc(1, AREA);
  end->mr = ibv_reg_mr(domain, end->memory, AREA, ALL_ACCESS);
  CHECK(end->mr != NULL);
}

/* Connects two ends. A completion queue that is NULL is made. */
static void connect_ends(struct end* client, struct end* server, struct ibv_cq* client_cq, struct ibv_cq* server_cq,
                         struct ibv_srq* srq) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct rdma_cm_id* listener;
  struct rdma_conn_param parameters = {.responder_resources = 16, .initiator_depth = 16};
  create_end(client, client_cq);
  create_end(server, server_cq);
  CHECK(rdma_create_id(events, &listener, NULL, RDMA_PS_TCP) == 0);
  CHECK(rdma_bind_addr(listener, (struct sockaddr*)&address) == 0);
  CHECK(rdma_listen(listener, 8) == 0);
  address.sin_port = rdma_get_src_port(listener);
  CHECK(rdma_create_id(events, &client->id, NULL, RDMA_PS_TCP) == 0);
  CHECK(rdma_resolve_addr(client->id, NULL, (struct sockaddr*)&address, LIMIT_MS) == 0);
  expect(RDMA_CM_EVENT_ADDR_RESOLVED);
  CHECK(rdma_resolve_route(client->id, LIMIT_MS) == 0);
  expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
  create_queue_pair(client, NULL);
  CHECK(rdma_connect(client->id, &parameters) == 0);
  server->id = expect(RDMA_CM_EVENT_CONNECT_REQUEST);
  create_queue_pair(server, srq);
  CHECK(rdma_accept(server->id, &parameters) == 0);
  expect(RDMA_CM_EVENT_ESTABLISHED);
  expect(RDMA_CM_EVENT_ESTABLISHED);
  CHECK(rdma_destroy_id(listener) == 0);
}

static void drop_events(void) {
  struct pollfd each = {.fd = events->fd, .events = POLLIN};
  struct rdma_cm_event* event;
  while (poll(&each, 1, 0) == 1 && rdma_get_cm_event(events, &event) == 0) {
    rdma_ack_cm_event(event);
  }
}

static void destroy_end(struct end* end, bool own_cq) {
  rdma_destroy_qp(end->id);
  drop_events();
  CHECK(rdma_destroy_id(end->id) == 0);
  CHECK(ibv_dereg_mr(end->mr) == 0);
  free(end->memory);
  CHECK(!own_cq || ibv_destroy_cq(end->cq) == 0);
}

static void destroy_ends(struct end* client, struct end* server) {
  destroy_end(client, true);
  destroy_end(server, true);
}

static struct ibv_wc next(struct ibv_cq* cq) {
  struct ibv_wc wc;
  long limit = now_ms() + LIMIT_MS;
  int found;
  while ((found = ibv_poll_cq(cq, 1, &wc)) == 0 && now_ms() < limit) {
  }
  CHECK(found == 1);
  return wc;
}

static struct ibv_wc succeed(struct ibv_cq* cq, uint64_t wr_id, enum ibv_wc_opcode opcode) {
  struct ibv_wc wc = next(cq);
  if (wc.status != IBV_WC_SUCCESS || wc.wr_id != wr_id || wc.opcode != opcode) {
    fprintf(stderr, "completion %lu, %s, opcode %d; expected %lu, opcode %d\n", (unsigned long)wc.wr_id,
            ibv_wc_status_str(wc.status), wc.opcode, (unsigned long)wr_id, opcode);
    exit(1);
  }
  return wc;
}

static void expect_nothing(struct ibv_cq* cq) {
  struct ibv_wc wc;
  long limit = now_ms() + QUIET_MS;
  while (now_ms() < limit) {
    CHECK(ibv_poll_cq(cq, 1, &wc) == 0);
  }
}

static int post_recv(struct end* end, uint64_t wr_id, uint64_t offset, uint32_t length) {
  struct ibv_sge element = {(uintptr_t)end->memory + offset, length, end->mr->lkey};
  struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &element, .num_sge = 1}, *bad;
  return ibv_post_recv(end->id->qp, &wr, &bad);
}

static int post(struct end* end, struct ibv_send_wr wr) {
  struct ibv_send_wr* bad = NULL;
  return ibv_post_send(end->id->qp, &wr, &bad);
}

static int post_send(struct end* end, uint64_t wr_id, enum ibv_wr_opcode opcode, unsigned flags, uint64_t offset,
                     uint32_t length, const struct end* remote, uint64_t remote_offset) {
  struct ibv_sge element = {(uintptr_t)end->memory + offset, length, end->mr->lkey};
  struct ibv_send_wr wr = {
      .wr_id = wr_id, .sg_list = &element, .num_sge = 1, .opcode = opcode, .send_flags = flags};
  if (remote != NULL) {
    wr.wr.rdma.remote_addr = (uintptr_t)remote->memory + remote_offset;
    wr.wr.rdma.rkey = remote->mr->rkey;
  }
  return post(end, wr);
}

/* A Write is complete when its data has left. A Read behind it returns when the data is there. */
static void write_and_wait(struct end* end, unsigned flags, uint32_t length, const struct end* remote, uint64_t offset) {
  CHECK(post_send(end, 1, IBV_WR_RDMA_WRITE, flags, 0, length, remote, offset) == 0);
  CHECK(post_send(end, 2, IBV_WR_RDMA_READ, IBV_SEND_SIGNALED, AREA / 2, length, remote, offset) == 0);
  succeed(end->cq, 2, IBV_WC_RDMA_READ);
}

static void fill(unsigned char* memory, size_t length, unsigned seed) {
  for (size_t i = 0; i < length; i++) {
    memory[i] = (unsigned char)(seed + i * 7 + (i >> 8));
  }
}

/* --- Data --------------------------------------------------------------------------------------------------------- */

static void data_moves_in_all_sizes(void) {
  static const uint32_t sizes[] = {0, 1, 8, 55, 56, 57, 112, 255, 256, 257, 4096, 65536, 300000};
  struct end client, server;
  connect_ends(&client, &server, NULL, NULL, NULL);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    uint32_t size = sizes[i];
    fill(client.memory, size, 3 * size);
    memset(server.memory, 0, AREA);
    CHECK(post_send(&client, i, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, size, &server, 17) == 0);
    succeed(client.cq, i, IBV_WC_RDMA_WRITE);
    CHECK(post_send(&client, i, IBV_WR_RDMA_READ, IBV_SEND_SIGNALED, AREA / 2, size, &server, 17) == 0);
    CHECK(succeed(client.cq, i, IBV_WC_RDMA_READ).byte_len == size);
    CHECK(memcmp(client.memory, server.memory + 17, size) == 0 && server.memory[17 + size] == 0);
    CHECK(memcmp(client.memory, client.memory + AREA / 2, size) == 0);
    CHECK(post_recv(&server, 100 + i, 5, AREA / 2) == 0);
    CHECK(post_send(&client, i, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, size, NULL, 0) == 0);
    struct ibv_wc wc = succeed(server.cq, 100 + i, IBV_WC_RECV);
    CHECK(wc.byte_len == size && wc.qp_num == server.id->qp->qp_num && wc.wc_flags == 0);
    CHECK(memcmp(client.memory, server.memory + 5, size) == 0);
    CHECK(succeed(client.cq, i, IBV_WC_SEND).qp_num == client.id->qp->qp_num);
  }
  destroy_ends(&client, &server);
}

static void elements_are_gathered_and_scattered(void) {
  struct end client, server;
  connect_ends(&client, &server, NULL, NULL, NULL);
  fill(client.memory, 8 * 1000, 1);
  for (unsigned flags = IBV_SEND_SIGNALED; flags <= (IBV_SEND_SIGNALED | IBV_SEND_INLINE); flags += IBV_SEND_INLINE) {
    uint32_t part = flags & IBV_SEND_INLINE ? 25 : 700;
    for (int count = 1; count <= 8; count++) {
      struct ibv_sge from[8], to[4];
      for (int i = 0; i < count; i++) {
        from[i] = (struct ibv_sge){(uintptr_t)client.memory + i * 1000, part, client.mr->lkey};
      }
      for (int i = 0; i < 4; i++) {
        to[i] = (struct ibv_sge){(uintptr_t)server.memory + i * 10000, 1500, server.mr->lkey};
      }
      struct ibv_recv_wr receive = {.wr_id = 9, .sg_list = to, .num_sge = 4}, *bad;
      struct ibv_send_wr send = {
          .wr_id = 8, .sg_list = from, .num_sge = count, .opcode = IBV_WR_SEND, .send_flags = flags};
      CHECK(ibv_post_recv(server.id->qp, &receive, &bad) == 0);
      CHECK(post(&client, send) == 0);
      succeed(client.cq, 8, IBV_WC_SEND);
      CHECK(succeed(server.cq, 9, IBV_WC_RECV).byte_len == count * part);
      for (uint32_t i = 0; i < count * part; i++) {
        CHECK(server.memory[i / 1500 * 10000 + i % 1500] == client.memory[i / part * 1000 + i % part]);
      }
    }
  }
  destroy_ends(&client, &server);
}

static void inline_data_is_copied(void) {
  struct end client, server;
  connect_ends(&client, &server, NULL, NULL, NULL);
  unsigned char local[200];
  fill(local, sizeof local, 77);
  struct ibv_sge element = {(uintptr_t)local, sizeof local, 0};
  struct ibv_send_wr wr = {.sg_list = &element, .num_sge = 1, .opcode = IBV_WR_SEND};
  wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
  CHECK(post_recv(&server, 1, 0, 1000) == 0);
  CHECK(post(&client, wr) == 0);
  memset(local, 0, sizeof local);
  succeed(client.cq, 0, IBV_WC_SEND);
  succeed(server.cq, 1, IBV_WC_RECV);
  fill(local, sizeof local, 77);
  CHECK(memcmp(local, server.memory, sizeof local) == 0);
  element.length = 100000;
  CHECK(post(&client, wr) == EINVAL);
  destroy_ends(&client, &server);
}

static void immediate_data_arrives(void) {
  struct end client, server;
  connect_ends(&client, &server, NULL, NULL, NULL);
  fill(client.memory, 5000, 5);
  struct ibv_sge element = {(uintptr_t)client.memory, 5000, client.mr->lkey};
  struct ibv_send_wr wr = {.wr_id = 4,
                           .sg_list = &element,
                           .num_sge = 1,
                           .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
                           .send_flags = IBV_SEND_SIGNALED,
                           .imm_data = htonl(0xcafe1234)};
  wr.wr.rdma.remote_addr = (uintptr_t)server.memory;
  wr.wr.rdma.rkey = server.mr->rkey;
  CHECK(post_recv(&server, 3, 100000, 100) == 0);
  CHECK(post(&client, wr) == 0);
  succeed(client.cq, 4, IBV_WC_RDMA_WRITE);
  struct ibv_wc wc = succeed(server.cq, 3, IBV_WC_RECV_RDMA_WITH_IMM);
  CHECK(wc.wc_flags == IBV_WC_WITH_IMM && wc.imm_data == htonl(0xcafe1234) && wc.byte_len == 5000);
  CHECK(memcmp(client.memory, server.memory, 5000) == 0);
  wr.opcode = IBV_WR_SEND_WITH_IMM;
  CHECK(post(&client, wr) == EOPNOTSUPP);
  destroy_ends(&client, &server);
}

static void atomic_operations_return_the_original(void) {
  struct end client, server;
  connect_ends(&client, &server, NULL, NULL, NULL);
  uint64_t *counter = (uint64_t*)server.memory, *found = (uint64_t*)client.memory;
  *counter = 40;
  struct ibv_sge element = {(uintptr_t)found, 8, client.mr->lkey};
  struct ibv_send_wr wr = {
      .sg_list = &element, .num_sge = 1, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .send_flags = IBV_SEND_SIGNALED};
  wr.wr.atomic.remote_addr = (uintptr_t)counter;
  wr.wr.atomic.rkey = server.mr->rkey;
  wr.wr.atomic.compare_add = 2;
  CHECK(post(&client, wr) == 0);
  succeed(client.cq, 0, IBV_WC_FETCH_ADD);
  CHECK(*found == 40 && *counter == 42);
  wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
  wr.wr.atomic.compare_add = 42;
  wr.wr.atomic.swap = 1234567890123;
  CHECK(post(&client, wr) == 0);
  succeed(client.cq, 0, IBV_WC_COMP_SWAP);
  CHECK(*found == 42 && *counter == 1234567890123);
  CHECK(post(&client, wr) == 0);
  succeed(client.cq, 0, IBV_WC_COMP_SWAP);
  CHECK(*found == 1234567890123 && *counter == 1234567890123);
  destroy_ends(&client, &server);
}

static void memory_of_all_kinds_is_registered(void) {
  const char* volume = getenv("SIDEWARP_VOLUME");
  char stack[5000], path[500] = "";
  void* shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  void* read_only = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  static char data[5000];
  struct {
    void* address;
    size_t length;
  } good[] = {{stack, sizeof stack}, {data, sizeof data}, {shared, 8192}, {malloc(5000), 5000}, {NULL, 8000}, {NULL, 8000}};
  snprintf(path, sizeof path, "%s/verbs-test-%d", volume != NULL ? volume : "/dev/shm", getpid());
  int file = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
  CHECK(file >= 0 && ftruncate(file, 16384) == 0);
  good[4].address = (char*)mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) + 4096;
  good[5].address = (char*)good[4].address + 100;
  struct end client, server;
  connect_ends(&client, &server, NULL, NULL, NULL);
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    struct ibv_mr* mr = ibv_reg_mr(domain, good[i].address, good[i].length, ALL_ACCESS);
    CHECK(mr != NULL && mr->addr == good[i].address && mr->length == good[i].length);
    struct end target = {.mr = mr, .memory = good[i].address};
    fill(client.memory, 5000, (unsigned)i);
    CHECK(post_send(&client, i, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, 5000, &target, 0) == 0);
    CHECK(post_send(&client, i, IBV_WR_RDMA_READ, IBV_SEND_SIGNALED, 10000, 5000, &target, 0) == 0);
    succeed(client.cq, i, IBV_WC_RDMA_WRITE);
    succeed(client.cq, i, IBV_WC_RDMA_READ);
    CHECK(memcmp(client.memory, good[i].address, 5000) == 0);
    CHECK(memcmp(client.memory, client.memory + 10000, 5000) == 0);
    CHECK(ibv_dereg_mr(mr) == 0);
  }
  errno = 0;
  CHECK(ibv_reg_mr(domain, read_only, 8192, IBV_ACCESS_LOCAL_WRITE) == NULL && errno == EFAULT);
  munmap(shared, 8192);
  errno = 0;
  CHECK(ibv_reg_mr(domain, shared, 4096, 0) == NULL && errno == EFAULT);
  errno = 0;
  CHECK(ibv_reg_mr(domain, stack, sizeof stack, IBV_ACCESS_REMOTE_WRITE) == NULL && errno == EINVAL);
  struct ibv_mr* moved = ibv_reg_mr_iova(domain, data, sizeof data, 0x5000, ALL_ACCESS);
  CHECK(moved != NULL);
  fill(client.memory, 300, 9);
  struct end target = {.mr = moved, .memory = (unsigned char*)0x5000};
  write_and_wait(&client, 0, 300, &target, 10);
  CHECK(memcmp(data + 10, client.memory, 300) == 0);
  destroy_ends(&client, &server);
  CHECK(ibv_dereg_mr(moved) == 0);
  close(file);
  unlink(path);
}

static void datagrams_are_refused(void) {
  struct ibv_cq* cq = ibv_create_cq(context, 16, NULL, NULL, 0);
  struct ibv_qp_init_attr attributes = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD};
  CHECK(ibv_create_qp(domain, &attributes) == NULL && errno == EOPNOTSUPP);
  attributes.qp_type = IBV_QPT_RC;
  attributes.cap.max_send_wr = 1000000;
  CHECK(ibv_create_qp(domain, &attributes) == NULL && errno == EINVAL);
  CHECK(ibv_destroy_cq(cq) == 0);
}

/* --- Queues ------------------------------------------------------------------------------------------------------- */

static void unsignaled_sends_free_their_slots(void) {
  struct end client, server;
  connect_ends(&client, &server, NULL, NULL, NULL);
  for (int round = 0; round < 50; round++) {
    for (int i = 0; i < MAX_END_WR; i++) {
      unsigned flags = i == MAX_END_WR - 1 ? IBV_SEND_SIGNALED : 0;
      CHECK(post_send(&client, (uint64_t)i, IBV_WR_RDMA_WRITE, flags, 0, 2000, &server, 0) == 0);
    }
    CHECK(post_send(&client, 0, IBV_WR_RDMA_WRITE, 0, 0, 8, &server, 0) == ENOMEM);
    succeed(client.cq, MAX_END_WR - 1, IBV_WC_RDMA_WRITE);
  }
  expect_nothing(client.cq);
  for (int i = 0; i < MAX_END_WR; i++) {
    CHECK(post_recv(&server, (uint64_t)i, 0, 100) == 0);
  }
  CHECK(post_recv(&server, 0, 0, 100) == ENOMEM);
  destroy_ends(&client, &server);
}

static void one_completion_queue_serves_many_queue_pairs(void) {
  enum { PAIRS = 12, MESSAGES = 40 };
  struct ibv_cq* cq = ibv_create_cq(context, 16, NULL, NULL, 0);
  struct end clients[PAIRS], servers[PAIRS];
  int sent = 0, received = 0;
  CHECK(cq != NULL);
  for (int i = 0; i < PAIRS; i++) {
    connect_ends(&clients[i], &servers[i], cq, cq, NULL);
    for (int j = 0; j < MESSAGES; j++) {
      CHECK(post_recv(&servers[i], (uint64_t)(1000 * i + j), 0, 1000) == 0);
    }
  }
  CHECK(ibv_destroy_cq(cq) == EBUSY);
  for (int j = 0; j < MESSAGES; j++) {
    for (int i = 0; i < PAIRS; i++) {
      CHECK(post_send(&clients[i], (uint64_t)j, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 500, NULL, 0) == 0);
    }
  }
  int order[PAIRS] = {0};
  while (sent < PAIRS * MESSAGES || received < PAIRS * MESSAGES) {
    struct ibv_wc wc = next(cq);
    CHECK(wc.status == IBV_WC_SUCCESS);
    if (wc.opcode == IBV_WC_RECV) {
      CHECK((int)(wc.wr_id % 1000) == order[wc.wr_id / 1000]++);
      received++;
    } else {
      sent++;
    }
  }
  for (int i = 0; i < PAIRS; i++) {
    destroy_end(&clients[i], false);
    destroy_end(&servers[i], false);
  }
  CHECK(ibv_destroy_cq(cq) == 0);
}

/* Room of queue pairs that have gone is used again, although nobody polls their completions. */
static void queue_pairs_come_and_go(void) {
  struct ibv_cq* cq = ibv_create_cq(context, 16, NULL, NULL, 0);
  for (int i = 0; i < 12; i++) {
    struct end client, server;
    connect_ends(&client, &server, cq, cq, NULL);
    for (int j = 0; j < MAX_END_WR; j++) {
      CHECK(post_recv(&server, 1, 0, 100) == 0);
      CHECK(post_recv(&client, 1, 0, 100) == 0);
    }
    destroy_end(&client, false);
    destroy_end(&server, false);
  }
  struct ibv_wc wc;
  CHECK(ibv_poll_cq(cq, 1, &wc) == 0);
  CHECK(ibv_destroy_cq(cq) == 0);
}

static void errors_flush_in_order(void) {
  struct end client, server;
  connect_ends(&client, &server, NULL, NULL, NULL);
  for (int i = 0; i < 5; i++) {
    CHECK(post_recv(&client, 10 + (uint64_t)i, 0, 100) == 0);
  }
  struct end nowhere = {.mr = server.mr, .memory = server.memory + AREA};
  CHECK(post_send(&client, 1, IBV_WR_RDMA_READ, 0, 0, 1000, &nowhere, 0) == 0);
  CHECK(post_send(&client, 2, IBV_WR_RDMA_READ, 0, 0, 1000, &server, 0) == 0);
  struct ibv_wc wc[7] = {next(client.cq)};
  CHECK(wc[0].wr_id == 1 && wc[0].status == IBV_WC_REM_ACCESS_ERR);
  int receives = 0;
  for (int i = 0; i < 6; i++) {
    struct ibv_wc flushed = next(client.cq);
    CHECK(flushed.status == IBV_WC_WR_FLUSH_ERR);
    CHECK(flushed.wr_id == 2 || flushed.wr_id == 10 + (uint64_t)receives++);
  }
  expect(RDMA_CM_EVENT_DISCONNECTED);
  CHECK(post_send(&client, 3, IBV_WR_RDMA_WRITE, 0, 0, 8, &server, 0) == 0);
  CHECK(post_recv(&client, 4, 0, 100) == 0);
  for (int i = 0; i < 2; i++) {
    wc[i] = next(client.cq);
    CHECK(wc[i].status == IBV_WC_WR_FLUSH_ERR && (wc[i].wr_id == 3 || wc[i].wr_id == 4));
  }
  destroy_ends(&client, &server);
}

/* As on an RNIC: earlier work completes first, later work is flushed and does not reach the peer. */
static void local_errors_complete_in_order(void) {
  enum { EARLIER = 8, LATER = 3, READ = 200000 };
  struct end client, server;
  connect_ends(&client, &server, NULL, NULL, NULL);
  fill(server.memory, READ, 4);
  struct ibv_sge bad_element = {(uintptr_t)client.memory, 8, client.mr->lkey ^ 0x55aa}, element[EARLIER], late;
  struct ibv_send_wr list[EARLIER + 1 + LATER], *bad;
  for (int i = 0; i < EARLIER + 1 + LATER; i++) {
    list[i] = (struct ibv_send_wr){.wr_id = (uint64_t)i,
                                   .next = i < EARLIER + LATER ? &list[i + 1] : NULL,
                                   .sg_list = i == EARLIER ? &bad_element : i < EARLIER ? &element[i] : &late,
                                   .num_sge = 1,
                                   .opcode = i < EARLIER ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
                                   .send_flags = IBV_SEND_SIGNALED};
    list[i].wr.rdma.remote_addr = (uintptr_t)server.memory;
    list[i].wr.rdma.rkey = server.mr->rkey;
  }
  for (int i = 0; i < EARLIER; i++) {
    element[i] = (struct ibv_sge){(uintptr_t)client.memory, READ, client.mr->lkey};
  }
  late = (struct ibv_sge){(uintptr_t)client.memory + READ, READ, client.mr->lkey};
  CHECK(ibv_post_send(client.id->qp, list, &bad) == 0);
  for (uint64_t i = 0; i < EARLIER; i++) {
    succeed(client.cq, i, IBV_WC_RDMA_READ);
  }
  CHECK(memcmp(client.memory, server.memory, READ) == 0);
  for (uint64_t i = EARLIER; i < EARLIER + 1 + LATER; i++) {
    struct ibv_wc wc = next(client.cq);
    CHECK(wc.wr_id == i && wc.status == (i == EARLIER ? IBV_WC_LOC_PROT_ERR : IBV_WC_WR_FLUSH_ERR));
  }
  expect(RDMA_CM_EVENT_DISCONNECTED);
  expect(RDMA_CM_EVENT_DISCONNECTED);
  CHECK(memcmp(client.memory, server.memory, READ) == 0);
  destroy_ends(&client, &server);
}

static void local_errors_end_the_connection(void) {
  struct end client, server;
  connect_ends(&client, &server, NULL, NULL, NULL);
  CHECK(post_recv(&client, 5, 0, 100) == 0);
  struct ibv_sge element = {(uintptr_t)client.memory + AREA - 10, 1000, client.mr->lkey};
  struct ibv_send_wr wr = {.wr_id = 1, .sg_list = &element, .num_sge = 1, .opcode = IBV_WR_SEND};
  CHECK(post(&client, wr) == 0);
  struct ibv_wc wc = next(client.cq);
  CHECK(wc.wr_id == 1 && wc.status == IBV_WC_LOC_PROT_ERR);
  wc = next(client.cq);
  CHECK(wc.wr_id == 5 && wc.status == IBV_WC_WR_FLUSH_ERR);
  element.lkey ^= 0x55aa;
  CHECK(post(&client, wr) == 0 && next(client.cq).status == IBV_WC_WR_FLUSH_ERR);
  struct ibv_qp_attr attributes;
  struct ibv_qp_init_attr init;
  CHECK(ibv_query_qp(client.id->qp, &attributes, IBV_QP_STATE, &init) == 0 && attributes.qp_state == IBV_QPS_ERR);
  destroy_ends(&client, &server);
}

static void shared_receives_serve_all_queue_pairs(void) {
  enum { PAIRS = 3, MESSAGES = 30 };
  struct ibv_srq_init_attr attributes = {.attr = {.max_wr = 200, .max_sge = 2}};
  struct ibv_srq* srq = ibv_create_srq(domain, &attributes);
  struct ibv_cq* cq = ibv_create_cq(context, 16, NULL, NULL, 0);
  struct end clients[PAIRS], servers[PAIRS];
  int counts[PAIRS] = {0};
  CHECK(srq != NULL && cq != NULL);
  for (int i = 0; i < PAIRS; i++) {
    connect_ends(&clients[i], &servers[i], NULL, cq, srq);
  }
  for (uint64_t i = 0; i < PAIRS * MESSAGES; i++) {
    struct ibv_sge element = {(uintptr_t)servers[0].memory + i * 100, 100, servers[0].mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &element, .num_sge = 1}, *bad;
    CHECK(ibv_post_srq_recv(srq, &wr, &bad) == 0);
  }
  struct ibv_srq_attr limit = {.srq_limit = 20};
  CHECK(ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT) == 0);
  CHECK(ibv_destroy_srq(srq) == EBUSY);
  for (int i = 0; i < PAIRS * MESSAGES; i++) {
    CHECK(post_send(&clients[i % PAIRS], 0, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 100, NULL, 0) == 0);
    succeed(clients[i % PAIRS].cq, 0, IBV_WC_SEND);
  }
  for (int i = 0; i < PAIRS * MESSAGES; i++) {
    struct ibv_wc wc = next(cq);
    CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV && wc.byte_len == 100);
    for (int j = 0; j < PAIRS; j++) {
      counts[j] += wc.qp_num == servers[j].id->qp->qp_num;
    }
  }
  CHECK(counts[0] == MESSAGES && counts[1] == MESSAGES && counts[2] == MESSAGES);
  struct ibv_async_event event;
  struct pollfd each = {.fd = context->async_fd, .events = POLLIN};
  CHECK(poll(&each, 1, LIMIT_MS) == 1 && ibv_get_async_event(context, &event) == 0);
  CHECK(event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED && event.element.srq == srq);
  ibv_ack_async_event(&event);
  for (int i = 0; i < PAIRS; i++) {
    destroy_end(&clients[i], true);
    destroy_end(&servers[i], false);
  }
  CHECK(ibv_destroy_srq(srq) == 0);
  CHECK(ibv_destroy_cq(cq) == 0);
}

static void other_protection_domains_work(void) {
  struct ibv_pd *first = domain, *second = ibv_alloc_pd(context);
  CHECK(second != NULL && ibv_dealloc_pd(second) == 0);
  domain = ibv_alloc_pd(context);
  CHECK(domain != NULL);
  struct end client, server;
  connect_ends(&client, &server, NULL, NULL, NULL);
  fill(client.memory, 100, 3);
  write_and_wait(&client, IBV_SEND_INLINE, 100, &server, 0);
  CHECK(memcmp(client.memory, server.memory, 100) == 0);
  CHECK(ibv_dealloc_pd(domain) == EBUSY);
  destroy_ends(&client, &server);
  CHECK(ibv_dealloc_pd(domain) == 0);
  domain = first;
}

/* --- Events ------------------------------------------------------------------------------------------------------- */

static void channels_tell_of_completions(void) {
  struct ibv_comp_channel* channel = ibv_create_comp_channel(context);
  struct ibv_cq* cq = ibv_create_cq(context, 64, &channel, channel, 0);
  struct pollfd each = {.fd = channel->fd, .events = POLLIN};
  struct ibv_cq* found;
  void* found_context;
  struct end client, server;
  CHECK(cq != NULL && ibv_req_notify_cq(cq, 0) == 0);
  connect_ends(&client, &server, NULL, cq, NULL);
  for (uint64_t i = 0; i < 100; i++) {
    CHECK(post_recv(&server, i, 0, 100) == 0);
    CHECK(post_send(&client, i, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 100, NULL, 0) == 0);
    CHECK(ibv_get_cq_event(channel, &found, &found_context) == 0);
    CHECK(found == cq && found_context == &channel);
    ibv_ack_cq_events(cq, 1);
    succeed(cq, i, IBV_WC_RECV);
    succeed(client.cq, i, IBV_WC_SEND);
    CHECK(poll(&each, 1, 0) == 0);
    CHECK(ibv_req_notify_cq(cq, i % 2 == 0) == 0);
    if (i % 2 == 0) {
      /* Only the second of these two is solicited. */
      CHECK(post_recv(&server, i, 0, 100) == 0 && post_recv(&server, i, 0, 100) == 0);
      CHECK(post_send(&client, i, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 100, NULL, 0) == 0);
      succeed(cq, i, IBV_WC_RECV);
      CHECK(poll(&each, 1, 5) == 0);
      CHECK(post_send(&client, i, IBV_WR_SEND, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED, 0, 100, NULL, 0) == 0);
      CHECK(poll(&each, 1, LIMIT_MS) == 1);
      succeed(cq, i, IBV_WC_RECV);
      succeed(client.cq, i, IBV_WC_SEND);
      succeed(client.cq, i, IBV_WC_SEND);
      CHECK(ibv_get_cq_event(channel, &found, &found_context) == 0);
      ibv_ack_cq_events(cq, 1);
      CHECK(ibv_req_notify_cq(cq, 0) == 0);
    }
  }
  CHECK(fcntl(channel->fd, F_SETFL, O_NONBLOCK) == 0);
  CHECK(ibv_get_cq_event(channel, &found, &found_context) == -1 && errno == EAGAIN);
  CHECK(ibv_destroy_comp_channel(channel) == EBUSY);
  /* The flush of a receive is an event, too. */
  CHECK(post_recv(&server, 1, 0, 100) == 0);
  CHECK(rdma_disconnect(client.id) == 0);
  CHECK(poll(&each, 1, LIMIT_MS) == 1 && ibv_get_cq_event(channel, &found, &found_context) == 0);
  ibv_ack_cq_events(cq, 1);
  CHECK(next(cq).status == IBV_WC_WR_FLUSH_ERR);
  destroy_ends(&client, &server);
  CHECK(ibv_destroy_comp_channel(channel) == 0);
}

static void child_of_fork_cannot_use_objects_of_its_parent(void) {
  struct end client, server;
  struct ibv_wc wc;
  connect_ends(&client, &server, NULL, NULL, NULL);
  pid_t child = fork();
  if (child == 0) {
    int count;
    CHECK(ibv_poll_cq(client.cq, 1, &wc) < 0);
    CHECK(post_recv(&client, 1, 0, 10) == ENODEV && ibv_req_notify_cq(client.cq, 0) == ENODEV);
    CHECK(ibv_reg_mr(domain, client.memory, 10, 0) == NULL && errno == ENODEV);
    CHECK(ibv_destroy_qp(client.id->qp) == 0 && ibv_destroy_cq(client.cq) == 0 && ibv_dereg_mr(client.mr) == 0);
    struct ibv_device** list = ibv_get_device_list(&count);
    struct ibv_context* own = ibv_open_device(list[0]);
    CHECK(own != NULL);
    struct ibv_pd* own_domain = ibv_alloc_pd(own);
    CHECK(own_domain != NULL && ibv_reg_mr(own_domain, server.memory, AREA, ALL_ACCESS) != NULL);
    _exit(0);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(post_send(&client, 1, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, 1000, &server, 0) == 0);
  succeed(client.cq, 1, IBV_WC_RDMA_WRITE);
  destroy_ends(&client, &server);
}

/* --- Threads ------------------------------------------------------------------------------------------------------ */

static void* exchange(void* argument) {
  struct end* ends = argument;
  for (uint64_t i = 0; i < 300; i++) {
    CHECK(post_recv(&ends[1], i, 0, 1000) == 0);
    CHECK(post_send(&ends[0], i, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 900, NULL, 0) == 0);
    succeed(ends[0].cq, i, IBV_WC_SEND);
    succeed(ends[1].cq, i, IBV_WC_RECV);
    struct ibv_mr* mr = ibv_reg_mr(domain, ends[0].memory, 4096, ALL_ACCESS);
    CHECK(mr != NULL && ibv_dereg_mr(mr) == 0);
  }
  return NULL;
}

static void threads_use_queues_of_their_own(void) {
  struct end ends[4][2];
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) {
    connect_ends(&ends[i][0], &ends[i][1], NULL, NULL, NULL);
  }
  for (int i = 0; i < 4; i++) {
    CHECK(pthread_create(&threads[i], NULL, exchange, ends[i]) == 0);
  }
  for (int i = 0; i < 4; i++) {
    CHECK(pthread_join(threads[i], NULL) == 0);
    destroy_ends(&ends[i][0], &ends[i][1]);
  }
}

static const struct {
  const char* name;
  void (*run)(void);
} tests[] = {
#define TEST(name) {#name, name}
    TEST(data_moves_in_all_sizes),
    TEST(elements_are_gathered_and_scattered),
    TEST(inline_data_is_copied),
    TEST(immediate_data_arrives),
    TEST(atomic_operations_return_the_original),
    TEST(memory_of_all_kinds_is_registered),
    TEST(datagrams_are_refused),
    TEST(unsignaled_sends_free_their_slots),
    TEST(one_completion_queue_serves_many_queue_pairs),
    TEST(queue_pairs_come_and_go),
    TEST(errors_flush_in_order),
    TEST(local_errors_complete_in_order),
    TEST(local_errors_end_the_connection),
    TEST(shared_receives_serve_all_queue_pairs),
    TEST(other_protection_domains_work),
    TEST(channels_tell_of_completions),
    TEST(child_of_fork_cannot_use_objects_of_its_parent),
    TEST(threads_use_queues_of_their_own),
};

int main(int count, char** arguments) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  events = rdma_create_event_channel();
  CHECK(events != NULL);
  int devices;
  struct ibv_context** list = rdma_get_devices(&devices);
  CHECK(list != NULL && devices == 1);
  context = list[0];
  domain = ibv_alloc_pd(context);
  CHECK(domain != NULL);
  bool found = false;
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
    if (count < 2 || strcmp(arguments[1], tests[i].name) == 0) {
      found = true;
      tests[i].run();
      printf("%s\n", tests[i].name);
    }
  }
  CHECK(found);
  return 0;
}
