// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * SCTP in user space by the library usrsctp, through the Foreign Function and Memory API.
 *
 * <p>Native code gets only addresses of buffers of the I/O layer, never of a registered memory region. Even a faulty
 * library therefore does not know the address of a region.
 *
 * <p>The library is one for the process and stays initialized until the process ends. It runs without its receive and
 * timer threads. One thread of its own, for changes of addresses, sleeps for ever, because addresses are never
 * withdrawn from the library.
 */
@NullMarked
package io.sidewarp.engine.net.sctp.usrsctp;

import org.jspecify.annotations.NullMarked;
