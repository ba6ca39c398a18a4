// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Direct Data Placement (RFC 5041). Cuts messages into segments, checks each inbound segment before any byte of the
 * segment is placed, and delivers messages in order. The classes {@link io.sidewarp.engine.ddp.DdpSender} and
 * {@link io.sidewarp.engine.ddp.DdpReceiver} are the two halves of a stream. RDMAP is their
 * {@link io.sidewarp.engine.ddp.DdpUser}. No I/O and no threads. Allocates nothing for each segment.
 */
@NullMarked
package io.sidewarp.engine.ddp;

import org.jspecify.annotations.NullMarked;
