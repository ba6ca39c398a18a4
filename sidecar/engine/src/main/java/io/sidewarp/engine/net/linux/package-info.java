// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Calls of Linux on sockets that Netty has not, by the Foreign Function and Memory API. Native code gets addresses of buffers
 * of the I/O layer only, never of a registered memory region.
 */
@NullMarked
package io.sidewarp.engine.net.linux;

import org.jspecify.annotations.NullMarked;
