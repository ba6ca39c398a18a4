// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * SCTP in user space by the library usrsctp, through the Foreign Function and Memory API. The only package of SCTP with
 * native calls.
 *
 * <p>Native code gets addresses of buffers of the I/O layer only, never of a registered memory region: whatever the
 * library does wrong, it was not told where a region is.
 *
 * <p>The library is one for the process and stays initialised until the process ends. It runs without its receive and
 * timer threads; one thread of its own, for changes of addresses, sleeps for ever, as addresses are never withdrawn from
 * it.
 */
@NullMarked
package io.sidewarp.engine.net.sctp.usrsctp;

import org.jspecify.annotations.NullMarked;
