/*
 * Copyright The Sidewarp Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Functions that an iWARP device or this library does not have. They exist because programs link them, and fail with
 * EOPNOTSUPP. symbols.md lists them with the reasons.
 */
#include "sidewarp.h"

#include <errno.h>
#include <rdma/rdma_cma.h>

/* For functions that return an error number, -1 with errno, and NULL with errno. */
#define REFUSE_NUMBER return EOPNOTSUPP
#define REFUSE_MINUS_ONE return (errno = EOPNOTSUPP, -1)
#define REFUSE_NULL return (errno = EOPNOTSUPP, NULL)

#pragma GCC diagnostic ignored "-Wunused-parameter"

/* --- Datagrams and multicast: iWARP has neither -------------------------------------------------------------------- */

struct ibv_ah* ibv_create_ah(struct ibv_pd* domain, struct ibv_ah_attr* attributes) { REFUSE_NULL; }

struct ibv_ah* ibv_create_ah_from_wc(struct ibv_pd* domain, struct ibv_wc* completion, struct ibv_grh* header,
                                     uint8_t port) {
  REFUSE_NULL;
}

int ibv_init_ah_from_wc(struct ibv_context* context, uint8_t port, struct ibv_wc* completion, struct ibv_grh* header,
                        struct ibv_ah_attr* attributes) {
  REFUSE_MINUS_ONE;
}

int ibv_destroy_ah(struct ibv_ah* handle) { REFUSE_NUMBER; }

int ibv_resolve_eth_l2_from_gid(struct ibv_context* context, struct ibv_ah_attr* attributes,
                                uint8_t address[ETHERNET_LL_SIZE], uint16_t* vlan) {
  REFUSE_NUMBER;
}

int ibv_attach_mcast(struct ibv_qp* qp, const union ibv_gid* gid, uint16_t lid) { REFUSE_NUMBER; }

int ibv_detach_mcast(struct ibv_qp* qp, const union ibv_gid* gid, uint16_t lid) { REFUSE_NUMBER; }

int rdma_join_multicast(struct rdma_cm_id* id, struct sockaddr* address, void* context) { REFUSE_MINUS_ONE; }

int rdma_join_multicast_ex(struct rdma_cm_id* id, struct rdma_cm_join_mc_attr_ex* attributes, void* context) {
  REFUSE_MINUS_ONE;
}

int rdma_leave_multicast(struct rdma_cm_id* id, struct sockaddr* address) { REFUSE_MINUS_ONE; }

/* --- Objects of another process, device memory, dma-buf ------------------------------------------------------------- */

struct ibv_context* ibv_import_device(int descriptor) { REFUSE_NULL; }

struct ibv_pd* ibv_import_pd(struct ibv_context* context, uint32_t handle) { REFUSE_NULL; }

void ibv_unimport_pd(struct ibv_pd* domain) {}

struct ibv_mr* ibv_import_mr(struct ibv_pd* domain, uint32_t handle) { REFUSE_NULL; }

void ibv_unimport_mr(struct ibv_mr* region) {}

struct ibv_dm* ibv_import_dm(struct ibv_context* context, uint32_t handle) { REFUSE_NULL; }

void ibv_unimport_dm(struct ibv_dm* memory) {}

struct ibv_mr* ibv_reg_dmabuf_mr(struct ibv_pd* domain, uint64_t offset, size_t length, uint64_t iova, int descriptor,
                                 int access) {
  REFUSE_NULL;
}

int ibv_rereg_mr(struct ibv_mr* region, int flags, struct ibv_pd* domain, void* address, size_t length, int access) {
  errno = EOPNOTSUPP;
  return IBV_REREG_MR_ERR_INPUT;
}

/* --- Options that vendors negotiate (ECE) --------------------------------------------------------------------------- */

int ibv_set_ece(struct ibv_qp* qp, struct ibv_ece* ece) { REFUSE_NUMBER; }

int ibv_query_ece(struct ibv_qp* qp, struct ibv_ece* ece) { REFUSE_NUMBER; }

int rdma_set_local_ece(struct rdma_cm_id* id, struct ibv_ece* ece) { REFUSE_MINUS_ONE; }

int rdma_get_remote_ece(struct rdma_cm_id* id, struct ibv_ece* ece) { REFUSE_MINUS_ONE; }

/* --- What rdma-core's own libraries and providers link -------------------------------------------------------------- */

/* libmlx5 and libefa register themselves when they are loaded. Nothing calls them afterwards. */
#define IGNORE(name) \
  void name(void); \
  void name(void) {}
#define REFUSE(name) \
  int name(void); \
  int name(void) { REFUSE_NUMBER; }

