// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * SCTP for the engine: endpoints, associations, and SCTP in UDP (RFC 6951). Higher layers use
 * {@link io.sidewarp.engine.net.sctp.SctpStack} and the types it returns.
 *
 * <p>There are two stacks. The first carries the packets of an {@link io.sidewarp.engine.net.sctp.SctpProtocol}, an
 * SCTP implementation that does no I/O. The second is the kernel's own SCTP, in a package of its own.
 */
@NullMarked
package io.sidewarp.engine.net.sctp;

import org.jspecify.annotations.NullMarked;
