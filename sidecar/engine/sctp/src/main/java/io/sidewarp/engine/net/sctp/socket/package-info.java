// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The socket API of SCTP (RFC 6458) as far as the kernel and usrsctp have it in common: structures, options, and calls of
 * C functions by the Foreign Function and Memory API.
 */
@NullMarked
package io.sidewarp.engine.net.sctp.socket;

import org.jspecify.annotations.NullMarked;
