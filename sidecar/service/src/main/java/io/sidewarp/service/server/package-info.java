// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** The gRPC server on its Unix socket and on loopback TCP, and the event loops that the whole sidecar shares. */
@NullMarked
package io.sidewarp.service.server;

import org.jspecify.annotations.NullMarked;
