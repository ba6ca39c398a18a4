// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The services of the gRPC API, as {@code proto} defines them. A handler finds the session that the call names, goes
 * on on that session's thread, and answers with what the session's parts made of it.
 */
@NullMarked
package io.sidewarp.service.api;

import org.jspecify.annotations.NullMarked;
