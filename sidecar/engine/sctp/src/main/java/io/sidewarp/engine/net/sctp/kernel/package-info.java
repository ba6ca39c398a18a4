// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The SCTP of the Linux kernel, through socket calls of the C library by the Foreign Function and Memory API.
 *
 * <p>Each association has its own one-to-many socket (RFC 6458 section 3), because only such sockets take the reason of
 * an ABORT. A listener peels off the associations that peers begin. Sockets do not block. One thread per endpoint waits
 * for them in epoll and calls the loop that owns them.
 *
 * <p>Native code gets only addresses of buffers of the I/O layer, never of a registered memory region. Native memory
 * belongs to the object that allocated it, and ends with the socket or the endpoint. A socket is closed once, and its
 * number is not used afterwards.
 *
 * <p>Structures are those of linux/sctp.h, on 64-bit machines, from version 5.0 of the kernel on.
 */
@NullMarked
package io.sidewarp.engine.net.sctp.kernel;

import org.jspecify.annotations.NullMarked;
