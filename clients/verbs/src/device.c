/*
 * Copyright The Sidewarp Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The device: an iWARP RNIC with one port, whose attributes are the limits of the session, and asynchronous events.
 */
#include "queues.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#undef ibv_query_port

enum { VENDOR = 0x737770, MAC_LENGTH = 6, PHYSICAL_LINK_UP = 5, WIDTH_1X = 1, SPEED_10_GIGABIT = 4 };

/* An event in the queue, or one that the program has taken and not acknowledged. */
struct raised {
  struct raised* next;
  struct ibv_async_event event;
};

struct device_context {
  struct device_context* next;
  uint64_t generation;
  pthread_mutex_t lock;
  pthread_cond_t acknowledged;
  struct raised *queued, *taken;
  /* Ends with struct ibv_context. */
  struct verbs_context verbs;
};

static struct {
  struct ibv_device device;
  /* Providers' libraries look at private fields behind the device. */
  unsigned char zeros[512];
} only;
static unsigned char mac[MAC_LENGTH];
static pthread_once_t device_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER, shared_lock = PTHREAD_MUTEX_INITIALIZER;
static struct device_context *contexts, *shared;

/* --- The device --------------------------------------------------------------------------------------------------- */

static void create_device(void) {
  char host[HOST_NAME_MAX + 1] = "";
  const char* api = getenv("SIDEWARP_API");
  /* FNV-1a: the same sidecar of the same machine always has the same address. */
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  gethostname(host, sizeof host - 1);
  for (const char* c = host; *c != 0; c++) {
    hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
  }
  for (const char* c = api == NULL ? "" : api; *c != 0; c++) {
    hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
  }
  memcpy(mac, &hash, sizeof mac);
  /* An address that is locally administered, and of one station. */
  mac[0] = (unsigned char)((mac[0] & 0xfc) | 2);
  only.device.node_type = by_hand_mode() ? IBV_NODE_CA : IBV_NODE_RNIC;
  only.device.transport_type = by_hand_mode() ? IBV_TRANSPORT_IB : IBV_TRANSPORT_IWARP;
  strcpy(only.device.name, DEVICE_NAME);
  strcpy(only.device.dev_name, DEVICE_NAME);
  snprintf(only.device.dev_path, sizeof only.device.dev_path, "/sys/class/infiniband_verbs/%s", DEVICE_NAME);
  snprintf(only.device.ibdev_path, sizeof only.device.ibdev_path, "/sys/class/infiniband/%s", DEVICE_NAME);
}

struct ibv_device* device_get(void) {
  pthread_once(&device_once, create_device);
  return &only.device;
}

struct ibv_device** ibv_get_device_list(int* count) {
  bool possible = session_is_possible();
  struct ibv_device** list = calloc(2, sizeof *list);
  if (list != NULL && possible) {
    list[0] = device_get();
  }
  if (count != NULL) {
    *count = list != NULL && possible;
  }
  return list;
}

void ibv_free_device_list(struct ibv_device** list) { free(list); }

const char* ibv_get_device_name(struct ibv_device* device) { return device->name; }

int ibv_get_device_index(struct ibv_device* device) {
  (void)device;
  return -1;
}

__be64 ibv_get_device_guid(struct ibv_device* device) {
  (void)device;
  device_get();
  /* EUI-64 of the address. */
  unsigned char guid[8] = {mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};
  __be64 result;
  memcpy(&result, guid, sizeof result);
  return result;
}

/* --- Queries ------------------------------------------------------------------------------------------------------ */

static int gid_count(void) { return by_hand_mode() ? by_hand_gids() : 1; }

static int at_most(uint64_t value) { return value > INT_MAX ? INT_MAX : (int)value; }

