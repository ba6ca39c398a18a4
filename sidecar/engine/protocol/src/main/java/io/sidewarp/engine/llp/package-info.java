// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Interface between DDP and its transports, after RFC 5041 section 3. The interface
 * {@link io.sidewarp.engine.llp.LowerLayer} has the services that DDP needs, and
 * {@link io.sidewarp.engine.llp.UpperLayer} has the events that DDP receives. The package also has the common parts of
 * MPA and SCTP. These are the enhanced connection establishment of RFC 6581, and the errors of the lower layer in a
 * Terminate. The transports themselves are in the packages {@code mpa} and {@code sctp}.
 */
@NullMarked
package io.sidewarp.engine.llp;

import org.jspecify.annotations.NullMarked;
