// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Direct Data Placement (RFC 5041): cuts messages into segments, checks each inbound segment before one byte of it is
 * placed, and delivers messages in order. {@link io.sidewarp.engine.ddp.DdpSender} and {@link
 * io.sidewarp.engine.ddp.DdpReceiver} are the two halves of a stream; RDMAP is their {@link
 * io.sidewarp.engine.ddp.DdpUser}. No I/O and no threads; allocates nothing for each segment.
 */
@NullMarked
package io.sidewarp.engine.ddp;

import org.jspecify.annotations.NullMarked;
