// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The RDMA protocol (RFC 5040) with Immediate Data and atomic operations (RFC 7306). The class
 * {@link io.sidewarp.engine.rdmap.RdmapStream} is one stream. A stream takes work requests from a
 * {@link io.sidewarp.engine.rdmap.WqeQueue}, carries out the requests of the peer, and gives completions to a
 * {@link io.sidewarp.engine.rdmap.CompletionSink}. {@code SendWork} holds the order rules for the messages of this side
 * (section 5.5). {@code InboundMessages} checks and carries out inbound messages (section 7). {@code TerminateMessage}
 * describes the first error (section 4.8). The enum {@link io.sidewarp.engine.rdmap.StreamState} lists the states of a
 * stream. No I/O and no threads. Allocates nothing for each message.
 */
@NullMarked
package io.sidewarp.engine.rdmap;

import org.jspecify.annotations.NullMarked;
