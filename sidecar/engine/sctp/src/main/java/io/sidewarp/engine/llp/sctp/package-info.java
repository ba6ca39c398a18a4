// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The DDP adaptation of SCTP (RFC 5043) with enhanced connection establishment (RFC 6581 section 7). Many DDP stream
 * sessions share one association. The package has only state machines: the I/O layer passes messages in and takes
 * messages out.
 */
@NullMarked
package io.sidewarp.engine.llp.sctp;

import org.jspecify.annotations.NullMarked;
