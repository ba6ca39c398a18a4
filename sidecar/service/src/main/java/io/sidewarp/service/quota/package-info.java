// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The resource manager of RFC 5040 section 8.1.2. It limits what a session, a remote address and a single request may
 * use. A refusal names the setting of the limit.
 */
@NullMarked
package io.sidewarp.service.quota;

import org.jspecify.annotations.NullMarked;
