/*
 * Copyright The Sidewarp Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tests of rdma_cm with both ends in one process. Link it with -libverbs -lrdmacm, and run it with the library in front
 * and a sidecar behind: `cm` runs all tests, `cm NAME` one of them. Prints the name of each test that passed.
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
#include <rdma/rdma_verbs.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_MS = 20000, QUIET_MS = 300 };

#define CHECK(condition)                                                                                    \
  do {                                                                                                      \
    if (!(condition)) {                                                                                     \
      fprintf(stderr, "%s:%d: not true: %s (errno %d, %s)\n", __FILE__, __LINE__, #condition, errno, strerror(errno)); \
      exit(1);                                                                                              \
    }                                                                                                       \
  } while (0)

static bool readable(int descriptor, int milliseconds) {
  struct pollfd each = {.fd = descriptor, .events = POLLIN};
  return poll(&each, 1, milliseconds) == 1;
}

static struct rdma_cm_event* next_event(struct rdma_event_channel* channel) {
  struct rdma_cm_event* event;
  CHECK(readable(channel->fd, LIMIT_MS));
  CHECK(rdma_get_cm_event(channel, &event) == 0);
  return event;
}

/* Takes the next event, which must have this type. Returns its identifier. */
static struct rdma_cm_id* expect(struct rdma_event_channel* channel, enum rdma_cm_event_type type) {
  struct rdma_cm_event* event = next_event(channel);
  if (event->event != type) {
    fprintf(stderr, "expected %s, not %s with status %d\n", rdma_event_str(type), rdma_event_str(event->event),
            event->status);
    exit(1);
  }
  struct rdma_cm_id* id = event->id;
  CHECK(rdma_ack_cm_event(event) == 0);
  return id;
}

static struct sockaddr_in loopback(uint16_t port) {
  return (struct sockaddr_in){
      .sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static struct rdma_cm_id* listener_on(struct rdma_event_channel* channel) {
  struct rdma_cm_id* id;
  struct sockaddr_in address = loopback(0);
  CHECK(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0);
  CHECK(rdma_bind_addr(id, (struct sockaddr*)&address) == 0);
  CHECK(rdma_get_src_port(id) != 0);
  CHECK(rdma_listen(id, 8) == 0);
  return id;
}

static void create_queue_pair(struct rdma_cm_id* id) {
  struct ibv_qp_init_attr attributes = {.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
                                        .qp_type = IBV_QPT_RC};
  CHECK(rdma_create_qp(id, NULL, &attributes) == 0);
  CHECK(id->qp != NULL && id->pd != NULL && id->send_cq != NULL && id->recv_cq != NULL);
  CHECK(id->send_cq_channel != NULL && id->recv_cq_channel != NULL);
}

static struct rdma_cm_id* resolved(struct rdma_event_channel* channel, uint16_t port) {
  struct rdma_cm_id* id;
  struct sockaddr_in address = loopback(port);
  CHECK(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0);
  CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr*)&address, 1000) == 0);
  CHECK(expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED) == id);
  CHECK(id->verbs != NULL && id->port_num == 1);
  CHECK(rdma_resolve_route(id, 1000) == 0);
  CHECK(expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED) == id);
  create_queue_pair(id);
  return id;
}

static void destroy(struct rdma_cm_id* id) {
  if (id->qp != NULL) {
    rdma_destroy_qp(id);
  }
  CHECK(rdma_destroy_id(id) == 0);
}

struct pair {
  struct rdma_event_channel *passive, *active;
  struct rdma_cm_id *listener, *accepted, *connected;
};

