// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The RDMA protocol (RFC 5040) with Immediate Data and atomic operations (RFC 7306). {@link
 * io.sidewarp.engine.rdmap.RdmapStream} is one stream: it takes work requests from a {@link
 * io.sidewarp.engine.rdmap.WorkQueue}, carries out what the peer asks for, and gives completions to a {@link
 * io.sidewarp.engine.rdmap.CompletionSink}. {@code SendWork} has the rules of order for what this side sends (section
 * 5.5), {@code InboundMessages} judges and carries out what arrives (section 7), {@code TerminateMessage} tells of the
 * first error (section 4.8). The states of a stream are those of {@link io.sidewarp.engine.rdmap.StreamState}. No I/O
 * and no threads; allocates nothing for each message.
 */
@NullMarked
package io.sidewarp.engine.rdmap;

import org.jspecify.annotations.NullMarked;