int ibv_query_device(struct ibv_context* context, struct ibv_device_attr* attributes) {
  const struct control_device* device = session_device();
  /* A queue has room in one completion ring. */
  uint64_t room = device->max_queue_outstanding > SPARE ? device->max_queue_outstanding - SPARE : 0;
  uint64_t sends = device->max_send_queue < room ? device->max_send_queue : room;
  uint64_t receives = device->max_receive_queue < room ? device->max_receive_queue : room;
  receives = receives < device->max_receives ? receives : device->max_receives;
  *attributes = (struct ibv_device_attr){
      .node_guid = ibv_get_device_guid(context->device),
      .sys_image_guid = ibv_get_device_guid(context->device),
      .max_mr_size = device->max_registered,
      .page_size_cap = (uint64_t)sysconf(_SC_PAGESIZE),
      .vendor_id = VENDOR,
      .max_qp = at_most(device->max_connections),
      .max_qp_wr = at_most(sends < receives ? sends : receives),
      .device_cap_flags = IBV_DEVICE_MEM_MGT_EXTENSIONS,
      .max_sge = at_most(device->max_sge),
      .max_sge_rd = 1,
      .max_cq = at_most(device->max_connections),
      .max_cqe = at_most(device->max_completion_entries),
      .max_mr = at_most(device->max_regions),
      .max_pd = at_most(device->max_domains),
      .max_qp_rd_atom = at_most(device->max_ird),
      .max_res_rd_atom = at_most((uint64_t)device->max_ird * device->max_connections),
      .max_qp_init_rd_atom = at_most(device->max_ord),
      .atomic_cap = device->capabilities & CONTROL_CAPABILITY_ATOMIC ? IBV_ATOMIC_HCA : IBV_ATOMIC_NONE,
      .max_srq = at_most(device->max_shared_receive_queues),
      .max_srq_wr = at_most(receives),
      .max_srq_sge = at_most(device->max_sge),
      .max_pkeys = 1,
      .phys_port_cnt = 1};
  snprintf(attributes->fw_ver, sizeof attributes->fw_ver, "%s", device->version);
  return 0;
}

static int query_device_extended(struct ibv_context* context, const struct ibv_query_device_ex_input* input,
                                 struct ibv_device_attr_ex* attributes, size_t size) {
  struct ibv_device_attr_ex full = {.phys_port_cnt_ex = 1};
  (void)input;
  if (size < sizeof attributes->orig_attr) {
    return EINVAL;
  }
  ibv_query_device(context, &full.orig_attr);
  full.device_cap_flags_ex = full.orig_attr.device_cap_flags;
  memset(attributes, 0, size);
  memcpy(attributes, &full, size < sizeof full ? size : sizeof full);
  return 0;
}

static int query_port_extended(struct ibv_context* context, uint8_t port, struct ibv_port_attr* attributes, size_t size) {
  struct ibv_port_attr full = {.state = IBV_PORT_ACTIVE,
                               .max_mtu = IBV_MTU_4096,
                               .active_mtu = IBV_MTU_4096,
                               .gid_tbl_len = gid_count(),
                               .port_cap_flags = IBV_PORT_CM_SUP,
                               .max_msg_sz = INT_MAX,
                               .pkey_tbl_len = 1,
                               .lid = by_hand_mode() ? by_hand_lid() : 0,
                               .max_vl_num = 1,
                               .active_width = WIDTH_1X,
                               .active_speed = SPEED_10_GIGABIT,
                               .phys_state = PHYSICAL_LINK_UP,
                               .link_layer = IBV_LINK_LAYER_ETHERNET};
  if (port != 1) {
    return EINVAL;
  }
  if (session_is_lost(device_generation(context))) {
    full.state = IBV_PORT_DOWN;
  }
  memset(attributes, 0, size);
  memcpy(attributes, &full, size < sizeof full ? size : sizeof full);
  return 0;
}

/* The structure of old programs ends before the last field of today's. */
int ibv_query_port(struct ibv_context* context, uint8_t port, struct _compat_ibv_port_attr* attributes) {
  return query_port_extended(context, port, (struct ibv_port_attr*)attributes,
                             offsetof(struct ibv_port_attr, port_cap_flags2));
}

/* An iWARP device has one GID: its hardware address. */
int ibv_query_gid(struct ibv_context* context, uint8_t port, int index, union ibv_gid* gid) {
  (void)context;
  device_get();
  memset(gid, 0, sizeof *gid);
  if (port != 1 || index < 0 || index >= gid_count()) {
    errno = EINVAL;
    return -1;
  }
  if (!by_hand_mode() || !by_hand_gid((uint32_t)index, gid)) {
    memcpy(gid->raw, mac, sizeof mac);
  }
  return 0;
}

int _ibv_query_gid_ex(struct ibv_context* context, uint32_t port, uint32_t index, struct ibv_gid_entry* entry,
                      uint32_t flags, size_t size) {
  struct ibv_gid_entry full = {.gid_index = index, .port_num = port};
  full.gid_type = by_hand_mode() ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_IB;
  if (flags != 0 || size < sizeof full) {
    return EOPNOTSUPP;
  }
  if (port != 1 || index >= (uint32_t)gid_count()) {
    return port != 1 ? EINVAL : ENODATA;
  }
  ibv_query_gid(context, 1, (int)index, &full.gid);
  *entry = full;
  return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context* context, struct ibv_gid_entry* entries, size_t count, uint32_t flags,
                             size_t size) {
  int number = gid_count(), error = count < (size_t)number ? EINVAL : 0;
  for (int i = 0; i < number && error == 0; i++) {
    struct ibv_gid_entry* entry = (struct ibv_gid_entry*)((char*)entries + (size_t)i * size);
    error = _ibv_query_gid_ex(context, 1, (uint32_t)i, entry, flags, size);
  }
  return error == 0 ? number : -error;
}

