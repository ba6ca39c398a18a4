// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Services of the gRPC API, as {@code proto} defines them. A handler finds the session that the call names and
 * continues on that session's thread. It answers with the result of the session's parts.
 */
@NullMarked
package io.sidewarp.service.api;

import org.jspecify.annotations.NullMarked;