/* Connects two identifiers with channels of their own. */
static struct pair connect_pair(void) {
  struct pair pair = {.passive = rdma_create_event_channel(), .active = rdma_create_event_channel()};
  CHECK(pair.passive != NULL && pair.active != NULL);
  pair.listener = listener_on(pair.passive);
  pair.connected = resolved(pair.active, rdma_get_src_port(pair.listener));
  struct rdma_conn_param parameters = {
      .private_data = "hello", .private_data_len = 5, .responder_resources = 3, .initiator_depth = 2};
  CHECK(rdma_connect(pair.connected, &parameters) == 0);
  struct rdma_cm_event* event = next_event(pair.passive);
  CHECK(event->event == RDMA_CM_EVENT_CONNECT_REQUEST && event->listen_id == pair.listener);
  CHECK(event->param.conn.private_data_len >= 5 && memcmp(event->param.conn.private_data, "hello", 5) == 0);
  CHECK(event->param.conn.responder_resources == 2 && event->param.conn.initiator_depth == 3);
  pair.accepted = event->id;
  CHECK(rdma_ack_cm_event(event) == 0);
  CHECK(pair.accepted->verbs != NULL);
  CHECK(rdma_get_src_port(pair.accepted) == rdma_get_src_port(pair.listener));
  create_queue_pair(pair.accepted);
  struct rdma_conn_param answer = {
      .private_data = "welcome", .private_data_len = 7, .responder_resources = 2, .initiator_depth = 2};
  CHECK(rdma_accept(pair.accepted, &answer) == 0);
  event = next_event(pair.active);
  CHECK(event->event == RDMA_CM_EVENT_ESTABLISHED && event->id == pair.connected && event->status == 0);
  CHECK(event->param.conn.private_data_len >= 7 && memcmp(event->param.conn.private_data, "welcome", 7) == 0);
  CHECK(rdma_ack_cm_event(event) == 0);
  CHECK(rdma_get_src_port(pair.connected) == rdma_get_dst_port(pair.accepted));
  CHECK(expect(pair.passive, RDMA_CM_EVENT_ESTABLISHED) == pair.accepted);
  return pair;
}

static void destroy_pair(struct pair pair) {
  destroy(pair.connected);
  destroy(pair.accepted);
  destroy(pair.listener);
  rdma_destroy_event_channel(pair.active);
  rdma_destroy_event_channel(pair.passive);
}

static void disconnectedIsReportedOnceOnBothSides(void) {
  struct pair pair = connect_pair();
  CHECK(rdma_disconnect(pair.connected) == 0);
  expect(pair.active, RDMA_CM_EVENT_DISCONNECTED);
  expect(pair.passive, RDMA_CM_EVENT_DISCONNECTED);
  CHECK(rdma_disconnect(pair.accepted) == 0);
  CHECK(rdma_disconnect(pair.connected) == 0);
  CHECK(!readable(pair.active->fd, QUIET_MS) && !readable(pair.passive->fd, QUIET_MS));
  struct ibv_qp_attr attributes;
  struct ibv_qp_init_attr init;
  CHECK(ibv_query_qp(pair.accepted->qp, &attributes, IBV_QP_STATE, &init) == 0);
  CHECK(attributes.qp_state == IBV_QPS_ERR);
  destroy_pair(pair);
}

static void destroyedQueuePairDisconnectsPeer(void) {
  struct pair pair = connect_pair();
  rdma_destroy_qp(pair.connected);
  expect(pair.active, RDMA_CM_EVENT_DISCONNECTED);
  expect(pair.passive, RDMA_CM_EVENT_DISCONNECTED);
  destroy_pair(pair);
}

static void destroyedIdentifierDisconnectsPeer(void) {
  struct pair pair = connect_pair();
  destroy(pair.accepted);
  expect(pair.active, RDMA_CM_EVENT_DISCONNECTED);
  destroy(pair.connected);
  destroy(pair.listener);
  rdma_destroy_event_channel(pair.active);
  rdma_destroy_event_channel(pair.passive);
}

static void sendBeforeDisconnectArrives(void) {
  struct pair pair = connect_pair();
  static char sent[64] = "last words", received[64];
  struct ibv_mr *out = rdma_reg_msgs(pair.connected, sent, sizeof sent),
                *in = rdma_reg_msgs(pair.accepted, received, sizeof received);
  CHECK(out != NULL && in != NULL);
  CHECK(rdma_post_recv(pair.accepted, NULL, received, sizeof received, in) == 0);
  CHECK(rdma_post_send(pair.connected, NULL, sent, sizeof sent, out, IBV_SEND_SIGNALED) == 0);
  CHECK(rdma_disconnect(pair.connected) == 0);
  struct ibv_wc completion;
  CHECK(rdma_get_recv_comp(pair.accepted, &completion) == 1 && completion.status == IBV_WC_SUCCESS);
  CHECK(completion.byte_len == sizeof received && strcmp(received, sent) == 0);
  CHECK(rdma_get_send_comp(pair.connected, &completion) == 1 && completion.status == IBV_WC_SUCCESS);
  expect(pair.active, RDMA_CM_EVENT_DISCONNECTED);
  expect(pair.passive, RDMA_CM_EVENT_DISCONNECTED);
  CHECK(ibv_dereg_mr(out) == 0 && ibv_dereg_mr(in) == 0);
  destroy_pair(pair);
}

