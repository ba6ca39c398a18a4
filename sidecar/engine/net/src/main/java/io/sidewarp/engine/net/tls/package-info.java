// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** TLS: identity of this side, verification of peers, and failures in words for people. Does no I/O. */
@NullMarked
package io.sidewarp.engine.net.tls;

import org.jspecify.annotations.NullMarked;
