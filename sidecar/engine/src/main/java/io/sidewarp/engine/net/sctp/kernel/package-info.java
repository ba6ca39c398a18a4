// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The SCTP of the Linux kernel, through socket calls of the C library by the Foreign Function and Memory API. The only
 * package of this stack with native calls.
 *
 * <p>Each association has a one-to-many socket (RFC 6458 section 3) to itself: only such sockets take the reason of an ABORT.
 * A listener peels off what peers begin. Sockets do not block; one thread per endpoint waits for them in epoll and calls the
 * loop that owns them.
 *
 * <p>Native code gets addresses of buffers of the I/O layer only, never of a registered memory region. Native memory belongs
 * to whoever allocated it, and ends with the socket or the endpoint; a socket is closed once, and its number not used after.
 *
 * <p>Structures are those of linux/sctp.h, on 64-bit machines, from version 5.0 of the kernel on.
 */
@NullMarked
package io.sidewarp.engine.net.sctp.kernel;

import org.jspecify.annotations.NullMarked;
