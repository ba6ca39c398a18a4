// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Connections and listeners of a session. This package checks and completes options, looks up names of peers, accepts
 * or rejects requests, and reports states. All code runs on the session's thread.
 */
@NullMarked
package io.sidewarp.service.connection;

import org.jspecify.annotations.NullMarked;