static void postedReceivesAreFlushed(void) {
  struct pair pair = connect_pair();
  static char received[64];
  struct ibv_mr* in = rdma_reg_msgs(pair.accepted, received, sizeof received);
  CHECK(rdma_post_recv(pair.accepted, NULL, received, sizeof received, in) == 0);
  CHECK(rdma_post_recv(pair.accepted, NULL, received, sizeof received, in) == 0);
  CHECK(rdma_disconnect(pair.connected) == 0);
  struct ibv_wc completion;
  for (int i = 0; i < 2; i++) {
    CHECK(rdma_get_recv_comp(pair.accepted, &completion) == 1 && completion.status == IBV_WC_WR_FLUSH_ERR);
  }
  CHECK(ibv_dereg_mr(in) == 0);
  destroy_pair(pair);
}

static void workBehindTheEndIsFlushed(void) {
  struct pair pair = connect_pair();
  static char data[64];
  struct ibv_mr* region = rdma_reg_msgs(pair.accepted, data, sizeof data);
  CHECK(rdma_disconnect(pair.connected) == 0);
  expect(pair.passive, RDMA_CM_EVENT_DISCONNECTED);
  struct ibv_wc completion;
  for (int i = 0; i < 100; i++) {
    CHECK(rdma_post_send(pair.accepted, NULL, data, sizeof data, region, IBV_SEND_SIGNALED) == 0);
    CHECK(rdma_post_recv(pair.accepted, NULL, data, sizeof data, region) == 0);
    CHECK(rdma_get_send_comp(pair.accepted, &completion) == 1 && completion.status == IBV_WC_WR_FLUSH_ERR);
    CHECK(rdma_get_recv_comp(pair.accepted, &completion) == 1 && completion.status == IBV_WC_WR_FLUSH_ERR);
  }
  CHECK(ibv_dereg_mr(region) == 0);
  destroy_pair(pair);
}

static void rejectionBringsPrivateData(void) {
  struct rdma_event_channel *passive = rdma_create_event_channel(), *active = rdma_create_event_channel();
  struct rdma_cm_id *listener = listener_on(passive), *id = resolved(active, rdma_get_src_port(listener));
  CHECK(rdma_connect(id, NULL) == 0);
  struct rdma_cm_id* child = expect(passive, RDMA_CM_EVENT_CONNECT_REQUEST);
  CHECK(rdma_reject(child, "no", 2) == 0);
  struct rdma_cm_event* event = next_event(active);
  CHECK(event->event == RDMA_CM_EVENT_REJECTED && event->status == -ECONNREFUSED);
  CHECK(event->param.conn.private_data_len >= 2 && memcmp(event->param.conn.private_data, "no", 2) == 0);
  CHECK(rdma_ack_cm_event(event) == 0);
  destroy(child);
  destroy(id);
  destroy(listener);
  rdma_destroy_event_channel(active);
  rdma_destroy_event_channel(passive);
}

static void destroyedListenerRejectsItsRequests(void) {
  struct rdma_event_channel *passive = rdma_create_event_channel(), *active = rdma_create_event_channel();
  struct rdma_cm_id *listener = listener_on(passive), *id = resolved(active, rdma_get_src_port(listener));
  CHECK(rdma_connect(id, NULL) == 0);
  CHECK(readable(passive->fd, LIMIT_MS));
  destroy(listener);
  CHECK(!readable(passive->fd, 0));
  expect(active, RDMA_CM_EVENT_REJECTED);
  destroy(id);
  rdma_destroy_event_channel(active);
  rdma_destroy_event_channel(passive);
}

