// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The clients of the API as transport sees them: who is at the other end of the Unix socket, and what one user may
 * hold of connections, calls, and octets in requests and in answers that are not read.
 */
@NullMarked
package io.sidewarp.service.peer;

import org.jspecify.annotations.NullMarked;
