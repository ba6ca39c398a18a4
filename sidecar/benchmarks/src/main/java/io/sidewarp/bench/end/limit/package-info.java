// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The limit of an engine: a stream over bare TCP with only the work on each byte that RFC 5044 requires, and no
 * decisions. The sender copies memory into a buffer, computes the CRC of the buffer, and writes the buffer to the
 * socket. The copy is needed since memory may change meanwhile. The receiver reads into a buffer, checks the CRC, and
 * copies the buffer into memory. Buffers and pieces are about as large as those of the engine.
 */
@NullMarked
package io.sidewarp.bench.end.limit;

import org.jspecify.annotations.NullMarked;