static void destroyedRequestIsRejected(void) {
  struct rdma_event_channel *passive = rdma_create_event_channel(), *active = rdma_create_event_channel();
  struct rdma_cm_id *listener = listener_on(passive), *id = resolved(active, rdma_get_src_port(listener));
  CHECK(rdma_connect(id, NULL) == 0);
  destroy(expect(passive, RDMA_CM_EVENT_CONNECT_REQUEST));
  expect(active, RDMA_CM_EVENT_REJECTED);
  destroy(id);
  destroy(listener);
  rdma_destroy_event_channel(active);
  rdma_destroy_event_channel(passive);
}

/* Connects to a port where no peer accepts, and expects an event with this error. */
static void fail_to_connect(uint16_t port, enum rdma_cm_event_type type, int error) {
  struct rdma_event_channel* channel = rdma_create_event_channel();
  struct rdma_cm_id* id = resolved(channel, port);
  CHECK(rdma_connect(id, NULL) == 0);
  struct rdma_cm_event* event = next_event(channel);
  CHECK(event->event == type && event->status == -error && event->param.conn.private_data_len == 0);
  CHECK(rdma_ack_cm_event(event) == 0);
  destroy(id);
  rdma_destroy_event_channel(channel);
}

static void closedPortRefuses(void) { fail_to_connect(htons(1), RDMA_CM_EVENT_REJECTED, ECONNREFUSED); }

static void* accept_and_close(void* listener) {
  int accepted;
  char request;
  while ((accepted = accept((int)(intptr_t)listener, NULL, NULL)) >= 0) {
    CHECK(read(accepted, &request, 1) == 1);
    close(accepted);
  }
  return NULL;
}

static void peerThatClosesResets(void) {
  struct sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  pthread_t thread;
  CHECK(bind(listener, (struct sockaddr*)&address, length) == 0 && listen(listener, 1) == 0);
  CHECK(getsockname(listener, (struct sockaddr*)&address, &length) == 0);
  CHECK(pthread_create(&thread, NULL, accept_and_close, (void*)(intptr_t)listener) == 0);
  fail_to_connect(address.sin_port, RDMA_CM_EVENT_REJECTED, ECONNRESET);
  CHECK(shutdown(listener, SHUT_RDWR) == 0 && pthread_join(thread, NULL) == 0);
  close(listener);
}

static void usedPortIsRefused(void) {
  struct rdma_event_channel* channel = rdma_create_event_channel();
  struct rdma_cm_id *listener = listener_on(channel), *other;
  struct sockaddr_in address = loopback(rdma_get_src_port(listener));
  CHECK(rdma_create_id(channel, &other, NULL, RDMA_PS_TCP) == 0);
  CHECK(rdma_bind_addr(other, (struct sockaddr*)&address) == -1 && errno == EADDRINUSE);
  destroy(listener);
  CHECK(rdma_bind_addr(other, (struct sockaddr*)&address) == 0);
  CHECK(rdma_listen(other, 0) == 0);
  destroy(other);
  rdma_destroy_event_channel(channel);
}

