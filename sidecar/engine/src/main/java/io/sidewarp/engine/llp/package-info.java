// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * What DDP asks of a transport ({@link io.sidewarp.engine.llp.LowerLayer}) and what it is told ({@link
 * io.sidewarp.engine.llp.UpperLayer}), after RFC 5041 section 3; and what MPA and SCTP have in common: the enhanced
 * connection establishment of RFC 6581, and the errors of the lower layer in a Terminate. The transports themselves
 * are in the packages {@code mpa} and {@code sctp}.
 */
@NullMarked
package io.sidewarp.engine.llp;

import org.jspecify.annotations.NullMarked;