IGNORE(verbs_register_driver_34)
IGNORE(ibv_register_driver)
IGNORE(ibv_copy_ah_attr_from_kern)
IGNORE(ibv_copy_path_rec_from_kern)
IGNORE(ibv_copy_path_rec_to_kern)
IGNORE(ibv_copy_qp_attr_from_kern)
IGNORE(__verbs_log)
IGNORE(verbs_set_ops)
IGNORE(verbs_uninit_context)

extern bool verbs_allow_disassociate_destroy;
bool verbs_allow_disassociate_destroy = true;

void* _verbs_init_and_alloc_context(void);
void* _verbs_init_and_alloc_context(void) { REFUSE_NULL; }
void* verbs_open_device(void);
void* verbs_open_device(void) { REFUSE_NULL; }

/* Memory of a process that forks needs no mark. */
int ibv_dontfork_range(void* base, size_t size);
int ibv_dontfork_range(void* base, size_t size) { return 0; }
int ibv_dofork_range(void* base, size_t size);
int ibv_dofork_range(void* base, size_t size) { return 0; }

REFUSE(execute_ioctl)
REFUSE(__ioctl_final_num_attrs)
REFUSE(ibv_read_ibdev_sysfs_file)
REFUSE(verbs_init_cq)
REFUSE(ibv_cmd_advise_mr)
REFUSE(ibv_cmd_alloc_dm)
REFUSE(ibv_cmd_alloc_mw)
REFUSE(ibv_cmd_alloc_pd)
REFUSE(ibv_cmd_attach_mcast)
REFUSE(ibv_cmd_close_xrcd)
REFUSE(ibv_cmd_create_ah)
REFUSE(ibv_cmd_create_counters)
REFUSE(ibv_cmd_create_cq)
REFUSE(ibv_cmd_create_cq_ex)
REFUSE(ibv_cmd_create_cq_ex2)
REFUSE(ibv_cmd_create_flow)
REFUSE(ibv_cmd_create_flow_action_esp)
REFUSE(ibv_cmd_create_qp)
REFUSE(ibv_cmd_create_qp_ex)
REFUSE(ibv_cmd_create_qp_ex2)
REFUSE(ibv_cmd_create_rwq_ind_table)
REFUSE(ibv_cmd_create_srq)
REFUSE(ibv_cmd_create_srq_ex)
REFUSE(ibv_cmd_create_wq)
REFUSE(ibv_cmd_dealloc_mw)
REFUSE(ibv_cmd_dealloc_pd)
REFUSE(ibv_cmd_dereg_mr)
REFUSE(ibv_cmd_destroy_ah)
REFUSE(ibv_cmd_destroy_counters)
REFUSE(ibv_cmd_destroy_cq)
REFUSE(ibv_cmd_destroy_flow)
REFUSE(ibv_cmd_destroy_flow_action)
REFUSE(ibv_cmd_destroy_qp)
REFUSE(ibv_cmd_destroy_rwq_ind_table)
REFUSE(ibv_cmd_destroy_srq)
REFUSE(ibv_cmd_destroy_wq)
REFUSE(ibv_cmd_detach_mcast)
REFUSE(ibv_cmd_free_dm)
REFUSE(ibv_cmd_get_context)
REFUSE(ibv_cmd_modify_cq)
REFUSE(ibv_cmd_modify_flow_action_esp)
REFUSE(ibv_cmd_modify_qp)
REFUSE(ibv_cmd_modify_qp_ex)
REFUSE(ibv_cmd_modify_srq)
REFUSE(ibv_cmd_modify_wq)
REFUSE(ibv_cmd_open_qp)
REFUSE(ibv_cmd_open_xrcd)
REFUSE(ibv_cmd_poll_cq)
REFUSE(ibv_cmd_post_recv)
REFUSE(ibv_cmd_post_send)
REFUSE(ibv_cmd_post_srq_recv)
REFUSE(ibv_cmd_query_context)
REFUSE(ibv_cmd_query_device)
REFUSE(ibv_cmd_query_device_any)
REFUSE(ibv_cmd_query_mr)
REFUSE(ibv_cmd_query_port)
REFUSE(ibv_cmd_query_qp)
REFUSE(ibv_cmd_query_srq)
REFUSE(ibv_cmd_read_counters)
REFUSE(ibv_cmd_reg_dm_mr)
REFUSE(ibv_cmd_reg_dmabuf_mr)
REFUSE(ibv_cmd_reg_mr)
REFUSE(ibv_cmd_req_notify_cq)
REFUSE(ibv_cmd_rereg_mr)
REFUSE(ibv_cmd_resize_cq)