static void wildcardListenerHasNoDevice(void) {
  struct rdma_event_channel* channel = rdma_create_event_channel();
  struct rdma_cm_id *listener, *id;
  struct sockaddr_in6 any = {.sin6_family = AF_INET6};
  CHECK(rdma_create_id(channel, &listener, &any, RDMA_PS_TCP) == 0);
  CHECK(rdma_bind_addr(listener, (struct sockaddr*)&any) == 0);
  CHECK(rdma_listen(listener, 0) == 0);
  CHECK(listener->verbs == NULL);
  id = resolved(channel, rdma_get_src_port(listener));
  CHECK(rdma_connect(id, NULL) == 0);
  struct rdma_cm_id* child = expect(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
  CHECK(child->verbs != NULL && child->context == &any && child->channel == channel);
  CHECK(rdma_get_peer_addr(child)->sa_family == AF_INET);
  destroy(child);
  expect(channel, RDMA_CM_EVENT_REJECTED);
  destroy(id);
  destroy(listener);
  rdma_destroy_event_channel(channel);
}

static struct rdma_cm_id* bound_to(struct rdma_event_channel* channel) {
  struct rdma_cm_id* id;
  struct sockaddr_in address = loopback(0);
  CHECK(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0);
  CHECK(rdma_bind_addr(id, (struct sockaddr*)&address) == 0);
  return id;
}

static void requestBeforeListenWaits(void) {
  struct rdma_event_channel *passive = rdma_create_event_channel(), *active = rdma_create_event_channel();
  struct rdma_cm_id *listener = bound_to(passive), *id = resolved(active, rdma_get_src_port(listener));
  CHECK(rdma_connect(id, NULL) == 0);
  CHECK(!readable(passive->fd, QUIET_MS) && !readable(active->fd, 0));
  CHECK(rdma_listen(listener, 1) == 0);
  struct rdma_cm_id* child = expect(passive, RDMA_CM_EVENT_CONNECT_REQUEST);
  create_queue_pair(child);
  CHECK(rdma_accept(child, NULL) == 0);
  expect(active, RDMA_CM_EVENT_ESTABLISHED);
  expect(passive, RDMA_CM_EVENT_ESTABLISHED);
  destroy(child);
  destroy(id);
  destroy(listener);
  rdma_destroy_event_channel(active);
  rdma_destroy_event_channel(passive);
}

static void requestWithoutListenIsRejected(void) {
  struct rdma_event_channel *passive = rdma_create_event_channel(), *active = rdma_create_event_channel();
  struct rdma_cm_id *bound = bound_to(passive), *id = resolved(active, rdma_get_src_port(bound));
  CHECK(rdma_connect(id, NULL) == 0);
  CHECK(!readable(active->fd, QUIET_MS));
  destroy(bound);
  expect(active, RDMA_CM_EVENT_REJECTED);
  destroy(id);
  rdma_destroy_event_channel(active);
  rdma_destroy_event_channel(passive);
}

static void acceptOutlivesItsListener(void) {
  struct rdma_event_channel *passive = rdma_create_event_channel(), *active = rdma_create_event_channel();
  struct rdma_cm_id *listener = listener_on(passive), *id = resolved(active, rdma_get_src_port(listener));
  CHECK(rdma_connect(id, NULL) == 0);
  struct rdma_cm_id* child = expect(passive, RDMA_CM_EVENT_CONNECT_REQUEST);
  destroy(listener);
  create_queue_pair(child);
  CHECK(rdma_accept(child, NULL) == 0);
  expect(active, RDMA_CM_EVENT_ESTABLISHED);
  expect(passive, RDMA_CM_EVENT_ESTABLISHED);
  destroy(child);
  destroy(id);
  rdma_destroy_event_channel(active);
  rdma_destroy_event_channel(passive);
}

static void migrationMovesEvents(void) {
  struct rdma_event_channel *first = rdma_create_event_channel(), *second = rdma_create_event_channel();
  struct rdma_cm_id* id;
  struct sockaddr_in address = loopback(htons(1));
  CHECK(rdma_create_id(first, &id, NULL, RDMA_PS_TCP) == 0);
  CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr*)&address, 1000) == 0);
  CHECK(readable(first->fd, 0) && !readable(second->fd, 0));
  CHECK(rdma_migrate_id(id, second) == 0);
  CHECK(id->channel == second && !readable(first->fd, 0));
  CHECK(expect(second, RDMA_CM_EVENT_ADDR_RESOLVED) == id);
  /* A synchronous identifier takes its event itself. */
  CHECK(rdma_migrate_id(id, NULL) == 0);
  CHECK(rdma_resolve_route(id, 1000) == 0);
  CHECK(id->event->event == RDMA_CM_EVENT_ROUTE_RESOLVED);
  CHECK(rdma_migrate_id(id, first) == 0);
  CHECK(id->event == NULL && id->channel == first);
  destroy(id);
  rdma_destroy_event_channel(first);
  rdma_destroy_event_channel(second);
}

static void ignore_signal(int number) { (void)number; }

