// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * SCTP for the engine: endpoints, associations, and SCTP in UDP (RFC 6951). What is above sees {@link
 * io.sidewarp.engine.net.sctp.SctpStack} and what it leads to; a stack that does the UDP by itself, such as the kernel's,
 * fits beside the one here. The rest carries the packets of an {@link io.sidewarp.engine.net.sctp.SctpProtocol}, an
 * SCTP implementation that does no I/O.
 */
@NullMarked
package io.sidewarp.engine.net.sctp;

import org.jspecify.annotations.NullMarked;
