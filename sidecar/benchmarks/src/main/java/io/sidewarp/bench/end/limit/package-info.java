// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The limit of an engine: a stream over bare TCP with no more than what RFC 5044 makes one do with each octet, and
 * nothing to decide. Octets are copied out of memory into a buffer, of which the CRC is computed (they may change in memory
 * meanwhile), and given to the socket; read into a buffer, checked, and copied into memory. Buffers and pieces
 * are about as large as those of the engine.
 */
@NullMarked
package io.sidewarp.bench.end.limit;

import org.jspecify.annotations.NullMarked;
