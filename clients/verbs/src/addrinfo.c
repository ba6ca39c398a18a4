/*
 * Copyright The Sidewarp Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Addresses: rdma_getaddrinfo on top of getaddrinfo, and the 16 bytes of docs/control.md.
 */
#include "sidewarp.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>

static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

int address_encode(unsigned char bytes[16], const struct sockaddr* address) {
  if (address->sa_family == AF_INET) {
    memcpy(bytes, mapped, sizeof mapped);
    memcpy(bytes + sizeof mapped, &((const struct sockaddr_in*)address)->sin_addr, 4);
    return 0;
  }
  if (address->sa_family == AF_INET6) {
    memcpy(bytes, &((const struct sockaddr_in6*)address)->sin6_addr, 16);
    return 0;
  }
  return EAFNOSUPPORT;
}

void address_decode(struct sockaddr_storage* address, const unsigned char bytes[16], uint16_t port) {
  memset(address, 0, sizeof *address);
  if (memcmp(bytes, mapped, sizeof mapped) == 0) {
    struct sockaddr_in* v4 = (struct sockaddr_in*)address;
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    memcpy(&v4->sin_addr, bytes + sizeof mapped, 4);
  } else {
    struct sockaddr_in6* v6 = (struct sockaddr_in6*)address;
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    memcpy(&v6->sin6_addr, bytes, 16);
  }
}

uint16_t address_port(const struct sockaddr* address) {
  switch (address->sa_family) {
    case AF_INET:
      return ((const struct sockaddr_in*)address)->sin_port;
    case AF_INET6:
      return ((const struct sockaddr_in6*)address)->sin6_port;
    default:
      return 0;
  }
}


static int copy_address(struct sockaddr** copy, socklen_t* copy_length, const void* address, socklen_t length) {
  *copy = malloc(length);
  if (!*copy) return -1;
  memcpy(*copy, address, length);
  *copy_length = length;
  return 0;
}

/* Fills one entry from the answer of the resolver. Returns 0, or -1 with errno. */
static int from_resolver(struct rdma_addrinfo* info, const struct addrinfo* found, bool passive) {
  info->ai_family = found->ai_family;
  if (!info->ai_qp_type) info->ai_qp_type = found->ai_socktype == SOCK_DGRAM ? IBV_QPT_UD : IBV_QPT_RC;
  if (!info->ai_port_space) info->ai_port_space = found->ai_socktype == SOCK_DGRAM ? RDMA_PS_UDP : RDMA_PS_TCP;
  if (passive) {
    info->ai_flags = RAI_PASSIVE;
    if (found->ai_canonname) info->ai_src_canonname = strdup(found->ai_canonname);
    return copy_address(&info->ai_src_addr, &info->ai_src_len, found->ai_addr, found->ai_addrlen);
  }
  if (found->ai_canonname) info->ai_dst_canonname = strdup(found->ai_canonname);
  return copy_address(&info->ai_dst_addr, &info->ai_dst_len, found->ai_addr, found->ai_addrlen);
}

int rdma_getaddrinfo(const char* node, const char* service, const struct rdma_addrinfo* hints,
                     struct rdma_addrinfo** result) {
  static const struct rdma_addrinfo none;
  if (!node && !service && !hints) {
    errno = EINVAL;
    return -1;
  }
  if (!hints) hints = &none;
  bool passive = hints->ai_flags & RAI_PASSIVE;
  struct rdma_addrinfo* info = calloc(1, sizeof *info);
  if (!info) return -1;
  info->ai_qp_type = hints->ai_qp_type;
  info->ai_port_space = hints->ai_port_space;

  int error;
  if (node || service) {
    bool datagram = hints->ai_qp_type == IBV_QPT_UD || hints->ai_port_space == RDMA_PS_UDP;
    struct addrinfo wanted = {
        .ai_flags = (passive ? AI_PASSIVE : 0) | (hints->ai_flags & RAI_NUMERICHOST ? AI_NUMERICHOST : 0),
        .ai_family = hints->ai_family == AF_INET || hints->ai_family == AF_INET6 ? hints->ai_family : AF_UNSPEC,
        .ai_socktype = datagram ? SOCK_DGRAM : SOCK_STREAM,
    };
    struct addrinfo* found;
    error = getaddrinfo(node, service, &wanted, &found);
    if (error == 0) {
      error = from_resolver(info, found, passive);
      freeaddrinfo(found);
    }
  } else {
    info->ai_flags = hints->ai_flags;
    info->ai_family = hints->ai_family;
    error = hints->ai_dst_len
                ? copy_address(&info->ai_dst_addr, &info->ai_dst_len, hints->ai_dst_addr, hints->ai_dst_len)
                : 0;
  }
  if (error == 0 && !info->ai_src_len && hints->ai_src_len)
    error = copy_address(&info->ai_src_addr, &info->ai_src_len, hints->ai_src_addr, hints->ai_src_len);
  if (error) {
    int kept = errno;
    rdma_freeaddrinfo(info);
    errno = kept;
    return error;
  }
  *result = info;
  return 0;
}

void rdma_freeaddrinfo(struct rdma_addrinfo* info) {
  while (info) {
    struct rdma_addrinfo* next = info->ai_next;
    free(info->ai_connect);
    free(info->ai_route);
    free(info->ai_src_canonname);
    free(info->ai_dst_canonname);
    free(info->ai_src_addr);
    free(info->ai_dst_addr);
    free(info);
    info = next;
  }
}
