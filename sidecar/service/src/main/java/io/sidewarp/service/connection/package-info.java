// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Connections and listeners of a session: options checked and completed, names of peers looked up, requests accepted
 * or rejected, states told. On the session's thread.
 */
@NullMarked
package io.sidewarp.service.connection;

import org.jspecify.annotations.NullMarked;
