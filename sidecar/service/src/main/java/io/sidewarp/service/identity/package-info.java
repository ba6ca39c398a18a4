// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Identity of the sidecar for TLS, and its sources. */
@NullMarked
package io.sidewarp.service.identity;

import org.jspecify.annotations.NullMarked;