static void emptyChannelBlocksOrSaysSo(void) {
  struct rdma_event_channel* channel = rdma_create_event_channel();
  struct rdma_cm_event* event;
  struct sigaction action = {.sa_handler = ignore_signal};
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  alarm(1);
  CHECK(rdma_get_cm_event(channel, &event) == -1 && errno == EINTR);
  CHECK(fcntl(channel->fd, F_SETFL, O_NONBLOCK) == 0);
  CHECK(rdma_get_cm_event(channel, &event) == -1 && (errno == EAGAIN || errno == EWOULDBLOCK));
  rdma_destroy_event_channel(channel);
}

static void wrongOrderFails(void) {
  struct rdma_event_channel* channel = rdma_create_event_channel();
  struct rdma_cm_id* id;
  struct sockaddr_in address = loopback(htons(1)), foreign = address;
  foreign.sin_addr.s_addr = htonl(0xc0000201);
  CHECK(rdma_create_id(channel, &id, NULL, RDMA_PS_UDP) == -1 && errno == EOPNOTSUPP);
  CHECK(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0);
  CHECK(rdma_resolve_route(id, 1000) == -1 && errno == EINVAL);
  CHECK(rdma_connect(id, NULL) == -1 && errno == EINVAL);
  CHECK(rdma_accept(id, NULL) == -1 && errno == EINVAL);
  CHECK(rdma_disconnect(id) == -1 && errno == EINVAL);
  CHECK(rdma_bind_addr(id, (struct sockaddr*)&foreign) == -1 && errno == EADDRNOTAVAIL);
  CHECK(rdma_resolve_addr(id, (struct sockaddr*)&foreign, (struct sockaddr*)&address, 1000) == -1);
  CHECK(errno == EADDRNOTAVAIL);
  struct sockaddr unknown = {.sa_family = AF_UNIX};
  CHECK(rdma_resolve_addr(id, NULL, &unknown, 1000) == -1 && errno == EAFNOSUPPORT);
  CHECK(!readable(channel->fd, 0));
  destroy(id);
  rdma_destroy_event_channel(channel);
}

static void* serve_endpoint(void* argument) {
  struct rdma_cm_id *listener = argument, *id;
  static char data[16];
  CHECK(rdma_get_request(listener, &id) == 0);
  CHECK(id->qp != NULL && id->event->event == RDMA_CM_EVENT_CONNECT_REQUEST);
  struct ibv_mr* region = rdma_reg_msgs(id, data, sizeof data);
  CHECK(rdma_post_recv(id, NULL, data, sizeof data, region) == 0);
  CHECK(rdma_accept(id, NULL) == 0);
  struct ibv_wc completion;
  CHECK(rdma_get_recv_comp(id, &completion) == 1 && completion.status == IBV_WC_SUCCESS);
  CHECK(rdma_post_send(id, NULL, data, sizeof data, region, 0) == 0);
  CHECK(rdma_get_send_comp(id, &completion) == 1 && completion.status == IBV_WC_SUCCESS);
  CHECK(rdma_disconnect(id) == 0);
  CHECK(id->event->event == RDMA_CM_EVENT_DISCONNECTED);
  CHECK(rdma_dereg_mr(region) == 0);
  rdma_destroy_ep(id);
  return NULL;
}

static void endpointsAreSynchronous(void) {
  struct rdma_addrinfo hints = {.ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP}, *info;
  struct ibv_qp_init_attr attributes = {.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
                                        .sq_sig_all = 1};
  struct ibv_qp_init_attr copy = attributes;
  struct rdma_cm_id *listener, *id;
  char port[8];
  CHECK(rdma_getaddrinfo("127.0.0.1", "0", &hints, &info) == 0);
  CHECK(rdma_create_ep(&listener, info, NULL, &attributes) == 0);
  rdma_freeaddrinfo(info);
  CHECK(rdma_listen(listener, 0) == 0);
  pthread_t server;
  CHECK(pthread_create(&server, NULL, serve_endpoint, listener) == 0);

  snprintf(port, sizeof port, "%d", ntohs(rdma_get_src_port(listener)));
  hints.ai_flags = 0;
  CHECK(rdma_getaddrinfo("127.0.0.1", port, &hints, &info) == 0);
  CHECK(rdma_create_ep(&id, info, NULL, &copy) == 0);
  rdma_freeaddrinfo(info);
  static char sent[16] = "to and fro", received[16];
  struct ibv_mr *out = rdma_reg_msgs(id, sent, sizeof sent), *in = rdma_reg_msgs(id, received, sizeof received);
  CHECK(rdma_post_recv(id, NULL, received, sizeof received, in) == 0);
  CHECK(rdma_connect(id, NULL) == 0);
  CHECK(rdma_post_send(id, NULL, sent, sizeof sent, out, 0) == 0);
  struct ibv_wc completion;
  CHECK(rdma_get_send_comp(id, &completion) == 1 && completion.status == IBV_WC_SUCCESS);
  CHECK(rdma_get_recv_comp(id, &completion) == 1 && completion.status == IBV_WC_SUCCESS);
  CHECK(strcmp(received, sent) == 0);
  CHECK(rdma_disconnect(id) == 0);
  CHECK(rdma_disconnect(id) == -1 && errno == EINVAL);
  CHECK(pthread_join(server, NULL) == 0);
  CHECK(rdma_dereg_mr(out) == 0 && rdma_dereg_mr(in) == 0);
  rdma_destroy_ep(id);
  rdma_destroy_ep(listener);
}