int ibv_query_gid_type(struct ibv_context* context, uint8_t port, unsigned index, int* type);

/* Private to rdma-core; ibv_devinfo and pyverbs call it. 0 is the type of devices without RoCE, 1 is RoCE v2. */
int ibv_query_gid_type(struct ibv_context* context, uint8_t port, unsigned index, int* type) {
  (void)context;
  *type = by_hand_mode();
  return port == 1 && index < (unsigned)gid_count() ? 0 : -1;
}

const char* ibv_get_sysfs_path(void);
int ibv_read_sysfs_file(const char* directory, const char* file, char* content, size_t size);

const char* ibv_get_sysfs_path(void) { return "/sys"; }

/* Reads a file without its final line feed. Returns its length, or -1: the device has no directory there. */
int ibv_read_sysfs_file(const char* directory, const char* file, char* content, size_t size) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", directory, file);
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = descriptor < 0 ? -1 : read(descriptor, content, size);
  if (descriptor >= 0) {
    close(descriptor);
  }
  if (length > 0 && content[length - 1] == '\n') {
    content[--length] = 0;
  } else if (length >= 0 && (size_t)length < size) {
    content[length] = 0;
  }
  return (int)length;
}

int ibv_query_pkey(struct ibv_context* context, uint8_t port, int index, __be16* key) {
  (void)context;
  if (port != 1 || index != 0) {
    errno = EINVAL;
    return -1;
  }
  *key = htons(0xffff);
  return 0;
}

int ibv_get_pkey_index(struct ibv_context* context, uint8_t port, __be16 key) {
  (void)context;
  return port == 1 && key == htons(0xffff) ? 0 : -1;
}

/* --- Contexts ----------------------------------------------------------------------------------------------------- */

static struct device_context* of_context(struct ibv_context* context) {
  return (struct device_context*)((char*)context - offsetof(struct device_context, verbs.context));
}

uint64_t device_generation(struct ibv_context* context) { return of_context(context)->generation; }

struct ibv_context* ibv_open_device(struct ibv_device* device) {
  int error = session_acquire();
  struct device_context* opened = error == 0 ? calloc(1, sizeof *opened) : NULL;
  if (opened == NULL) {
    errno = error == 0 ? ENOMEM : error;
    return NULL;
  }
  struct ibv_context* context = &opened->verbs.context;
  opened->verbs.sz = sizeof opened->verbs;
  opened->verbs.query_port = query_port_extended;
  opened->verbs.query_device_ex = query_device_extended;
  opened->verbs.create_qp_ex = qp_create_extended;
  context->device = device;
  context->ops.poll_cq = cq_poll;
  context->ops.req_notify_cq = cq_req_notify;
  context->ops.post_send = qp_post_send;
  context->ops.post_recv = qp_post_recv;
  context->ops.post_srq_recv = srq_post_recv;
  context->cmd_fd = -1;
  context->async_fd = counter_create();
  context->num_comp_vectors = 1;
  context->abi_compat = __VERBS_ABI_IS_EXTENDED;
  if (context->async_fd < 0) {
    free(opened);
    return NULL;
  }
  pthread_mutex_init(&context->mutex, NULL);
  pthread_mutex_init(&opened->lock, NULL);
  pthread_cond_init(&opened->acknowledged, NULL);
  opened->generation = session_generation();
  pthread_mutex_lock(&contexts_lock);
  opened->next = contexts;
  contexts = opened;
  pthread_mutex_unlock(&contexts_lock);
  return context;
}

static void free_events(struct raised* first) {
  while (first != NULL) {
    struct raised* next = first->next;
    free(first);
    first = next;
  }
}

int ibv_close_device(struct ibv_context* context) {
  struct device_context* opened = of_context(context);
  pthread_mutex_lock(&contexts_lock);
  struct device_context** link = &contexts;
  while (*link != NULL && *link != opened) {
    link = &(*link)->next;
  }
  if (*link != NULL) {
    *link = opened->next;
  }
  pthread_mutex_unlock(&contexts_lock);
  close(context->async_fd);
  free_events(opened->queued);
  free_events(opened->taken);
  free(opened);
  return 0;
}

struct ibv_context* device_shared_context(void) {
  pthread_mutex_lock(&shared_lock);
  /* Identifiers may still use the context of a lost session, so it stays. */
  if (shared == NULL || session_is_lost(shared->generation)) {
    struct ibv_context* context = ibv_open_device(device_get());
    shared = context == NULL ? NULL : of_context(context);
  }
  struct ibv_context* context = shared == NULL ? NULL : &shared->verbs.context;
  pthread_mutex_unlock(&shared_lock);
  return context;
}

