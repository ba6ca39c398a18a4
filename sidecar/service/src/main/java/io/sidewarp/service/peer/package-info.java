// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The clients of the API as transport sees them: who is at the other end of the Unix socket, what one user may hold of
 * connections and calls, and how long a request may be.
 */
@NullMarked
package io.sidewarp.service.peer;

import org.jspecify.annotations.NullMarked;