static void manyConnectionsAtOnce(void) {
  enum { COUNT = 100 };
  struct rdma_event_channel *passive = rdma_create_event_channel(), *active = rdma_create_event_channel();
  struct rdma_cm_id *listener = listener_on(passive), *connected[COUNT], *accepted[COUNT];
  for (int i = 0; i < COUNT; i++) {
    connected[i] = resolved(active, rdma_get_src_port(listener));
    CHECK(rdma_connect(connected[i], NULL) == 0);
  }
  int requests = 0, established = 0, ended = 0;
  while (established < COUNT) {
    struct rdma_cm_event* event = next_event(passive);
    CHECK(event->event == RDMA_CM_EVENT_CONNECT_REQUEST || event->event == RDMA_CM_EVENT_ESTABLISHED);
    struct rdma_cm_id* id = event->id;
    established += event->event == RDMA_CM_EVENT_ESTABLISHED;
    if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
      accepted[requests++] = id;
      create_queue_pair(id);
      CHECK(rdma_accept(id, NULL) == 0);
    }
    CHECK(rdma_ack_cm_event(event) == 0);
  }
  for (int i = 0; i < COUNT; i++) {
    CHECK(rdma_disconnect(expect(active, RDMA_CM_EVENT_ESTABLISHED)) == 0);
  }
  for (ended = 0; ended < COUNT; ended++) {
    expect(active, RDMA_CM_EVENT_DISCONNECTED);
    expect(passive, RDMA_CM_EVENT_DISCONNECTED);
  }
  for (int i = 0; i < COUNT; i++) {
    destroy(connected[i]);
    destroy(accepted[i]);
  }
  destroy(listener);
  rdma_destroy_event_channel(active);
  rdma_destroy_event_channel(passive);
}

static void acceptOfAnAbandonedRequestFlushesReceives(void) {
  struct rdma_event_channel *active = rdma_create_event_channel(), *passive = rdma_create_event_channel();
  struct rdma_cm_id* listener = listener_on(passive);
  struct rdma_cm_id* connected = resolved(active, rdma_get_src_port(listener));
  CHECK(rdma_connect(connected, NULL) == 0);
  struct rdma_cm_id* id = expect(passive, RDMA_CM_EVENT_CONNECT_REQUEST);
  create_queue_pair(id);
  struct ibv_recv_wr receive = {.wr_id = 7}, *bad;
  CHECK(ibv_post_recv(id->qp, &receive, &bad) == 0);
  destroy(connected);
  usleep(QUIET_MS * 1000);
  CHECK(rdma_accept(id, NULL) == 0);
  CHECK(expect(passive, RDMA_CM_EVENT_CONNECT_ERROR) == id);
  struct ibv_wc completion;
  CHECK(rdma_get_recv_comp(id, &completion) == 1);
  CHECK(completion.wr_id == 7 && completion.status == IBV_WC_WR_FLUSH_ERR);
  destroy(id);
  destroy(listener);
  rdma_destroy_event_channel(active);
  rdma_destroy_event_channel(passive);
}