/* --- Asynchronous events ------------------------------------------------------------------------------------------ */

void device_raise(struct ibv_context* context, const struct ibv_async_event* event) {
  struct device_context* opened = of_context(context);
  struct raised* raised = malloc(sizeof *raised);
  if (raised == NULL) {
    return;
  }
  *raised = (struct raised){NULL, *event};
  pthread_mutex_lock(&opened->lock);
  struct raised** link = &opened->queued;
  while (*link != NULL) {
    link = &(*link)->next;
  }
  *link = raised;
  counter_add(context->async_fd);
  pthread_mutex_unlock(&opened->lock);
}

void device_lost(void) {
  struct ibv_async_event event = {.event_type = IBV_EVENT_DEVICE_FATAL};
  pthread_mutex_lock(&contexts_lock);
  for (struct device_context* each = contexts; each != NULL; each = each->next) {
    if (session_is_lost(each->generation) && !session_is_inherited(each->generation)) {
      device_raise(&each->verbs.context, &event);
    }
  }
  pthread_mutex_unlock(&contexts_lock);
}

/* The object of an event, or NULL for events of the port and the device. */
static const void* element_of(const struct ibv_async_event* event) {
  switch (event->event_type) {
    case IBV_EVENT_CQ_ERR:
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return event->element.qp;
    default:
      return NULL;
  }
}

int ibv_get_async_event(struct ibv_context* context, struct ibv_async_event* event) {
  struct device_context* opened = of_context(context);
  struct raised* raised;
  do {
    if (counter_take(context->async_fd) != 0) {
      return -1;
    }
    pthread_mutex_lock(&opened->lock);
    raised = opened->queued;
    if (raised != NULL) {
      opened->queued = raised->next;
      *event = raised->event;
      raised->next = opened->taken;
      opened->taken = raised;
    }
    pthread_mutex_unlock(&opened->lock);
  } while (raised == NULL);
  return 0;
}

static struct device_context* context_of_event(const struct ibv_async_event* event) {
  switch (event->event_type) {
    case IBV_EVENT_CQ_ERR:
      return of_context(event->element.cq->context);
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return of_context(event->element.srq->context);
    default:
      return element_of(event) == NULL ? NULL : of_context(event->element.qp->context);
  }
}

void ibv_ack_async_event(struct ibv_async_event* event) {
  struct device_context* opened = context_of_event(event);
  if (opened == NULL) {
    return;
  }
  pthread_mutex_lock(&opened->lock);
  struct raised** link = &opened->taken;
  while (*link != NULL &&
         ((*link)->event.event_type != event->event_type || element_of(&(*link)->event) != element_of(event))) {
    link = &(*link)->next;
  }
  struct raised* found = *link;
  if (found != NULL) {
    *link = found->next;
    free(found);
  }
  pthread_cond_broadcast(&opened->acknowledged);
  pthread_mutex_unlock(&opened->lock);
}

static bool has_taken(const struct device_context* opened, const void* element) {
  for (const struct raised* each = opened->taken; each != NULL; each = each->next) {
    if (element_of(&each->event) == element) {
      return true;
    }
  }
  return false;
}

void device_forget(struct ibv_context* context, const void* element) {
  struct device_context* opened = of_context(context);
  int cancel;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  pthread_mutex_lock(&opened->lock);
  for (struct raised** link = &opened->queued; *link != NULL;) {
    struct raised* raised = *link;
    if (element_of(&raised->event) != element) {
      link = &raised->next;
      continue;
    }
    uint64_t value;
    struct iovec part = {&value, sizeof value};
    *link = raised->next;
    free(raised);
    /* Counts down without waiting. If another thread was faster, it finds no event, and waits again. */
    if (preadv2(context->async_fd, &part, 1, -1, RWF_NOWAIT) < 0) {
      continue;
    }
  }
  while (has_taken(opened, element)) {
    pthread_cond_wait(&opened->acknowledged, &opened->lock);
  }
  pthread_mutex_unlock(&opened->lock);
  pthread_setcancelstate(cancel, NULL);
}

/* --- Fork --------------------------------------------------------------------------------------------------------- */

void device_after_fork(void) {
  pthread_mutex_init(&contexts_lock, NULL);
  pthread_mutex_init(&shared_lock, NULL);
}

/* Memory is never pinned, and the sidecar reaches that of the parent only, so fork needs no preparation. */
int ibv_fork_init(void) { return 0; }

enum ibv_fork_status ibv_is_fork_initialized(void) { return IBV_FORK_UNNEEDED; }
