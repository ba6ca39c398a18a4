// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Sessions: all that a client has made through one OpenSession call, and its release when that call ends. One event
 * loop owns a session; what is in it is read and changed on that thread only.
 */
@NullMarked
package io.sidewarp.service.session;

import org.jspecify.annotations.NullMarked;