static void receivesBehindTheDisconnectLoseNoSends(void) {
  enum { ROUNDS = 50, SENDS = 4 };
  for (int round = 0; round < ROUNDS; round++) {
    struct pair pair = connect_pair();
    struct ibv_send_wr send = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad_send;
    struct ibv_recv_wr receive = {.wr_id = 1}, *bad;
    struct ibv_wc completion;
    for (int i = 0; i < SENDS; i++) {
      CHECK(ibv_post_recv(pair.accepted->qp, &receive, &bad) == 0);
    }
    for (int i = 0; i < SENDS; i++) {
      CHECK(ibv_post_send(pair.connected->qp, &send, &bad_send) == 0);
    }
    CHECK(rdma_disconnect(pair.connected) == 0);
    for (int i = 0; i < SENDS; i++) {
      CHECK(ibv_post_recv(pair.connected->qp, &receive, &bad) == 0);
    }
    for (int i = 0; i < SENDS; i++) {
      CHECK(rdma_get_send_comp(pair.connected, &completion) == 1 && completion.status == IBV_WC_SUCCESS);
      CHECK(rdma_get_recv_comp(pair.accepted, &completion) == 1 && completion.status == IBV_WC_SUCCESS);
      CHECK(rdma_get_recv_comp(pair.connected, &completion) == 1 && completion.status == IBV_WC_WR_FLUSH_ERR);
    }
    expect(pair.active, RDMA_CM_EVENT_DISCONNECTED);
    expect(pair.passive, RDMA_CM_EVENT_DISCONNECTED);
    destroy_pair(pair);
  }
}

static void identifiersAreDeadInAChild(void) {
  struct pair pair = connect_pair();
  struct sockaddr_in address = loopback(0);
  struct rdma_cm_id* fresh;
  CHECK(rdma_create_id(pair.active, &fresh, NULL, RDMA_PS_TCP) == 0);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    struct rdma_cm_event* event;
    CHECK(rdma_disconnect(pair.connected) == -1);
    CHECK(rdma_bind_addr(fresh, (struct sockaddr*)&address) == -1 && errno == ENODEV);
    CHECK(rdma_get_cm_event(pair.active, &event) == -1 && errno == ENODEV);
    destroy_pair(pair);
    _exit(0);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(!readable(pair.active->fd, QUIET_MS));
  destroy(fresh);
  CHECK(rdma_disconnect(pair.connected) == 0);
  expect(pair.active, RDMA_CM_EVENT_DISCONNECTED);
  expect(pair.passive, RDMA_CM_EVENT_DISCONNECTED);
  destroy_pair(pair);
}

#define TEST(name) {#name, name}

int main(int count, char** arguments) {
  static const struct {
    const char* name;
    void (*run)(void);
  } tests[] = {
      TEST(wrongOrderFails),
      TEST(emptyChannelBlocksOrSaysSo),
      TEST(migrationMovesEvents),
      TEST(usedPortIsRefused),
      TEST(closedPortRefuses),
      TEST(peerThatClosesResets),
      TEST(wildcardListenerHasNoDevice),
      TEST(requestBeforeListenWaits),
      TEST(requestWithoutListenIsRejected),
      TEST(acceptOutlivesItsListener),
      TEST(acceptOfAnAbandonedRequestFlushesReceives),
      TEST(receivesBehindTheDisconnectLoseNoSends),
      TEST(rejectionBringsPrivateData),
      TEST(destroyedRequestIsRejected),
      TEST(destroyedListenerRejectsItsRequests),
      TEST(disconnectedIsReportedOnceOnBothSides),
      TEST(destroyedQueuePairDisconnectsPeer),
      TEST(destroyedIdentifierDisconnectsPeer),
      TEST(sendBeforeDisconnectArrives),
      TEST(postedReceivesAreFlushed),
      TEST(workBehindTheEndIsFlushed),
      TEST(endpointsAreSynchronous),
      TEST(manyConnectionsAtOnce),
      TEST(identifiersAreDeadInAChild),
  };
  bool found = false;
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
    if (count < 2 || strcmp(arguments[1], tests[i].name) == 0) {
      found = true;
      tests[i].run();
      printf("%s\n", tests[i].name);
      fflush(stdout);
    }
  }
  return found ? 0 : 2;
}
