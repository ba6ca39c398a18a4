// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Clients of the API at the transport level. This package knows the process at the other end of the Unix socket. It
 * limits the connections and calls of one user, and the length of a request.
 */
@NullMarked
package io.sidewarp.service.peer;

import org.jspecify.annotations.NullMarked;
