// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The DDP adaptation of SCTP (RFC 5043) with enhanced connection establishment (RFC 6581 section 7): many DDP stream
 * sessions over one association. State machines only: the I/O layer passes messages in and takes messages out.
 */
@NullMarked
package io.sidewarp.engine.llp.sctp;

import org.jspecify.annotations.NullMarked;
