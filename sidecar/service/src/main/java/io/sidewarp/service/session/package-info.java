// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Sessions. A session holds all objects that a client created through one OpenSession call, and releases them when that
 * call ends. One event loop owns a session, and only that thread reads and changes its state.
 */
@NullMarked
package io.sidewarp.service.session;

import org.jspecify.annotations.NullMarked;
