// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

/**
 * Offsets, sizes and numbers of infiniband/verbs.h and rdma/rdma_cma.h, on 64-bit Linux. The libraries' binary
 * interface includes them and is stable since rdma-core 1.
 */
final class VerbsLayout {

    // struct ibv_device
    static final int DEVICE_TRANSPORT = 20;
    static final int DEVICE_NAME = 24;
    static final int DEVICE_NAME_LENGTH = 64;
    static final int TRANSPORT_IWARP = 1;

    // struct ibv_context, with its functions of the data path
    static final int CONTEXT_DEVICE = 0;
    static final int CONTEXT_POLL_CQ = 96;
    static final int CONTEXT_REQ_NOTIFY_CQ = 104;
    static final int CONTEXT_POST_SRQ_RECV = 168;
    static final int CONTEXT_POST_SEND = 208;
    static final int CONTEXT_POST_RECV = 216;
    static final int CONTEXT_ASYNC_FD = 268;

    // struct ibv_device_attr
    static final int DEVICE_ATTR_LENGTH = 232;
    static final int DEVICE_ATTR_MAX_QP_WR = 112;
    static final int DEVICE_ATTR_MAX_SGE = 120;
    static final int DEVICE_ATTR_MAX_CQE = 132;
    static final int DEVICE_ATTR_MAX_QP_RD_ATOM = 144;
    static final int DEVICE_ATTR_MAX_QP_INIT_RD_ATOM = 156;
    static final int DEVICE_ATTR_MAX_SRQ_WR = 216;
    static final int DEVICE_ATTR_MAX_SRQ_SGE = 220;

    // struct ibv_mr
    static final int MR_LKEY = 36;
    static final int MR_RKEY = 40;
    static final int ACCESS_LOCAL_WRITE = 1;
    static final int ACCESS_REMOTE_WRITE = 1 << 1;
    static final int ACCESS_REMOTE_READ = 1 << 2;

    // struct ibv_comp_channel
    static final int COMP_CHANNEL_FD = 8;

    // struct ibv_wc
    static final int WC_LENGTH = 48;
    static final int WC_WR_ID = 0;
    static final int WC_STATUS = 8;
    static final int WC_BYTE_LEN = 20;
    static final int WC_INVALIDATED_RKEY = 24;
    static final int WC_QP_NUM = 28;
    static final int WC_FLAGS = 36;
    static final int WC_FLAG_WITH_INV = 1 << 3;

    // enum ibv_wc_status
    static final int WC_SUCCESS = 0;
    static final int WC_LOC_LEN_ERR = 1;
    static final int WC_LOC_QP_OP_ERR = 2;
    static final int WC_LOC_PROT_ERR = 4;
    static final int WC_WR_FLUSH_ERR = 5;
    static final int WC_LOC_ACCESS_ERR = 8;
    static final int WC_REM_INV_REQ_ERR = 9;
    static final int WC_REM_ACCESS_ERR = 10;
    static final int WC_REM_OP_ERR = 11;

    // struct ibv_sge
    static final int SGE_LENGTH = 16;
    static final int SGE_ADDR = 0;
    static final int SGE_OCTETS = 8;
    static final int SGE_LKEY = 12;

    // struct ibv_send_wr, whose beginning is struct ibv_recv_wr
    static final int SEND_WR_LENGTH = 128;
    static final int WR_ID = 0;
    static final int WR_NEXT = 8;
    static final int WR_SG_LIST = 16;
    static final int WR_NUM_SGE = 24;
    static final int WR_OPCODE = 28;
    static final int WR_SEND_FLAGS = 32;
    static final int WR_INVALIDATE_RKEY = 36;
    static final int WR_REMOTE_ADDR = 40;
    static final int WR_RKEY = 48;

    // enum ibv_wr_opcode
    static final int WR_RDMA_WRITE = 0;
    static final int WR_SEND = 2;
    static final int WR_RDMA_READ = 4;
    static final int WR_SEND_WITH_INV = 9;

    // enum ibv_send_flags
    static final int SEND_FENCE = 1;
    static final int SEND_SIGNALED = 1 << 1;
    static final int SEND_SOLICITED = 1 << 2;

    // struct ibv_qp and struct ibv_qp_init_attr
    static final int QP_NUM = 52;
    static final int QP_INIT_ATTR_LENGTH = 64;
    static final int QP_INIT_SEND_CQ = 8;
    static final int QP_INIT_RECV_CQ = 16;
    static final int QP_INIT_SRQ = 24;
    static final int QP_INIT_MAX_SEND_WR = 32;
    static final int QP_INIT_MAX_RECV_WR = 36;
    static final int QP_INIT_MAX_SEND_SGE = 40;
    static final int QP_INIT_MAX_RECV_SGE = 44;
    static final int QP_INIT_TYPE = 52;
    static final int QP_TYPE_RC = 2;

    // struct ibv_qp_attr
    static final int QP_ATTR_LENGTH = 144;
    static final int QP_ATTR_STATE = 0;
    static final int QP_ATTR_ACCESS_FLAGS = 32;
    static final int QP_MASK_STATE = 1;
    static final int QP_MASK_ACCESS_FLAGS = 1 << 3;
    static final int QPS_INIT = 1;
    static final int QPS_ERR = 6;

    // struct ibv_srq_init_attr and struct ibv_srq_attr, which is in it
    static final int SRQ_INIT_ATTR_LENGTH = 24;
    static final int SRQ_INIT_ATTR = 8;
    static final int SRQ_MAX_WR = 0;
    static final int SRQ_MAX_SGE = 4;
    static final int SRQ_LIMIT = 8;
    static final int SRQ_ATTR_LENGTH = 12;
    static final int SRQ_MASK_LIMIT = 1 << 1;

    // struct ibv_async_event
    static final int ASYNC_EVENT_LENGTH = 16;
    static final int ASYNC_ELEMENT = 0;
    static final int ASYNC_TYPE = 8;

    // enum ibv_event_type
    static final int EVENT_CQ_ERR = 0;
    static final int EVENT_QP_FATAL = 1;
    static final int EVENT_QP_REQ_ERR = 2;
    static final int EVENT_QP_ACCESS_ERR = 3;
    static final int EVENT_DEVICE_FATAL = 8;
    static final int EVENT_SRQ_LIMIT_REACHED = 15;

    // struct rdma_event_channel and struct rdma_cm_id
    static final int EVENT_CHANNEL_FD = 0;
    static final int CM_ID_VERBS = 0;
    static final int CM_ID_SOURCE = 32;
    static final int CM_ID_DESTINATION = 160;

    // struct rdma_cm_event
    static final int CM_EVENT_ID = 0;
    static final int CM_EVENT_LISTEN_ID = 8;
    static final int CM_EVENT_TYPE = 16;
    static final int CM_EVENT_STATUS = 20;
    static final int CM_EVENT_CONN = 24;

    // struct rdma_conn_param, also within the event
    static final int CONN_PARAM_LENGTH = 24;
    static final int CONN_PRIVATE_DATA = 0;
    static final int CONN_PRIVATE_DATA_LENGTH = 8;
    static final int CONN_RESPONDER_RESOURCES = 9;
    static final int CONN_INITIATOR_DEPTH = 10;
    static final int CONN_SRQ = 14;
    static final int CONN_QP_NUM = 16;

    private VerbsLayout() {}
}
